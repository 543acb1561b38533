import { readdir } from "node:fs/promises"
import { join } from "node:path"
import type { Readable } from "node:stream"
import type { Blobs } from "#server/ports/blobs.ts"
import type { Bucket } from "#server/ports/bucket.ts"
import { openerOf } from "./age.ts"
import { ENCRYPTION, isStoreName, readEncryption, storeFor, type Encryption } from "./encryption.ts"
import { isBackupName, listBackups, MANIFEST, removeBackup } from "./folder.ts"
import { backupInFolder, decrypted, type StoredBackup } from "./stored-backup.ts"

/** The bytes of files in a place of backups. */
export type KeptBytes = Pick<Blobs, "open" | "list" | "remove">

/** A folder or a bucket with backups. */
export interface Place {
  /** Its path or URL, for messages. */
  at: string
  /** The names of the complete backups, oldest first. */
  list(): Promise<string[]>
  /** A file of a backup; null if it is not there. */
  open(name: string, file: string): Promise<Readable | null>
  /** If that is interrupted, nothing that looks like a backup remains. */
  remove(name: string): Promise<void>
  listStores(): Promise<string[]>
  openStore(store: string): Promise<KeptBytes>
}

/** `openFolder` opens a store of blobs. */
export function placeInFolder(directory: string, openFolder: (path: string) => Promise<Blobs>): Place {
  return {
    at: directory,
    list: () => listBackups(directory),
    open: (name, file) => backupInFolder(join(directory, name), NOTHING).open(file),
    remove: (name) => removeBackup(directory, name),
    listStores: async () => (await readdir(directory)).filter(isStoreName),
    openStore: (store) => openFolder(join(directory, store)),
  }
}

const NOTHING = { open: () => Promise.resolve(null) }

/** A backup in a bucket is complete if it has one of these, which is written last. */
export const MARKS: readonly string[] = [MANIFEST, ENCRYPTION]

export function placeInBucket(bucket: Bucket): Place {
  return {
    at: bucket.url,
    async list() {
      const names = new Set<string>()
      for await (const { name } of bucket.list(BACKUPS)) {
        const [backup = "", file = ""] = name.split("/", 2)
        if (isBackupName(backup) && MARKS.includes(file)) names.add(backup)
      }
      return [...names].toSorted()
    },
    open: (name, file) => bucket.open(`${name}/${file}`),
    async remove(name) {
      await bucket.remove(MARKS.map((mark) => `${name}/${mark}`))
      const files: string[] = []
      for await (const file of bucket.list(`${name}/`)) files.push(file.name)
      await bucket.remove(files)
    },
    async listStores() {
      const stores = new Set<string>()
      for await (const { name } of bucket.list("blobs")) stores.add(name.split("/", 1)[0] ?? "")
      return [...stores].filter(isStoreName)
    },
    openStore: (store) =>
      Promise.resolve({
        open: (key) => bucket.open(`${store}/${key}`),
        async *list(state) {
          if (state === "unfinished") return
          for await (const { name, size, modifiedAt } of bucket.list(`${store}/`))
            yield { key: name.slice(store.length + 1), size, modifiedAt }
        },
        remove: (key) => bucket.remove([`${store}/${key}`]),
      }),
  }
}

/** What the names of backups, which are times, begin with. */
export const BACKUPS = "2"

/** A backup as it is stored, encrypted or not. */
export async function openStored(
  place: Place,
  name: string,
): Promise<{ stored: StoredBackup; encryption: Encryption | null }> {
  const files = { at: `${place.at}/${name}`, open: (file: string) => place.open(name, file) }
  const encryption = await readEncryption(files)
  const kept = await place.openStore(storeFor(encryption?.recipients ?? []))
  return { stored: { ...files, kept }, encryption }
}

/**
 * A backup that can be restored. `identities` are of age, and only needed for an encrypted one.
 * Throws an error that says what to do if none of them fits.
 */
export async function openBackup(
  place: Place,
  name: string,
  identities: readonly string[],
): Promise<StoredBackup> {
  const { stored, encryption } = await openStored(place, name)
  if (!encryption) return stored
  const whose = `${stored.at} is encrypted for ${encryption.recipients.join(" or ")}.`
  if (identities.length === 0)
    throw new Error(`${whose} Name the file with the key: --identity <file>. Nothing was changed.`)
  const backup = decrypted(stored, await openerOf(...identities))
  try {
    const manifest = await backup.open(MANIFEST)
    for await (const _ of manifest ?? []);
  } catch (error) {
    if (!(error instanceof Error) || !error.message.includes("no identity matched")) throw error
    throw new Error(`${whose} The key in the file of --identity is another one. Nothing was changed.`, {
      cause: error,
    })
  }
  return backup
}
