import { createHash } from "node:crypto"
import type { Blobs } from "#server/ports/blobs.ts"

/** Passes bytes through and computes their digest. */
export function digesting(bytes: AsyncIterable<Uint8Array>) {
  const hash = createHash("sha256")
  let lines = 0
  let size = 0
  return {
    async *[Symbol.asyncIterator]() {
      for await (const chunk of bytes) {
        hash.update(chunk)
        size += chunk.byteLength
        // COPY writes a line break inside a value as \n.
        for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) lines++
        yield chunk
      }
    },
    /** Available once everything has been read. */
    digest: () => ({ sha256: hash.digest("hex"), size, lines }),
  }
}

/**
 * Reads the bytes and returns whether the store has exactly these. Unreadable bytes count as
 * missing.
 */
export async function holds(
  store: Pick<Blobs, "open">,
  { key, size, sha256 }: { key: string; size: number; sha256: string },
) {
  try {
    const stream = await store.open(key)
    if (!stream) return false
    const read = digesting(stream as AsyncIterable<Uint8Array>)
    for await (const _ of read);
    const found = read.digest()
    return found.size === size && found.sha256 === sha256
  } catch (error) {
    if (isUnreadable(error)) return false
    throw error
  }
}

/** Whether a read error means that the disk has lost the bytes. */
export function isUnreadable(error: unknown): boolean {
  return error instanceof Error && "code" in error && UNREADABLE.has(String(error.code))
}

/** Linux's errors for a bad sector, a checksum mismatch and a damaged file system. */
const UNREADABLE = new Set(["EIO", "EBADMSG", "EUCLEAN"])
