import { createWriteStream } from "node:fs"
import { mkdir } from "node:fs/promises"
import { join } from "node:path"
import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import type { Decrypter } from "age-encryption"
import type { Blobs } from "#server/ports/blobs.ts"
import { encrypt } from "./age.ts"
import { digesting } from "./digest.ts"
import { ENCRYPTION, type Encryption } from "./encryption.ts"
import { BLOB_LIST, syncFolder, TABLES } from "./folder.ts"
import { backupInFolder, decrypted, encryptedName, type StoredBackup } from "./stored-backup.ts"

export interface BackupFiles {
  /** Resolves when they are durable. */
  write(file: string, bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<void>
  /** What was written, in the folder's later place. It is decrypted with keys that were never stored. */
  readIn(folder: string): StoredBackup
  /** The last files of a backup that is encrypted: `stored` are the lines of its list of blobs. */
  finish(takenAt: string, stored: Iterable<string>): Promise<void>
}

/** Writes the files of a backup into its folder, encrypted if there are recipients. */
export async function openBackupFiles(folder: string, recipients: readonly string[]): Promise<BackupFiles> {
  await mkdir(join(folder, TABLES), { mode: 0o700 })
  const openers = new Map<string, Decrypter>()
  const files: Encryption["files"] = {}

  async function writePlain(file: string, bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>) {
    const read = digesting(Readable.from(bytes))
    await pipeline(Readable.from(read), createWriteStream(join(folder, file), { mode: 0o600, flush: true }))
    const { size, sha256 } = read.digest()
    files[file] = { size, sha256 }
  }

  return {
    async write(file, plain) {
      if (recipients.length === 0) return writePlain(file, plain)
      const { bytes, opener } = await encrypt(recipients, Readable.from(plain))
      openers.set(file, opener)
      await writePlain(encryptedName(file), bytes)
    },
    readIn(place) {
      const stored = backupInFolder(place, NOTHING)
      if (recipients.length === 0) return stored
      const open = async (file: string) => {
        const opener = openers.get(file)
        return opener ? decrypted(stored, opener).open(file) : null
      }
      return { ...stored, open }
    },
    async finish(takenAt, stored) {
      if (recipients.length > 0) {
        await writePlain(BLOB_LIST, Readable.from(stored, { objectMode: true }).map(bytesOf))
        const encryption: Encryption = { format: 1, takenAt, recipients: [...recipients], files }
        const text = `${JSON.stringify(encryption, null, 2)}\n`
        await writePlain(ENCRYPTION, [bytesOf(text)])
      }
      await syncFolder(join(folder, TABLES))
    },
  }
}

const NOTHING: Pick<Blobs, "open"> = { open: () => Promise.resolve(null) }

function bytesOf(text: string): Buffer {
  return Buffer.from(text)
}
