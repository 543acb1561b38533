import type { Readable } from "node:stream"

export interface StoredBlob {
  /** Made by the store; says nothing of the user or the file's name. */
  key: string
  /** Bytes. */
  size: number
  /** Hex. */
  sha256: string
}

/** Bytes that are either stored whole and durably, or not at all. */
export interface Blobs {
  /** Resolves when the bytes would survive a power cut. Throws `TooLarge` past `limit` bytes, and keeps nothing then. */
  put(bytes: AsyncIterable<Uint8Array>, options: { limit: number }): Promise<StoredBlob>
  /** `range` counts bytes, both ends included. Null when there is no such blob. */
  open(key: string, range?: { start: number; end: number }): Promise<Readable | null>
  /** Removing what is not there is no error. */
  remove(key: string): Promise<void>
}
