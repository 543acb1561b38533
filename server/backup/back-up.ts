import { mkdir } from "node:fs/promises"
import { basename, join } from "node:path"
import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import { createGzip } from "node:zlib"
import type { TableForm } from "#db/dump/form.ts"
import { withDump, type Dump } from "#db/dump/write.ts"
import { identify } from "#db/installation.ts"
import type { Blobs } from "#server/ports/blobs.ts"
import { listLine, readBlobList, type ListedBytes } from "./blob-list.ts"
import { copyBlobs } from "./copy-blobs.ts"
import { digesting } from "./digest.ts"
import { storeFor } from "./encryption.ts"
import { alone } from "./folder-lock.ts"
import { BLOB_LIST, MANIFEST, removeUnfinished, tableFile, writeFolder } from "./folder.ts"
import type { Keep } from "#server/backup-settings.ts"
import { formatManifest, type Manifest, type WrittenTable } from "./manifest.ts"
import { claimPlace, ownedFolder } from "./owner.ts"
import { openStored, placeInFolder } from "./place.ts"
import { pruneBackups } from "./prune.ts"
import type { StoredBackup } from "./stored-backup.ts"
import { openBackupFiles, type BackupFiles } from "./write-files.ts"

export interface BackupSource {
  databaseUrl: string
  /** The application's blob store. */
  blobs: Blobs
  /** The version of Tideline. */
  version: string
}

export interface BackupTarget {
  /** The folder of backups. */
  directory: string
  /** Opens a store of blobs in a folder inside it. */
  openFolder(path: string): Promise<Blobs>
  /** Who can decrypt it, as age names them; not encrypted if there are none. */
  recipients: readonly string[]
  /** Written next to the tables, if given. */
  secret?: string | undefined
  /** Continues without bytes that are already missing or damaged in the store. */
  skipLost: boolean
  /** Which backups remain afterwards; all without it. */
  keep?: Keep | undefined
}

export interface Backup {
  /** Its folder. */
  folder: string
  manifest: Manifest
  /** Reads it, also if it is encrypted, except for the bytes of files then. */
  reader: StoredBackup
  isEncrypted: boolean
  /** How many blobs were new to the folder of backups. */
  copied: number
  /** How many older backups were removed. */
  removed: number
}

/**
 * Writes one backup: all rows at one moment and the bytes of their files, while the application
 * continues writing. Nothing in the folder has the name of a backup until all of it is durable.
 * Throws an error that says what to do if the backup cannot be complete, if the folder has the
 * backups of another database, or if another process is writing into it.
 */
export async function backUp(source: BackupSource, target: BackupTarget): Promise<Backup> {
  await mkdir(target.directory, { recursive: true, mode: 0o700 })
  return alone(target.directory, async () => {
    await claimPlace(ownedFolder(target.directory), await identify(source.databaseUrl))
    await removeUnfinished(target.directory)
    const backup = await write(source, target).catch((error: unknown) => {
      if (!isFull(error)) throw error
      throw new Error(
        `There is no space left in ${target.directory}. No backup was written, and the earlier ones are as they were.`,
        { cause: error },
      )
    })
    return { ...backup, removed: await prune(target, backup.folder) }
  })
}

async function prune({ directory, openFolder, keep }: BackupTarget, written: string) {
  if (keep === undefined) return 0
  const place = placeInFolder(directory, openFolder)
  return pruneBackups(place, { keep, written: basename(written) }).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`${written} is written and complete, but older backups could not be removed: ${reason}`, {
      cause: error,
    })
  })
}

async function write(source: BackupSource, target: BackupTarget): Promise<Omit<Backup, "removed">> {
  const { directory, recipients, openFolder } = target
  const kept = await openFolder(join(directory, storeFor(recipients)))
  const known = await readKnown(target)
  let result: { manifest: Manifest; copied: number; files: BackupFiles } | undefined
  const folder = await writeFolder(directory, new Date(), async (unfinished) => {
    const files = await openBackupFiles(unfinished, recipients)
    result = await withDump(
      source.databaseUrl,
      (dump) => writeRows(dump, files, unfinished),
      async (rows) => {
        const listed = readBlobList(files.readIn(unfinished))
        const { stored, copied, lost } = await copyBlobs(listed, {
          from: source.blobs,
          to: kept,
          recipients,
          known,
        })
        if (lost.length > 0 && !target.skipLost) throw new Error(describeLost(lost))
        const manifest = {
          format: 1 as const,
          version: source.version,
          ...rows,
          blobs: { ...rows.blobs, lost },
        }
        if (target.secret !== undefined)
          await files.write("secrets.env", [Buffer.from(`AUTH_SECRET=${target.secret}\n`)])
        await files.write(MANIFEST, [Buffer.from(formatManifest(manifest))])
        await files.finish(rows.takenAt, stored.map(listLine).toSorted())
        return { manifest, copied, files }
      },
    )
  })
  if (!result) throw new Error("The backup that was written has no manifest.")
  const { files, ...written } = result
  return { folder, ...written, reader: { ...files.readIn(folder), kept }, isEncrypted: recipients.length > 0 }
}

/** What the newest backup with this encryption has, whose bytes need not be encrypted again. */
async function readKnown({ directory, recipients, openFolder }: BackupTarget) {
  const known = new Map<string, ListedBytes>()
  const place = placeInFolder(directory, openFolder)
  for (const name of recipients.length === 0 ? [] : (await place.list()).toReversed()) {
    const { stored, encryption } = await openStored(place, name).catch(() => UNREADABLE)
    if (!encryption || storeFor(encryption.recipients) !== storeFor(recipients)) continue
    for await (const blob of readBlobList(stored)) known.set(blob.key, blob)
    break
  }
  return known
}

const UNREADABLE = { stored: null, encryption: null }

async function writeRows(dump: Dump, files: BackupFiles, folder: string) {
  const { takenAt, schema, sequences } = dump
  const tables: WrittenTable[] = []
  for (const table of dump.tables) {
    const { lines: rows, sha256 } = await dump.read(table, (lines) => writeTable(files, table, lines))
    tables.push({ ...table, rows, sha256 })
  }
  const { lines, sha256 } = await dump.readBlobs(async (list) => {
    const read = digesting(list)
    await files.write(BLOB_LIST, read)
    return read.digest()
  })
  let bytes = 0
  for await (const { size } of readBlobList(files.readIn(folder))) bytes += size
  return { takenAt: takenAt.toISOString(), schema, tables, sequences, blobs: { count: lines, bytes, sha256 } }
}

async function writeTable(files: BackupFiles, table: TableForm, lines: AsyncIterable<Uint8Array>) {
  const read = digesting(lines)
  const packed = createGzip()
  await Promise.all([pipeline(Readable.from(read), packed), files.write(tableFile(table), packed)])
  return read.digest()
}

function isFull(error: unknown) {
  if (!(error instanceof Error)) return false
  return (
    ("status" in error && error.status === 507) ||
    ("code" in error && ["ENOSPC", "EDQUOT"].includes(String(error.code)))
  )
}

function describeLost(keys: string[]) {
  const some = keys.toSorted().slice(0, 5).join(", ")
  const what =
    keys.length === 1 ? `The bytes of ${some} are` : `The bytes of ${keys.length} files (${some}) are`
  return (
    `${what} missing or damaged in the store itself. \`npm run files -- check --checksums\` says whose they are. ` +
    "Restore them from an earlier backup, or take this one without them: --skip-lost. No backup was written."
  )
}
