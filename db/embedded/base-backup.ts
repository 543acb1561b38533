import { createHash } from "node:crypto"
import { constants, createReadStream, createWriteStream, type Dirent } from "node:fs"
import { copyFile as copy, mkdir, open, readdir, writeFile } from "node:fs/promises"
import { join, relative } from "node:path"
import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import { createZstdCompress, createZstdDecompress } from "node:zlib"
import { withClient } from "#db/with-client.ts"

// The low-level interface for base backups: a copy of the cluster's files made while it works, from
// which a recovery starts. https://www.postgresql.org/docs/current/continuous-archiving.html

/** A file of the cluster, before compression. */
export interface CopiedFile {
  path: string
  /** Bytes. */
  size: number
  sha256: string
}

export interface BaseBackup {
  /** The earliest moment it can be recovered to, by the server's clock. Milliseconds. */
  completeAt: number
  timeline: number
  /** The name of the first WAL segment that its recovery needs. */
  firstSegment: string
  /** All folders, some of which are empty, each after the one it is in. */
  folders: string[]
  files: CopiedFile[]
}

/**
 * Copies the running cluster of `url` into a new folder, as a role that may read its files. Resolves
 * when the copy is durable and the WAL it needs is in the archive.
 */
export async function copyCluster(url: string, folder: string): Promise<BaseBackup> {
  return withClient(url, async (sql) => {
    const [begun] = await sql<[{ cluster: string; segment: string; timeline: number }]>`
      select current_setting('data_directory') as cluster,
        pg_walfile_name(pg_backup_start('tideline', fast => true)) as segment,
        (select timeline_id from pg_control_checkpoint()) as timeline`
    const { folders, files } = await copyFiles(begun.cluster, folder)
    // Waits for the archive.
    const [ended] = await sql<[{ label: string; at: Date }]>`
      select labelfile as label, clock_timestamp() as at from pg_backup_stop()`
    files.push(await writeLabel(folder, ended.label))
    return {
      completeAt: ended.at.getTime(),
      timeline: begun.timeline,
      firstSegment: begun.segment,
      folders,
      files,
    }
  })
}

/**
 * Copies the running cluster of `url` into a new folder as it is, for a standby that gets the WAL it
 * needs from that server. Nothing is made durable: a copy that is lost is made again.
 */
export async function cloneCluster(url: string, folder: string): Promise<void> {
  return withClient(url, async (sql) => {
    const [{ cluster }] = await sql<[{ cluster: string }]>`
      select current_setting('data_directory') as cluster, pg_backup_start('tideline', fast => true)`
    await mkdir(folder, { mode: 0o700 })
    let copying: Promise<void>[] = []
    for await (const { path, isFolder } of list(cluster, cluster)) {
      if (path === CONTROL) continue
      if (isFolder) await mkdir(join(folder, path), { mode: 0o700 })
      else copying.push(copyExisting(join(cluster, path), join(folder, path)))
      if (copying.length < COPIED_AT_ONCE) continue
      await Promise.all(copying)
      copying = []
    }
    await Promise.all(copying)
    await copyExisting(join(cluster, CONTROL), join(folder, CONTROL))
    const [{ label }] = await sql<[{ label: string }]>`
      select labelfile as label from pg_backup_stop(wait_for_archive => false)`
    await writeFile(join(folder, "backup_label"), label, { mode: 0o600 })
  })
}

/** Nothing if PostgreSQL has removed it in the meantime: the WAL has that as well. */
async function copyExisting(from: string, to: string): Promise<void> {
  await copy(from, to).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error
  })
}

/** Writes the copied files into a folder as they were. Throws if one is missing or damaged. */
export async function unpackCluster(
  folder: string,
  { folders, files }: Pick<BaseBackup, "folders" | "files">,
  cluster: string,
) {
  await mkdir(cluster, { mode: 0o700 })
  for (const path of folders) await mkdir(join(cluster, path), { mode: 0o700 })
  for (const file of files) await unpack(folder, file, cluster)
}

