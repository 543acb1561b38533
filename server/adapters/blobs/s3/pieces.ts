import type { Bucket } from "./bucket.ts"

/**
 * Bytes. What is copied into a whole must have five megabytes, except at its end, and some stores
 * want all parts of one size. A whole has ten thousand parts at most: 80 GB.
 */
export const PIECE_SIZE = 8 * 1024 * 1024

export interface Piece {
  name: string
  /** Bytes. */
  size: number
}

/** Names sort as their offsets do. */
export function pieceAt(key: string, offset: number): string {
  return `unfinished/${key}/${String(offset).padStart(16, "0")}`
}

export function offsetOf(name: string): number {
  return Number(name.slice(name.lastIndexOf("/") + 1))
}

/**
 * Cuts what comes after `begun`, the beginning of the last piece, into pieces with their offsets.
 * What came before an error is given out as well, and then the error is thrown. Where there is
 * nothing at all, an empty piece says that something was begun.
 */
export async function* cutPieces(offset: number, begun: Buffer, bytes: AsyncIterable<Uint8Array>) {
  // The system allocates only the pages that are written, so a slow sender uses little memory.
  const held = Buffer.allocUnsafeSlow(PIECE_SIZE)
  let start = offset - begun.byteLength
  let size = begun.copy(held)
  let fresh = offset === 0

  // The consumer is done with a piece when it asks for the next.
  const take = () => {
    const cut = { start, piece: held.subarray(0, size) }
    start += size
    size = 0
    fresh = false
    return cut
  }

  try {
    for await (const chunk of bytes) {
      for (let copied = 0; copied < chunk.byteLength;) {
        const some = chunk.subarray(copied, copied + PIECE_SIZE - size)
        held.set(some, size)
        size += some.byteLength
        copied += some.byteLength
        fresh = true
        if (size === PIECE_SIZE) yield take()
      }
    }
  } catch (error) {
    if (fresh) yield take()
    throw error
  }
  if (fresh) yield take()
}

export async function* readPieces(bucket: Bucket, pieces: readonly Piece[]): AsyncGenerator<Uint8Array> {
  for (const { name } of pieces) yield* bucket.read(name)
}
