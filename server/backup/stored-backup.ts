import { open as openFile } from "node:fs/promises"
import { join } from "node:path"
import { Readable } from "node:stream"
import type { Decrypter } from "age-encryption"
import type { Blobs } from "#server/ports/blobs.ts"
import { decrypt } from "./age.ts"

/** A backup that can be read, wherever it is. */
export interface StoredBackup {
  /** Its path or URL, for messages. */
  at: string
  /** One of its files; null if it is not there. Destroy a stream that you do not read. */
  open(file: string): Promise<Readable | null>
  /** The store with the bytes of its files. */
  kept: Pick<Blobs, "open">
}

export function backupInFolder(folder: string, kept: Pick<Blobs, "open">): StoredBackup {
  return {
    at: folder,
    async open(file) {
      try {
        return (await openFile(join(folder, file))).createReadStream()
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "ENOENT") return null
        throw error
      }
    },
    kept,
  }
}

/** An encrypted backup, as it was before. */
export function decrypted(backup: StoredBackup, opener: Decrypter): StoredBackup {
  const read = (bytes: Readable | null) => bytes && Readable.from(decrypt(opener, bytes))
  return {
    at: backup.at,
    open: async (file) => read(await backup.open(encryptedName(file))),
    kept: { open: async (key) => read(await backup.kept.open(key)) },
  }
}

/** The name of an encrypted file, by its name before. */
export function encryptedName(file: string): string {
  return `${file}.age`
}

/** Throws if the file is missing. */
export async function* readFrom(backup: StoredBackup, file: string): AsyncGenerator<Uint8Array> {
  const stream = await backup.open(file)
  if (!stream) throw new Error(`${backup.at}/${file} is missing. Use another backup.`)
  yield* stream as AsyncIterable<Uint8Array>
}
