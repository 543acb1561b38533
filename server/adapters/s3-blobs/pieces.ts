import type { Bucket } from "./bucket.ts"

/**
 * Bytes. What is copied into a whole must have five megabytes, except at its end, and some stores want all parts of one size. A
 * whole has ten thousand parts at most: 80 GB.
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
 * Cuts what comes after `begun`, the beginning of the last piece, into pieces with their offsets. What came before an error is given
 * out as well, and then the error is thrown. Where there is nothing at all, an empty piece says that something was begun.
 */
export async function* cutPieces(offset: number, begun: Buffer, bytes: AsyncIterable<Uint8Array>) {
  let start = offset - begun.byteLength
  let held: Uint8Array[] = [begun]
  let size = begun.byteLength
  let fresh = offset === 0

  const take = () => {
    const cut = { start, piece: Buffer.concat(held, size) }
    start += size
    held = []
    size = 0
    fresh = false
    return cut
  }
  const hold = (chunk: Uint8Array) => {
    if (chunk.byteLength === 0) return
    held.push(Buffer.from(chunk)) // who gave it may take its memory back
    size += chunk.byteLength
    fresh = true
  }

  try {
    for await (const chunk of bytes) {
      let rest = chunk
      while (size + rest.byteLength >= PIECE_SIZE) {
        const room = PIECE_SIZE - size
        hold(rest.subarray(0, room))
        rest = rest.subarray(room)
        yield take()
      }
      hold(rest)
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
