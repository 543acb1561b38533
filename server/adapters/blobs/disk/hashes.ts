import { createHash } from "node:crypto"

/** The sha-256 of the first `size` bytes of something. */
export class RunningHash {
  private readonly hash = createHash("sha256")
  size = 0

  update(chunk: Uint8Array) {
    this.hash.update(chunk)
    this.size += chunk.byteLength
  }

  digest() {
    return this.hash.digest("hex")
  }
}

interface Written {
  size: number
  mtimeMs: number
}

/**
 * Uploads that continue in another process, or that were evicted here, are read again at their end.
 */
const MOST = 1000

/**
 * The hashes of unfinished blobs. A hash is not returned if the file has changed since this process
 * wrote it.
 */
export function createHashes() {
  const kept = new Map<string, { hash: RunningHash; mtimeMs: number }>()
  return {
    keep(key: string, hash: RunningHash, { mtimeMs }: Written) {
      kept.set(key, { hash, mtimeMs })
      const [oldest] = kept.keys()
      if (kept.size > MOST && oldest !== undefined) kept.delete(oldest)
    },
    take(key: string, file: Written): RunningHash | null {
      const found = kept.get(key)
      kept.delete(key)
      return found?.hash.size === file.size && found.mtimeMs === file.mtimeMs ? found.hash : null
    },
    forget(key: string) {
      kept.delete(key)
    },
  }
}
