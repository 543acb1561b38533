import { existsSync } from "node:fs"
import { mkdir, mkdtemp, rm } from "node:fs/promises"
import { join } from "node:path"
import { archiveOf } from "#db/embedded/wal-archive.ts"
import type { Identity } from "#db/installation.ts"
import { reasonOf } from "#live/check"
import { findChecked } from "#server/backup/check.ts"
import { UNFINISHED } from "#server/backup/folder.ts"
import { listBases } from "#server/backup/history/bases.ts"
import { readState } from "#server/backup/history/state.ts"
import { describeForeign, findForeign, ownedBucket, ownedFolder } from "#server/backup/owner.ts"
import { findNewest, findState } from "#server/backup/scheduled.ts"
import type { Config } from "#server/config.ts"
import { openBackupBucket } from "#server/services.ts"
import { remindOfBackups } from "#server/ops/concerns.ts"
import { concerned, ok, warning, type Finding } from "#server/ops/finding.ts"

/** Whether backups are taken, and copied. */
export async function checkBackups(config: Config, own: Identity | null): Promise<Finding[]> {
  return [await checkSchedule(config, own), ...(await checkBackupBucket(config, own))]
}

/** Whether the newest checked backup is in the bucket. */
async function checkBackupBucket(config: Config, own: Identity | null): Promise<Finding[]> {
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
    const others = own === null ? [] : await findForeign([ownedBucket(bucket)], own)
    if (others.length > 0) return [warning(what, describeForeign(bucket.url))]
    const [checked, copied] = [await findChecked(backups.directory), await findNewest(bucket, own)]
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

async function checkSchedule(
  { backups, backsUpElsewhere, history }: Config,
  own: Identity | null,
): Promise<Finding> {
  if (backsUpElsewhere) return ok("Backups", "Another process or tool takes them: BACKUP_SCHEDULE=elsewhere.")
  if (!backups && history) return ok("Backups", "None is scheduled; the history restores any moment.")
  if (!backups) return concerned("Backups", remindOfBackups(), "")[0]!
  const { directory } = backups
  try {
    const others = own === null ? [] : await findForeign([ownedFolder(directory)], own)
    if (others.length > 0) return warning("Backups", describeForeign(directory))
    await tryFolder(directory)
    const { due, newest } = await findState(backups, own, Date.now())
    const when = newest === 0 ? "There is none yet" : `The newest is of ${new Date(newest).toISOString()}`
    if (newest >= due) return ok("Backups", `${when}, checked, in ${directory}.`)
    const expected = `one was due at ${new Date(due).toISOString()}`
    return warning(
      "Backups",
      `${when}, but ${expected}. A running Tideline takes it now; if it cannot, its log says why.`,
    )
  } catch (error) {
    return warning(
      "Backups",
      `No backup can be written to ${directory}: ${reasonOf(error)}. It must belong to the user that Tideline runs as${userHere()}.`,
    )
  }
}

/** Writes into the folder, and removes what was written. */
async function tryFolder(directory: string) {
  const made = await mkdir(directory, { recursive: true, mode: 0o700 })
  await rm(await mkdtemp(join(directory, UNFINISHED)), { recursive: true })
  if (made !== undefined) await rm(made, { recursive: true })
}

function userHere() {
  const number = process.getuid?.()
  return number === undefined ? "" : `, number ${number}`
}

/** Whether any moment of the last days can be restored. */
export async function checkHistory({ database, history }: Config, own: Identity | null): Promise<Finding[]> {
  const what = "History"
  if (!history) return []
  const others = own === null ? [] : await findForeign([ownedFolder(history.directory)], own)
  if (others.length > 0) return [warning(what, describeForeign(history.directory))]
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
