import { basename } from "node:path"
import { Cron } from "croner"
import { BackupRunning } from "#db/backup-locks.ts"
import { identify, type Identity } from "#db/installation.ts"
import type { Config } from "#server/config.ts"
import { createFailureLog, type Log } from "#server/log.ts"
import { startRecurring } from "#server/recurring.ts"
import { backUp, type BackupSource } from "./back-up.ts"
import { checkBackup, findChecked, listChecked, timeIn, type Proof } from "./check.ts"
import { copyToBucket } from "./copy-to-bucket.ts"
import { alone } from "./folder-lock.ts"
import { claimPlace, ownedBucket, ownedFolder, ownedSince } from "./owner.ts"
import { placeInBucket, placeInFolder } from "./place.ts"
import { pruneBackups } from "./prune.ts"
import type { Blobs } from "#server/ports/blobs.ts"
import type { Bucket } from "#server/ports/bucket.ts"

export type BackupSettings = NonNullable<Config["backups"]>

/** Milliseconds. */
const BETWEEN_LOOKS = 60_000
const BEFORE_TRYING_AGAIN = 15 * 60_000

export interface ScheduledBackups {
  /** How long the backup that is due has not been there, in ms; 0 if none is due or scheduled. */
  overdue(): number
  /** How old the newest checked backup is, in ms, if the bucket does not have it; 0 otherwise. */
  copyOverdue(): number
  /** When the newest backup in the bucket was taken, in ms since the epoch; 0 if there is none. */
  newestCopy(): number
  /** When the newest checked backup was taken, in ms since the epoch; 0 if there is none. */
  newest(): number
  stop(): Promise<void>
}

declare module "#server/scope.ts" {
  interface Services {
    backups: ScheduledBackups
  }
}

interface Needs {
  source: BackupSource
  /** The folder with SQL files. */
  migrations: string
  openFolder(directory: string): Promise<Blobs>
  /** Opens the bucket that has a copy; null without one. */
  openBucket: (() => Promise<Bucket>) | null
}

/**
 * Takes backups on the schedule of the settings, and nothing without one. What is due follows from
 * the folder: a backup that was missed is taken at the next start, and of several processes with one
 * folder the first one takes it.
 */
export function startScheduledBackups(
  { config, log }: { config: Pick<Config, "backups">; log: Log },
  needs: Needs,
): ScheduledBackups {
  const { backups } = config
  if (!backups) return NONE
  const { directory } = backups
  const taking = createFailureLog(log, "scheduled backups are taken again")
  const copying = createFailureLog(log, "backups are copied to the bucket again")
  let state = { due: 0, newest: 0 }
  /** Null until the database and the bucket were asked. */
  let own: Identity | null = null
  let copied: number | null = null
  let [takeNotBefore, copyNotBefore] = [0, 0]
  const recurring = startRecurring(async (stopping) => {
    try {
      own ??= await identify(needs.source.databaseUrl)
      state = await findState(backups, own, Date.now())
      if (state.newest < state.due && Date.now() >= takeNotBefore) {
        const proof = await takeChecked(backups, needs)
        state = await findState(backups, own, Date.now())
        log.info({ directory, proof }, "took and checked a scheduled backup")
      }
      if (state.newest >= state.due) taking.succeeded()
    } catch (error) {
      // Perhaps the one that is due. A process that stops leaves it to the next start.
      if (error instanceof BackupRunning || stopping.aborted) return
      takeNotBefore = Date.now() + BEFORE_TRYING_AGAIN
      taking.failed("error", error, "could not take the scheduled backup", { directory })
    }
    if (needs.openBucket === null || own === null || Date.now() < copyNotBefore) return
    try {
      if (copied !== null && copied >= state.newest) return
      const bucket = await needs.openBucket()
      const names = await copyChecked(backups, needs, { bucket, own })
      copied = (await findNewest(bucket, own)) ?? 0
      copying.succeeded()
      if (names.length > 0) log.info({ bucket: bucket.url, names }, "copied backups to the bucket")
    } catch (error) {
      if (error instanceof BackupRunning || stopping.aborted) return
      copyNotBefore = Date.now() + BEFORE_TRYING_AGAIN
      copying.failed("error", error, "could not copy the backup to the bucket", { directory })
    }
  }, BETWEEN_LOOKS)
  return {
    overdue: () => (state.newest >= state.due ? 0 : Date.now() - state.due),
    newest: () => state.newest,
    copyOverdue: () =>
      needs.openBucket === null || (copied ?? 0) >= state.newest ? 0 : Date.now() - state.newest,
    newestCopy: () => copied ?? 0,
    // Not awaited: what is being written has no backup's name yet, and the next start begins again.
    async stop() {
      void recurring.stop()
    },
  }
}

