import { existsSync } from "node:fs"
import { join } from "node:path"
import { archiveOf } from "#db/embedded/wal-archive.ts"
import { findChecked } from "#server/backup/check.ts"
import { listBases } from "#server/backup/history/bases.ts"
import { readState } from "#server/backup/history/state.ts"
import { findNewest, findState } from "#server/backup/scheduled.ts"
import type { Config } from "#server/config.ts"
import { openBackupBucket } from "#server/services.ts"
import { ok, reasonOf, warning, type Finding } from "#server/ops/finding.ts"

/** Whether backups are taken, and copied. */
export async function checkBackups(config: Config): Promise<Finding[]> {
  return [await checkSchedule(config), ...(await checkBackupBucket(config))]
}

/** Whether the newest checked backup is in the bucket. */
async function checkBackupBucket(config: Config): Promise<Finding[]> {
  const what = "Copies"
  const { backups, backupBucket } = config
  if (!backupBucket) return []
  if (!backups)
    return [
      warning(
        what,
        "BACKUP_URL is set, and this process takes no backups that it could copy there. Set BACKUP_SCHEDULE.",
      ),
    ]
  try {
    const bucket = await openBackupBucket(config)
    const [checked, copied] = [await findChecked(backups.directory), await findNewest(bucket)]
    const found = copied === null ? "has none yet" : `has the one of ${new Date(copied).toISOString()}`
    if (checked === null || (copied ?? 0) >= checked.takenAt) return [ok(what, `${bucket.url} ${found}.`)]
    return [
      warning(
        what,
        `${bucket.url} ${found}, and the newest is of ${new Date(checked.takenAt).toISOString()}. A running Tideline copies it now; if it cannot, its log says why.`,
      ),
    ]
  } catch (error) {
    return [warning(what, reasonOf(error))]
  }
}

async function checkSchedule({ backups }: Config): Promise<Finding> {
  if (!backups)
    return ok(
      "Backups",
      "This process takes none. Schedule them with BACKUP_SCHEDULE, or with a tool of yours.",
    )
  const { directory } = backups
  try {
    const { due, newest } = await findState(backups, Date.now())
    const when = newest === 0 ? "There is none yet" : `The newest is of ${new Date(newest).toISOString()}`
    if (newest >= due) return ok("Backups", `${when}, checked, in ${directory}.`)
    const expected = `one was due at ${new Date(due).toISOString()}`
    return warning(
      "Backups",
      `${when}, but ${expected}. A running Tideline takes it now; if it cannot, its log says why.`,
    )
  } catch (error) {
    return warning("Backups", `${directory} cannot be read: ${reasonOf(error)}`)
  }
}

/** Whether any moment of the last days can be restored. */
export async function checkHistory({ database, history }: Config): Promise<Finding[]> {
  const what = "History"
  if (!history) return []
  if (database.kind === "external") return [await checkKeptElsewhere(history.state)]
  const cluster = join(database.directory, "data")
  if (!existsSync(cluster)) return [ok(what, "The first start begins it.")]
  const archive = archiveOf(history.directory, cluster)
  try {
    const [first] = await listBases(archive)
    if (!first) return [warning(what, `${archive} has none yet. A running Tideline begins it.`)]
    const since = new Date(first.completeAt).toISOString()
    return [ok(what, `Any moment since ${since} can be restored from ${history.directory}. ${AS_IT_IS}`)]
  } catch (error) {
    return [warning(what, `${archive} cannot be read: ${reasonOf(error)}`)]
  }
}

async function checkKeptElsewhere(path: string): Promise<Finding> {
  const state = await readState(path)
  if (!state)
    return warning(
      "History",
      `${path} is missing. The container that keeps the history writes it: docs/backup.md.`,
    )
  const { at, behind, since } = state
  const last = new Date(at - behind).toISOString()
  if (Date.now() - at > STALE || behind > STALE)
    return warning("History", `It was last kept at ${last}. The log of its container says why.`)
  return since === 0
    ? ok("History", "Its container begins it.")
    : ok("History", `Any moment since ${new Date(since).toISOString()} can be restored. ${AS_IT_IS}`)
}

/** Whatever BACKUP_RECIPIENT and BACKUP_URL are: they are for backups. */
const AS_IT_IS = "It is not encrypted, and not copied."

/** Milliseconds. */
const STALE = 5 * 60_000
