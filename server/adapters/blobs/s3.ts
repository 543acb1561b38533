import type { Readable } from "node:stream"
import { buffer } from "node:stream/consumers"
import type { Blobs, ListedBlob } from "#server/ports/blobs.ts"
import { isBlobKey, newBlobKey, requireBlobKey } from "./blob-key.ts"
import { RunningHash } from "./disk/hashes.ts"
import { explaining, openBucket, type BucketSettings } from "./s3/bucket.ts"
import { cutPieces, offsetOf, pieceAt, PIECE_SIZE, readPieces, type Piece } from "./s3/pieces.ts"
import { createTurns } from "./s3/turns.ts"
import { within } from "./within.ts"

const MOST_HASHES = 1000

/** How many may have a piece in memory: 256 MB together. */
const MOST_AT_ONCE = 32
/** Milliseconds. */
const LONGEST_WAIT = 10_000

/**
 * Keeps blobs in a bucket of any S3-compatible store: `blobs/<key>`, and
 * `unfinished/<key>/<offset>` for unfinished ones. An unfinished blob is a sequence of objects of
 * eight megabytes, the last one shorter. Each is written as a whole or not at all, and the last one
 * is replaced when more arrives: so everything acknowledged survives any crash, and the bucket
 * itself is the only state. `finish` has the store join them (UploadPartCopy), without downloading
 * the bytes.
 */
