/**
 * Bytes. Objects to be joined must have five megabytes, except the last, and some stores require
 * equal sizes. There are ten thousand at most: 80 GB.
 */
export const PIECE_SIZE = 8 * 1024 * 1024

export interface Piece {
  name: string
  /** Bytes. */
  size: number
}

/** Names sort like their offsets. */
export function pieceAt(key: string, offset: number): string {
  return `unfinished/${key}/${String(offset).padStart(16, "0")}`
}

export function offsetOf(name: string): number {
  return Number(name.slice(name.lastIndexOf("/") + 1))
}

/**
 * Cuts what follows `begun`, the beginning of the last piece, into pieces with their offsets. What
 * arrived before an error is yielded as well, and then the error is thrown. If there is nothing at
 * all, an empty piece records that the blob was begun.
 */
export async function* cutPieces(offset: number, begun: Buffer, bytes: AsyncIterable<Uint8Array>) {
  // The system only allocates memory pages that are written, so a slow sender uses little memory.
  const held = Buffer.allocUnsafeSlow(PIECE_SIZE)
  let start = offset - begun.byteLength
  let size = begun.copy(held)
  let fresh = offset === 0

  // The consumer is done with a piece when it requests the next.
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

export async function* readPieces(
  bucket: { read(name: string): AsyncIterable<Uint8Array> },
  pieces: readonly Piece[],
): AsyncGenerator<Uint8Array> {
  for (const { name } of pieces) yield* bucket.read(name)
}