const NONE: ScheduledBackups = {
  overdue: () => 0,
  newest: () => 0,
  copyOverdue: () => 0,
  newestCopy: () => 0,
  stop: () => Promise.resolve(),
}

/**
 * When the last backup should have been taken, and when the newest checked one of this database was;
 * of any if it is not known which one this is.
 */
export async function findState({ schedule, directory }: BackupSettings, own: Identity | null, now: number) {
  // `previousRuns` excludes the moment itself.
  const [due] = new Cron(schedule, { timezone: "UTC", paused: true }).previousRuns(1, new Date(now + 1))
  const since = own === null ? 0 : ((await ownedSince(ownedFolder(directory), own)) ?? Infinity)
  const newest = (await findChecked(directory))?.takenAt ?? 0
  return { due: due?.getTime() ?? 0, newest: newest >= since ? newest : 0 }
}

/**
 * Takes a backup, checks it, and only then removes those that are no longer kept; one that fails the
 * check is removed itself. Returns how it was checked.
 */
export async function takeChecked(
  { directory, recipients, keep, proof }: Omit<BackupSettings, "schedule">,
  { source, migrations, openFolder }: Omit<Needs, "openBucket">,
) {
  const own = await identify(source.databaseUrl)
  const backup = await backUp(source, { directory, openFolder, recipients, skipLost: false })
  const place = placeInFolder(directory, openFolder)
  const written = basename(backup.folder)
  let reached: Proof
  try {
    reached = await checkBackup(backup, { databaseUrl: source.databaseUrl, migrations, proof })
  } catch (error) {
    // Every attempt writes another, which would fill the disk and count among those that are kept.
    await alone(directory, () => place.remove(written))
    throw error
  }
  await alone(directory, async () => {
    // It may have been taken over during the check.
    await claimPlace(ownedFolder(directory), own)
    await pruneBackups(place, { keep, written })
  })
  return reached
}

/** Copies the checked backups that are newer than those in the bucket. Returns their names. */
export async function copyChecked(
  { directory, keep }: Pick<BackupSettings, "directory" | "keep">,
  { openFolder }: Pick<Needs, "openFolder">,
  { bucket, own }: { bucket: Bucket; own: Identity },
): Promise<string[]> {
  return alone(directory, async () => {
    const since = await claimPlace(ownedFolder(directory), own)
    await claimPlace(ownedBucket(bucket), own)
    const newest = (await findNewest(bucket, own)) ?? 0
    const checked = await listChecked(directory)
    const names = checked
      .filter(({ takenAt }) => takenAt > newest && takenAt >= since)
      .map(({ name }) => name)
    await copyToBucket(placeInFolder(directory, openFolder), names, { bucket, keep })
    return names
  })
}

/** When this database's newest backup in a bucket was taken, in ms since the epoch; null if there is none. */
export async function findNewest(bucket: Bucket, own: Identity | null): Promise<number | null> {
  const since = own === null ? 0 : ((await ownedSince(ownedBucket(bucket), own)) ?? Infinity)
  const name = (await placeInBucket(bucket).list()).at(-1)
  return name !== undefined && timeIn(name) >= since ? timeIn(name) : null
}