export async function openS3Blobs(settings: BucketSettings): Promise<Blobs> {
  const bucket = await openBucket(settings)
  /** Of unfinished blobs that this process has seen from the beginning. */
  const hashes = new Map<string, RunningHash>()
  const inTurn = createTurns(MOST_AT_ONCE, LONGEST_WAIT)

  const blobs: Blobs = {
    newKey: newBlobKey,

    async put(key, bytes, { limit }) {
      requireBlobKey(key)
      try {
        await append(key, 0, within(limit, bytes))
        return await finish(key)
      } catch (error) {
        await removeUnfinished(key)
        throw error
      }
    },

    append: async (key, offset, bytes) => append(requireBlobKey(key), offset, bytes),

    async sizeOf(key) {
      const pieces = await listPieces(requireBlobKey(key))
      return pieces.length > 0 ? sizeOfPieces(pieces) : ((await bucket.head(whole(key)))?.size ?? 0)
    },

    finish: async (key) => finish(requireBlobKey(key)),

    async open(key, range): Promise<Readable | null> {
      return bucket.open(whole(requireBlobKey(key)), range)
    },

    async storedSize(key) {
      return (await bucket.head(whole(requireBlobKey(key))))?.size ?? null
    },

    async remove(key) {
      requireBlobKey(key)
      await removeUnfinished(key)
      await bucket.remove([whole(key)])
    },

    removeUnfinished: async (key) => removeUnfinished(requireBlobKey(key)),

    async *listJoins() {
      for await (const { name, beganAt, abandon } of bucket.listJoins("blobs/")) {
        const key = name.slice("blobs/".length)
        if (isBlobKey(key)) yield { key, beganAt, abandon }
      }
    },

    list: (state) => (state === "stored" ? listStored() : listUnfinished()),
  }
  return {
    ...blobs,
    put: explaining(blobs.put),
    append: explaining(blobs.append),
    sizeOf: explaining(blobs.sizeOf),
    finish: explaining(blobs.finish),
    remove: explaining(blobs.remove),
    removeUnfinished: explaining(blobs.removeUnfinished),
  }

  function append(key: string, offset: number, bytes: AsyncIterable<Uint8Array>): Promise<number> {
    return inTurn(() => appendPieces(key, offset, bytes))
  }

  async function appendPieces(key: string, offset: number, bytes: AsyncIterable<Uint8Array>) {
    const pieces = await listPieces(key)
    const size = sizeOfPieces(pieces)
    if (size !== offset) throw new Error(`${key} ends at ${size}, not at ${offset}.`)
    if (offset === 0 && (await bucket.head(whole(key))))
      throw new Error(`${key} is already stored. Stored blobs never change.`)
    const hash = offset === 0 ? new RunningHash() : hashes.get(key)
    hashes.delete(key)
    let end = offset
    try {
      for await (const { start, piece } of cutPieces(offset, await lastPiece(pieces), hashing(hash, bytes))) {
        await bucket.put(pieceAt(key, start), piece)
        end = start + piece.byteLength
      }
      return end
    } finally {
      // If a piece could not be written, the hash includes bytes that the bucket lacks.
      if (hash?.size === end) hashes.set(key, hash)
      // Entries of uploads that continue in another process would stay forever.
      const [oldest] = hashes.keys()
      if (hashes.size > MOST_HASHES && oldest !== undefined) hashes.delete(oldest)
    }
  }

  async function finish(key: string) {
    const pieces = await listPieces(key)
    if (pieces.length === 0) {
      const stored = await bucket.head(whole(key))
      if (!stored) throw new Error(`Nothing was ever appended to ${key}.`)
      return { size: stored.size, sha256: stored.sha256 ?? (await hashAll(bucket.read(whole(key)))) }
    }
    const size = sizeOfPieces(pieces)
    const kept = hashes.get(key)
    const sha256 = kept?.size === size ? kept.digest() : await hashAll(readPieces(bucket, pieces))
    hashes.delete(key)
    await bucket.join(
      pieces.map((piece) => piece.name),
      whole(key),
      { sha256 },
    )
    // The first one before the others: without it the rest does not count, and with it everything
    // is there to be joined again.
    const [first, ...others] = pieces.map((piece) => piece.name)
    if (first !== undefined) await bucket.remove([first])
    await bucket.remove(others)
    return { size, sha256 }
  }

  /**
   * In order and without a gap; objects that an interrupted removal left after a gap do not count.
   */
  async function listPieces(key: string): Promise<Piece[]> {
    const pieces: Piece[] = []
    for await (const { name, size } of bucket.list(`unfinished/${key}/`)) {
      if (offsetOf(name) !== pieces.length * PIECE_SIZE) break
      pieces.push({ name, size })
      if (size !== PIECE_SIZE) break
    }
    return pieces
  }

  async function lastPiece(pieces: readonly Piece[]): Promise<Buffer> {
    const last = pieces.at(-1)
    return last && last.size < PIECE_SIZE ? buffer(bucket.read(last.name)) : Buffer.alloc(0)
  }

  async function removeUnfinished(key: string) {
    hashes.delete(key)
    const names: string[] = []
    for await (const { name } of bucket.list(`unfinished/${key}/`)) names.push(name)
    // From the end, so that an interrupted removal leaves a valid beginning.
    await bucket.remove(names.toReversed())
  }

  async function* listStored(): AsyncGenerator<ListedBlob> {
    for await (const { name, size, modifiedAt } of bucket.list("blobs/")) {
      const key = name.slice("blobs/".length)
      if (isBlobKey(key)) yield { key, size, modifiedAt }
    }
  }

  async function* listUnfinished(): AsyncGenerator<ListedBlob> {
    let blob: ListedBlob = { key: "", size: 0, modifiedAt: 0 }
    for await (const { name, size, modifiedAt } of bucket.list("unfinished/")) {
      const key = name.slice("unfinished/".length, name.lastIndexOf("/"))
      if (!isBlobKey(key)) continue
      if (blob.key !== key) {
        if (blob.key) yield blob
        blob = { key, size: 0, modifiedAt: 0 }
      }
      blob = { key, size: blob.size + size, modifiedAt: Math.max(blob.modifiedAt, modifiedAt) }
    }
    if (blob.key) yield blob
  }
}

function whole(key: string) {
  return `blobs/${key}`
}

function sizeOfPieces(pieces: readonly Piece[]) {
  return pieces.reduce((sum, { size }) => sum + size, 0)
}

async function* hashing(hash: RunningHash | undefined, bytes: AsyncIterable<Uint8Array>) {
  for await (const chunk of bytes) {
    hash?.update(chunk)
    yield chunk
  }
}

async function hashAll(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = new RunningHash()
  for await (const chunk of bytes) hash.update(chunk)
  return hash.digest()
}