async function unpack(folder: string, { path, size, sha256 }: CopiedFile, cluster: string) {
  const counted = counting()
  const from = packed(folder, path)
  try {
    await pipeline(
      createReadStream(from),
      createZstdDecompress(),
      counted.pass,
      createWriteStream(join(cluster, path), { mode: 0o600, flush: true }),
    )
  } catch (error) {
    throw new Error(`${from} is missing or damaged. Restore an earlier or later moment.`, { cause: error })
  }
  const found = counted.result()
  if (found.size === size && found.sha256 === sha256) return
  throw new Error(`${from} is damaged. Restore an earlier or later moment.`)
}

async function copyFiles(cluster: string, folder: string) {
  const folders: string[] = []
  const files: CopiedFile[] = []
  for await (const { path, isFolder } of list(cluster, cluster)) {
    if (path === CONTROL) continue
    if (isFolder) {
      folders.push(path)
      await mkdir(join(folder, path), { mode: 0o700 })
      continue
    }
    const file = await copyFile(cluster, path, folder)
    if (file) files.push(file)
  }
  // It says where the recovery starts, and must not be older than any other file.
  const control = await copyFile(cluster, CONTROL, folder)
  if (!control) throw new Error(`${join(cluster, CONTROL)} is missing.`)
  for (const path of folders) await syncFolder(join(folder, path))
  return { folders, files: [...files, control] }
}

/** Null if PostgreSQL has removed it in the meantime: the WAL has that as well. */
async function copyFile(cluster: string, path: string, folder: string): Promise<CopiedFile | null> {
  const counted = counting()
  try {
    await pipeline(
      createReadStream(join(cluster, path)),
      counted.pass,
      createZstdCompress(),
      createWriteStream(packed(folder, path), { mode: 0o600, flush: true }),
    )
    return { path, ...counted.result() }
  } catch (error) {
    const { code, path: missing } = error as NodeJS.ErrnoException
    if (code === "ENOENT" && missing === join(cluster, path)) return null
    throw error
  }
}

/** Below `folder`, by their paths in the cluster. */
async function* list(cluster: string, folder: string): AsyncGenerator<{ path: string; isFolder: boolean }> {
  for (const entry of await readFolder(folder)) {
    const path = relative(cluster, join(folder, entry.name))
    if (LEFT_OUT.has(entry.name) || entry.name.startsWith("pgsql_tmp")) continue
    if (EMPTIED.some((each) => path.startsWith(`${each}/`))) continue
    yield { path, isFolder: entry.isDirectory() }
    if (entry.isDirectory()) yield* list(cluster, join(folder, entry.name))
  }
}

async function readFolder(path: string): Promise<Dirent[]> {
  return readdir(path, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    // Of a database that was just removed.
    if (error.code === "ENOENT") return []
    throw error
  })
}

async function writeLabel(folder: string, label: string): Promise<CopiedFile> {
  const path = "backup_label"
  const counted = counting()
  await pipeline(
    Readable.from([Buffer.from(label)]),
    counted.pass,
    createZstdCompress(),
    createWriteStream(packed(folder, path), { mode: 0o600, flush: true }),
  )
  return { path, ...counted.result() }
}

function packed(folder: string, path: string): string {
  return join(folder, `${path}.zst`)
}

async function syncFolder(path: string) {
  const folder = await open(path, constants.O_RDONLY | constants.O_DIRECTORY)
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

function counting() {
  const hash = createHash("sha256")
  let size = 0
  return {
    async *pass(bytes: AsyncIterable<Uint8Array>) {
      for await (const chunk of bytes) {
        hash.update(chunk)
        size += chunk.byteLength
        yield chunk
      }
    },
    result: () => ({ size, sha256: hash.digest("hex") }),
  }
}

/** Most of a cluster's thousand files are small. */
const COPIED_AT_ONCE = 100

const CONTROL = join("global", "pg_control")

/** Files that belong to the running server, and settings that name this machine's paths. */
const LEFT_OUT = new Set([
  "postmaster.pid",
  "postmaster.opts",
  "pg_internal.init",
  "current_logfiles",
  "backup_label",
])

/** Folders whose content is recreated. Those of another server's slots must not be there. */
const EMPTIED = [
  "pg_dynshmem",
  "pg_notify",
  "pg_replslot",
  "pg_serial",
  "pg_snapshots",
  "pg_stat_tmp",
  "pg_subtrans",
  "pg_wal",
]
