import type { Readable } from "node:stream"

export interface StoredBlob {
  /** Bytes. */
  size: number
  /** Hex. */
  sha256: string
}

export interface ListedBlob {
  key: string
  /** Bytes. An unfinished blob may be growing, or not be durable yet. */
  size: number
  /** Milliseconds since the epoch: the last write, by the store's clock. */
  modifiedAt: number
}

export interface Join {
  key: string
  /** Milliseconds since the epoch, by the store's clock. */
  beganAt: number
  /** Deletes its parts, but not the blob itself if it is stored. */
  abandon(): Promise<void>
}

/**
 * Bytes under keys. A blob is written in one call of `put`, or piece by piece with `append` and
 * then `finish`; until then nobody can open it. It never changes once it is stored. The store does
 * not synchronise writers: only one caller at a time may append to a key, finish or remove it. A
 * chunk of the given bytes belongs to the store only until it requests the next one.
 */
export interface Blobs {
  /** An unused key. It reveals neither the user nor the file's name. */
  newKey(): string
  /**
   * Resolves when the bytes would survive a power cut. Throws `TooLarge` past `limit` bytes,
   * `OutOfSpace` when the store is full, and whatever `bytes` throws; it keeps nothing then.
   */
  put(key: string, bytes: AsyncIterable<Uint8Array>, options: { limit: number }): Promise<StoredBlob>
  /**
   * Adds to an unfinished blob, which begins with the first `append` at 0, also of no bytes.
   * `offset` has to be its size. Resolves with the new size when that many bytes would survive a
   * power cut. Throws `OutOfSpace`, and whatever `bytes` throws, once what came before is durable:
   * `sizeOf` tells how much that is.
   */
  append(key: string, offset: number, bytes: AsyncIterable<Uint8Array>): Promise<number>
  /** How many bytes of a blob, unfinished or not, would survive a power cut. 0 if there is none. */
  sizeOf(key: string): Promise<number>
  /**
   * Turns an unfinished blob into one that can be opened. Resolves when that would survive a power
   * cut. Finishing again has the same result, so a caller that missed it may repeat the call.
   * Throws if nothing was ever appended.
   */
  finish(key: string): Promise<StoredBlob>
  /**
   * `range` is in bytes, both ends included. Null if there is no such blob. Destroy a stream that
   * you do not read.
   */
  open(key: string, range?: { start: number; end: number }): Promise<Readable | null>
  /** How many bytes a blob has that can be opened. Null if there is no such blob. */
  storedSize(key: string): Promise<number | null>
  /**
   * Also removes an unfinished blob, and what a failed `put` left behind. Removing a missing blob
   * is not an error.
   */
  remove(key: string): Promise<void>
  /** Removes the unfinished blob under this key, but not a stored one. */
  removeUnfinished(key: string): Promise<void>
  /**
   * Blobs that the store is assembling now, or was when a process died: their parts take space and
   * are in no list. A store on a disk has none.
   */
  listJoins(): AsyncIterable<Join>
  /**
   * Every blob of this state, in no order. Blobs added or removed in the meantime may or may not be
   * included.
   */
  list(state: "stored" | "unfinished"): AsyncIterable<ListedBlob>
}
