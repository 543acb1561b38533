import { createWriteStream } from "node:fs"
import { mkdir, writeFile } from "node:fs/promises"
import { basename, join } from "node:path"
import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import { createGzip } from "node:zlib"
import { withDump, type Dump } from "#db/dump/write.ts"
import type { Blobs } from "#server/ports/blobs.ts"
import { eachOf, readBlobList, type ListedBytes } from "./blob-list.ts"
import { digesting, holds, isUnreadable } from "./digest.ts"
import { alone } from "./folder-lock.ts"
import { blobListIn, removeUnfinished, syncFolder, tableIn, tablesIn, writeFolder } from "./folder.ts"
import type { Keep } from "./keep.ts"
import { writeManifest, type Manifest, type WrittenTable } from "./manifest.ts"
import { pruneBackups } from "./prune.ts"

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
  /** The blob store inside it. */
  kept: Blobs
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
  /** How many blobs were new to the folder of backups. */
  copied: number
  /** How many older backups were removed. */
  removed: number
}

/**
 * Writes one backup: all rows at one moment and the bytes of their files, while the application
 * continues writing. Nothing in the folder has the name of a backup until all of it is durable.
 * Throws an error that says what to do if the backup cannot be complete, or if another process is
 * writing into the folder.
 */
export async function backUp(source: BackupSource, target: BackupTarget): Promise<Backup> {
  await mkdir(target.directory, { recursive: true, mode: 0o700 })
  return alone(target.directory, async () => {
    await removeUnfinished(target.directory)
    const backup = await write(source, target).catch((error: unknown) => {
      if (!isFull(error)) throw error
      throw new Error(
        `There is no room left in ${target.directory}. No backup was written, and the earlier ones are as they were.`,
        { cause: error },
      )
    })
    return { ...backup, removed: await prune(target, backup.folder) }
  })
}

async function prune({ directory, kept, keep }: BackupTarget, written: string) {
  if (keep === undefined) return 0
  return pruneBackups(directory, kept, { keep, written: basename(written) }).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`${written} is written and complete, but older backups could not be removed: ${reason}`, {
      cause: error,
    })
  })
}

async function write(source: BackupSource, target: BackupTarget): Promise<Omit<Backup, "removed">> {
  let result: { manifest: Manifest; copied: number } | undefined
  const folder = await writeFolder(target.directory, new Date(), async (unfinished) => {
    result = await withDump(
      source.databaseUrl,
      (dump) => writeRows(dump, unfinished),
      async (rows) => {
        const { copied, lost } = await copyBlobs(source, target, unfinished)
        const manifest = {
          format: 1 as const,
          version: source.version,
          ...rows,
          blobs: { ...rows.blobs, lost },
        }
        if (target.secret !== undefined) await writeSecret(unfinished, target.secret)
        await writeManifest(unfinished, manifest)
        return { manifest, copied }
      },
    )
  })
  if (!result) throw new Error("The backup that was written has no manifest.")
  return { folder, ...result }
}

async function writeRows(dump: Dump, folder: string) {
  const { takenAt, schema, sequences } = dump
  const tables: WrittenTable[] = []
  const inside = tablesIn(folder)
  await mkdir(inside, { mode: 0o700 })
  for (const table of dump.tables) {
    const { lines: rows, sha256 } = await dump.read(table, (lines) =>
      writeTable(lines, tableIn(folder, table)),
    )
    tables.push({ ...table, rows, sha256 })
  }
  await syncFolder(inside)
  const { lines, sha256 } = await dump.readBlobs(async (list) => {
    const read = digesting(list)
    await pipeline(Readable.from(read), createWriteStream(blobListIn(folder), DURABLE))
    return read.digest()
  })
  let bytes = 0
  for await (const { size } of readBlobList(folder)) bytes += size
  return { takenAt: takenAt.toISOString(), schema, tables, sequences, blobs: { count: lines, bytes, sha256 } }
}

async function writeTable(lines: AsyncIterable<Uint8Array>, path: string) {
  const read = digesting(lines)
  await pipeline(Readable.from(read), createGzip(), createWriteStream(path, DURABLE))
  return read.digest()
}

/**
 * Bytes from an earlier backup stay as they are, because bytes under a key never change. They are
 * read, in case the disk changed them.
 */
async function copyBlobs(source: BackupSource, { kept, skipLost }: BackupTarget, folder: string) {
  const lost: string[] = []
  let copied = 0
  await eachOf(readBlobList(folder), async (listed) => {
    if (await holds(kept, listed)) return
    await kept.remove(listed.key)
    if (await copyBlob(source.blobs, kept, listed)) copied++
    else lost.push(listed.key)
  })
  if (lost.length > 0 && !skipLost) throw new Error(describeLost(lost))
  return { copied, lost: lost.toSorted() }
}

/** False if the application's store does not have the bytes that the row describes. */
export async function copyBlob(from: Blobs, to: Blobs, { key, size, sha256 }: ListedBytes): Promise<boolean> {
  const reading = readBlob(from, key)
  const stored = await to.put(key, reading.bytes(), { limit: size }).catch((error: unknown) => {
    if (reading.isLost() || isTooLarge(error)) return null
    throw error
  })
  if (stored?.size === size && stored.sha256 === sha256) return true
  await to.remove(key)
  return false
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

async function writeSecret(folder: string, secret: string) {
  await writeDurably(join(folder, "secrets.env"), `AUTH_SECRET=${secret}\n`)
}

const DURABLE = { mode: 0o600, flush: true }

async function writeDurably(path: string, text: string) {
  await writeFile(path, text, DURABLE)
}
