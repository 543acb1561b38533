import { open } from "node:fs/promises"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { BackupRunning } from "#db/backup-locks.ts"

/**
 * Runs `work` while no other process writes to or removes from this folder of backups, whichever
 * database it belongs to. Throws an error that says what to do if another process does. The
 * operating system holds the lock, so it is free as soon as its process dies.
 */
export async function alone<Result>(directory: string, work: () => Promise<Result>): Promise<Result> {
  const path = join(directory, "lock")
  // SQLite would otherwise let others read.
  await (await open(path, "a", 0o600)).close()
  // Node has no file locks. Nothing is ever written to this database.
  const lock = new DatabaseSync(path, { timeout: 0 })
  try {
    take(lock, directory)
    return await work()
  } finally {
    lock.close()
  }
}

function take(lock: DatabaseSync, directory: string) {
  try {
    lock.exec("pragma journal_mode = memory; begin exclusive")
  } catch (error) {
    if (error instanceof Error && "errcode" in error && error.errcode === SQLITE_BUSY) {
      throw new BackupRunning(`Another backup is being written into ${directory}. Wait for it to end.`, {
        cause: error,
      })
    }
    throw new Error(
      `${directory} cannot be locked, so that two backups could disturb each other. Its file system has to know locks.`,
      { cause: error },
    )
  }
}

const SQLITE_BUSY = 5
