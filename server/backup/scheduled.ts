import { basename } from "node:path"
import { Cron } from "croner"
import { BackupRunning } from "#db/backup-locks.ts"
import { createFailureLog, type Log } from "#server/log.ts"
import { startRecurring } from "#server/recurring.ts"
import { backUp, type BackupSource } from "./back-up.ts"
import { checkBackup, findChecked, type Proof } from "./check.ts"
import { alone } from "./folder-lock.ts"
import { blobsIn } from "./folder.ts"
import type { Keep } from "./keep.ts"
import { pruneBackups } from "./prune.ts"
import type { Blobs } from "#server/ports/blobs.ts"

export interface BackupSettings {
  /** Five fields as cron has them, in UTC. */
  schedule: string
  /** The folder of backups. */
  directory: string
  keep: Keep
  proof: Proof
}

/** Milliseconds. */
const BETWEEN_LOOKS = 60_000
const BEFORE_TRYING_AGAIN = 15 * 60_000

export interface ScheduledBackups {
  /** How long the backup that is due has not been there, in ms; 0 if none is due or scheduled. */
  overdue(): number
  /** When the newest checked backup was taken, in ms since the epoch; 0 if there is none. */
  newest(): number
  stop(): Promise<void>
}

interface Needs {
  source: BackupSource
  /** The folder with SQL files. */
  migrations: string
  openFolder(directory: string): Promise<Blobs>
}

/**
 * Takes backups on the schedule of the settings, and nothing without one. What is due follows from
 * the folder: a backup that was missed is taken at the next start, and of several processes with one
 * folder the first one takes it.
 */
export function startScheduledBackups(
  // The scope's type imports the type of what is returned here.
  { config, log }: { config: { backups: BackupSettings | null }; log: Log },
  needs: Needs,
): ScheduledBackups {
  const { backups } = config
  if (!backups) return { overdue: () => 0, newest: () => 0, stop: () => Promise.resolve() }
  const failures = createFailureLog(log, "scheduled backups are taken again")
  let state = { due: 0, newest: 0 }
  let notBefore = 0
  const recurring = startRecurring(async () => {
    try {
      state = await findState(backups, Date.now())
      if (state.newest >= state.due || Date.now() < notBefore) return
      const proof = await takeChecked(backups, needs)
      state = await findState(backups, Date.now())
      failures.succeeded()
      log.info({ directory: backups.directory, proof }, "took and checked a scheduled backup")
    } catch (error) {
      // Perhaps the one that is due.
      if (error instanceof BackupRunning) return
      notBefore = Date.now() + BEFORE_TRYING_AGAIN
      failures.failed("error", error, "could not take the scheduled backup", { directory: backups.directory })
    }
  }, BETWEEN_LOOKS)
  return {
    overdue: () => (state.newest >= state.due ? 0 : Date.now() - state.due),
    newest: () => state.newest,
    // Not awaited: what is being written has no backup's name yet, and the next start begins again.
    async stop() {
      void recurring.stop()
    },
  }
}

/** When the last backup should have been taken, and when the newest checked one was. */
export async function findState({ schedule, directory }: BackupSettings, now: number) {
  // `previousRuns` excludes the moment itself.
  const [due] = new Cron(schedule, { timezone: "UTC", paused: true }).previousRuns(1, new Date(now + 1))
  const newest = await findChecked(directory)
  return { due: due?.getTime() ?? 0, newest: newest?.takenAt ?? 0 }
}

/**
 * Takes a backup, checks it, and only then removes those that are no longer kept. Returns how it was
 * checked.
 */
export async function takeChecked(
  { directory, keep, proof }: Omit<BackupSettings, "schedule">,
  { source, migrations, openFolder }: Needs,
) {
  const kept = await openFolder(blobsIn(directory))
  const { folder } = await backUp(source, { directory, kept, skipLost: false })
  const reached = await checkBackup(folder, kept, { databaseUrl: source.databaseUrl, migrations, proof })
  await alone(directory, () => pruneBackups(directory, kept, { keep, written: basename(folder) }))
  return reached
}
