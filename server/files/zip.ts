import { makeZip } from "client-zip"

type Entries = Parameters<typeof makeZip>[0]

/**
 * A zip of the entries, without compression, created while it is read. Cancelling it ends the
 * generator of the entries at once.
 *
 * client-zip 2.5.1 leaves out the zip64 record of an archive below 4 GiB that has more entries than
 * the end record can count, so this adds it. The next version writes it
 * (https://github.com/Touffy/client-zip/pull/95).
 */
export function zipOf(entries: Entries): ReadableStream<Uint8Array> {
  const counted = countEntries(entries)
  const reader = makeZip(counted, { buffersAreUTF8: true }).getReader()
  let last: Uint8Array | undefined
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        last ??= (await reader.read()).value
        if (!last) return controller.close()
        const { value: next } = await reader.read()
        if (!next && counted.count >= MOST_16 && readEnd(last).offset < MOST_32)
          controller.enqueue(zip64End(counted.count, readEnd(last)))
        controller.enqueue(last)
        if (!next) controller.close()
        last = next
      },
      cancel: () => counted.end(),
    },
    { highWaterMark: 0 },
  )
}

function countEntries(entries: Entries) {
  const iterator = iterate(entries)
  const counted = {
    count: 0,
    async next() {
      const result = await iterator.next()
      if (!result.done) counted.count += 1
      return result
    },
    // client-zip would end it by throwing what the reader gave as the reason, often nothing.
    async end() {
      await iterator.return(undefined)
    },
    [Symbol.asyncIterator]: () => counted,
  }
  return counted
}

async function* iterate(entries: Entries) {
  yield* entries
}

const MOST_16 = 0xffff
const MOST_32 = 0xffff_ffff

/** Where the directory of the archive is, by the end record (section 4.3.16 of the specification of zip). */
function readEnd(end: Uint8Array) {
  const view = new DataView(end.buffer, end.byteOffset, end.byteLength)
  return { length: view.getUint32(12, true), offset: view.getUint32(16, true) }
}

/** The end record of zip64 and its locator, 4.3.14 and 4.3.15 there. */
function zip64End(count: number, { length, offset }: { length: number; offset: number }): Uint8Array {
  const record = Buffer.alloc(56 + 20)
  record.writeUInt32LE(0x06064b50, 0)
  record.writeBigUInt64LE(44n, 4)
  record.writeUInt16LE(45, 12)
  record.writeUInt16LE(45, 14)
  record.writeBigUInt64LE(BigInt(count), 24)
  record.writeBigUInt64LE(BigInt(count), 32)
  record.writeBigUInt64LE(BigInt(length), 40)
  record.writeBigUInt64LE(BigInt(offset), 48)
  record.writeUInt32LE(0x07064b50, 56)
  record.writeBigUInt64LE(BigInt(offset + length), 64)
  record.writeUInt32LE(1, 72)
  return record
}
