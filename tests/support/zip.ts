import { crc32 } from "node:zlib"

/**
 * The entries of an archive without compression: their names and contents, in order. Throws if the
 * directory, an entry's own header, a length or a checksum does not match, or a name is not flagged
 * as UTF-8. An archive of 4 GiB or more is not read.
 */
export function readZip(bytes: Buffer): [name: string, content: string][] {
  const { count, offset, end } = readEnd(bytes)
  const entries: [string, string][] = []
  let at = offset
  for (let number = count; number > 0; number--) {
    expectSignature(bytes, at, 0x02014b50)
    if (!(bytes.readUInt16LE(at + 8) & 0x800)) throw new Error("A name is not said to be UTF-8.")
    const nameLength = bytes.readUInt16LE(at + 28)
    const name = bytes.subarray(at + 46, at + 46 + nameLength)
    const content = readContent(bytes, bytes.readUInt32LE(at + 42), name, bytes.readUInt32LE(at + 24))
    if (crc32(content) !== bytes.readUInt32LE(at + 16))
      throw new Error(`The sum of ${name.toString()} is wrong.`)
    entries.push([name.toString(), content.toString()])
    at += 46 + nameLength + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32)
  }
  if (at !== end) throw new Error("The directory does not end where the archive does.")
  return entries
}

/** The number of entries, and where the directory begins and ends. */
function readEnd(bytes: Buffer): { count: number; offset: number; end: number } {
  const end = bytes.length - 22
  expectSignature(bytes, end, 0x06054b50)
  const offset = bytes.readUInt32LE(end + 16)
  const count = bytes.readUInt16LE(end + 10)
  if (count < 0xffff) return { count, offset, end }
  // Then only the records of zip64 have the number.
  const locator = end - 20
  expectSignature(bytes, locator, 0x07064b50)
  const record = Number(bytes.readBigUInt64LE(locator + 8))
  expectSignature(bytes, record, 0x06064b50)
  if (Number(bytes.readBigUInt64LE(record + 48)) !== offset) throw new Error("The directory has two offsets.")
  return { count: Number(bytes.readBigUInt64LE(record + 32)), offset, end: record }
}

function readContent(bytes: Buffer, at: number, name: Buffer, size: number): Buffer {
  expectSignature(bytes, at, 0x04034b50)
  if (bytes.readUInt16LE(at + 8) !== 0) throw new Error("An entry is compressed.")
  const begin = at + 30 + name.length
  if (!bytes.subarray(at + 30, begin).equals(name)) throw new Error("An entry has two names.")
  return bytes.subarray(begin, begin + size)
}

function expectSignature(bytes: Buffer, at: number, signature: number) {
  if (bytes.readUInt32LE(at) !== signature) throw new Error(`There is no record of an archive at ${at}.`)
}
