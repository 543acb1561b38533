import type { Readable } from "node:stream"

/** Objects by their names, in a bucket of any S3-compatible store. */
export interface Bucket {
  /** For messages. */
  url: string
  /** Null if there is none. Destroy a stream that you do not read. */
  open(name: string): Promise<Readable | null>
  /** Replaces one that is there. Resolves once it is stored; if `bytes` throws, nothing is. */
  upload(name: string, bytes: AsyncIterable<Uint8Array>): Promise<void>
  /** Those whose names begin like that, in the order of their names. */
  list(under: string): AsyncIterable<{
    name: string
    /** Bytes. */
    size: number
    /** Milliseconds since the epoch. */
    modifiedAt: number
  }>
  /** Removing a missing object is not an error. */
  remove(names: readonly string[]): Promise<void>
}
