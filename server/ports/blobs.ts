import type { Readable } from "node:stream"

export interface StoredBlob {
  /** Bytes. */
  size: number
  /** Hex. */
  sha256: string
}

/** Bytes that are either stored whole and durably, or not at all. They never change once they are stored. */
export interface Blobs {
  /** A key that was never used. It says nothing of the user or of the file's name. */
  newKey(): string
  /**
   * Resolves when the bytes would survive a power cut. Throws `TooLarge` past `limit` bytes, `OutOfSpace` when the store is full,
   * and whatever `bytes` throws; it keeps nothing then.
   */
  put(key: string, bytes: AsyncIterable<Uint8Array>, options: { limit: number }): Promise<StoredBlob>
  /** `range` counts bytes, both ends included. Null when there is no such blob. Destroy the stream that you do not read. */
  open(key: string, range?: { start: number; end: number }): Promise<Readable | null>
  /** Also removes what a broken `put` left behind. Removing what is not there is no error. */
  remove(key: string): Promise<void>
}
