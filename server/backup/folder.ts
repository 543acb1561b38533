import { constants } from "node:fs"
import { mkdir, open, readdir, rename, rm } from "node:fs/promises"
import { join } from "node:path"

// A folder of backups: `blobs/` with the bytes of all of them, and for each backup a folder named
// after its time, with `manifest.json`, `blobs.tsv` and `tables/`. A backup is called
// `unfinished-...` until it is complete and durable. Writers hold `lock`. What is different if it is
// encrypted: see encrypted.ts.

const NAME = /^\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}-\d{3}Z$/
/** What is called so is removed by the next backup. */
export const UNFINISHED = "unfinished-"

/** The files of a backup. */
export const MANIFEST = "manifest.json"
export const BLOB_LIST = "blobs.tsv"
export const TABLES = "tables"

export function tableFile({ schema, name }: { schema: string; name: string }): string {
  return `${TABLES}/${encodeURIComponent(schema)}.${encodeURIComponent(name)}.tsv.gz`
}

export function isBackupName(name: string): boolean {
  return NAME.test(name)
}

/** The names of the complete backups, oldest first. */
export async function listBackups(directory: string): Promise<string[]> {
  const names = await readdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return []
    throw error
  })
  return names.filter(isBackupName).toSorted()
}

/**
 * Runs `write` on a new folder, which gets its name only when `write` has made everything in it
 * durable. Returns its final path.
 */
export async function writeFolder(
  directory: string,
  moment: Date,
  write: (folder: string) => Promise<void>,
): Promise<string> {
  const name = moment.toISOString().replaceAll(/[:.]/g, "-")
  const unfinished = join(directory, UNFINISHED + name)
  const folder = join(directory, name)
  try {
    await mkdir(unfinished, { recursive: true, mode: 0o700 })
    await write(unfinished)
    await syncFolder(unfinished)
    await rename(unfinished, folder)
    await syncFolder(directory)
    return folder
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true })
    throw error
  }
}

/** What killed backups left. Their bytes in `blobs/` can be used by the next one. */
export async function removeUnfinished(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    if (name.startsWith(UNFINISHED)) await rm(join(directory, name), { recursive: true, force: true })
  }
}

/** If the process is killed halfway, nothing that looks like a backup remains. */
export async function removeBackup(directory: string, name: string): Promise<void> {
  const unfinished = join(directory, UNFINISHED + name)
  await rename(join(directory, name), unfinished)
  await syncFolder(directory)
  await rm(unfinished, { recursive: true })
}

/** Makes the names in a folder durable. */
export async function syncFolder(path: string) {
  const folder = await open(path, constants.O_RDONLY | constants.O_DIRECTORY)
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
