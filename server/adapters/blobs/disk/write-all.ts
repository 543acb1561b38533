import type { FileHandle } from "node:fs/promises"

/**
 * Bytes. A write runs on another thread, whatever its size; but with 512 kB it took twice the CPU,
 * because that exceeds the caches.
 */
const BATCH = 128 * 1024

/** Buffers of finished writers. New ones each time would burden the garbage collector. */
const spare: Buffer[] = []
const MOST_SPARE = 32

/**
 * Writes `bytes` from `position` on while it reads more; `took` sees each chunk first. Returns the
 * end position. Rethrows an error of `bytes` after everything before it is written.
 */
export async function writeAll(
  file: FileHandle,
  position: number,
  bytes: AsyncIterable<Uint8Array>,
  took: (chunk: Uint8Array) => void,
): Promise<number> {
  let [filling, emptying] = [takeBuffer(), takeBuffer()]
  let filled = 0
  let end = position
  let isWriting = false
  let writing: Promise<void> = Promise.resolve()

  const write = () => {
    ;[filling, emptying] = [emptying, filling]
    isWriting = true
    writing = writeWhole(file, emptying.subarray(0, filled), end)
    end += filled
    filled = 0
    writing.then(
      () => {
        isWriting = false
        if (filled > 0) write()
      },
      () => {}, // thrown where it is awaited, which may be later
    )
  }

  try {
    for await (const chunk of bytes) {
      took(chunk)
      for (let copied = 0; copied < chunk.byteLength;) {
        while (filled === BATCH) await writing
        const piece = chunk.subarray(copied, copied + BATCH - filled)
        filling.set(piece, filled)
        filled += piece.byteLength
        copied += piece.byteLength
        if (!isWriting) write()
      }
    }
  } finally {
    while (isWriting) await writing
    if (spare.length < MOST_SPARE) spare.push(filling, emptying)
  }
  return end
}

function takeBuffer(): Buffer {
  return spare.pop() ?? Buffer.allocUnsafeSlow(BATCH)
}

/** A write may be short, for example on a disk that is almost full. */
async function writeWhole(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let written = 0; written < bytes.byteLength;) {
    const { bytesWritten } = await file.write(bytes, written, bytes.byteLength - written, position + written)
    written += bytesWritten
  }
}
