import { Readable } from "node:stream"
import type { Blobs } from "#server/ports/blobs.ts"
import { decrypt, encrypt } from "./age.ts"
import { eachOf, type ListedBytes } from "./blob-list.ts"
import { digesting, holds, isUnreadable } from "./digest.ts"

interface Copying {
  from: Blobs
  to: Blobs
  recipients: readonly string[]
  /** What is in the store already, as it is stored there, if it is encrypted. */
  known: ReadonlyMap<string, ListedBytes>
}

interface Copied {
  /** All of them, as they are stored. */
  stored: ListedBytes[]
  /** How many were not there before. */
  copied: number
  /** The keys of those that the application's store does not have. */
  lost: string[]
}

/**
 * Bytes from an earlier backup stay as they are, because bytes under a key never change. They are
 * read, in case the disk changed them.
 */
export async function copyBlobs(listed: AsyncIterable<ListedBytes>, copying: Copying): Promise<Copied> {
  const { from, to, recipients, known } = copying
  const stored: ListedBytes[] = []
  const lost: string[] = []
  let copied = 0
  await eachOf(listed, async (blob) => {
    const there = recipients.length === 0 ? blob : known.get(blob.key)
    if (there && (await holds(to, there))) return void stored.push(there)
    await to.remove(blob.key)
    const written = await (recipients.length === 0
      ? copyPlain(from, to, blob)
      : copyEncrypted(from, to, blob, recipients))
    if (!written) return void lost.push(blob.key)
    copied++
    stored.push(written)
  })
  return { stored, copied, lost: lost.toSorted() }
}

/** False if the application's store does not have the bytes that the row describes. */
export async function copyBlob(from: Blobs, to: Blobs, blob: ListedBytes): Promise<boolean> {
  return (await copyPlain(from, to, blob)) !== null
}

async function copyPlain(from: Blobs, to: Blobs, blob: ListedBytes): Promise<ListedBytes | null> {
  const reading = readBlob(from, blob.key)
  const stored = await to.put(blob.key, reading.bytes(), { limit: blob.size }).catch((error: unknown) => {
    if (reading.isLost() || isTooLarge(error)) return null
    throw error
  })
  if (stored?.size === blob.size && stored.sha256 === blob.sha256) return blob
  await to.remove(blob.key)
  return null
}

async function copyEncrypted(
  from: Blobs,
  to: Blobs,
  blob: ListedBytes,
  recipients: readonly string[],
): Promise<ListedBytes | null> {
  const reading = readBlob(from, blob.key)
  const read = digesting(reading.bytes())
  const { bytes, opener } = await encrypt(recipients, read)
  const stored = await to.put(blob.key, bytes, { limit: Number.MAX_SAFE_INTEGER }).catch((error: unknown) => {
    if (reading.isLost()) return null
    throw error
  })
  const found = stored && read.digest()
  if (!stored || found?.size !== blob.size || found.sha256 !== blob.sha256) {
    await to.remove(blob.key)
    return null
  }
  // Later this process has no key to them any more.
  const open = async (key: string) => {
    const encrypted = await to.open(key)
    return encrypted && Readable.from(decrypt(opener, encrypted as AsyncIterable<Uint8Array>))
  }
  if (await holds({ open }, blob)) return { key: blob.key, ...stored }
  throw new Error(`The folder of backups gives back other bytes than it was given. Check its disk.`)
}

/** Distinguishes unreadable bytes from a folder of backups that cannot be written. */
function readBlob(from: Blobs, key: string) {
  let lost = false
  return {
    isLost: () => lost,
    async *bytes() {
      try {
        const stream = await from.open(key)
        if (stream) return yield* stream as AsyncIterable<Uint8Array>
      } catch (error) {
        if (!isUnreadable(error)) throw error
      }
      lost = true
      throw new Error(`The store does not have the bytes of ${key}.`)
    },
  }
}

function isTooLarge(error: unknown) {
  return error instanceof Error && "status" in error && error.status === 413
}
