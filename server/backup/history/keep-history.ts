import { sql } from "drizzle-orm"
import { archiveOf } from "#db/embedded/wal-archive.ts"
import { createFailureLog, type Log } from "#server/log.ts"
import type { Blobs } from "#server/ports/blobs.ts"
import type { ForeignBackups } from "#server/backup/owner.ts"
import { startRecurring } from "#server/recurring.ts"
import { listBases, pruneBases, takeBase, type Base } from "./bases.ts"
import { historyBlobsIn, openKeptBlobs, type KeptBlobs, type Source } from "./blobs.ts"

export interface History {
  /** For how long not everything that is older than a minute could be kept, in ms; 0 if it is. */
  behind(): number
  /** The earliest moment that can be restored, in ms since the epoch; 0 if there is none. */
  since(): number
  stop(): Promise<void>
}

declare module "#server/scope.ts" {
  interface Services {
    history: History
  }
}

/** Milliseconds. */
const INTERVAL = 60_000
const DAY = 24 * 60 * 60 * 1000
/** Milliseconds between two copies of the whole cluster. */
const BETWEEN_BASES = DAY

export const NO_HISTORY: History = { behind: () => 0, since: () => 0, stop: () => Promise.resolve() }

/** One that cannot be kept, because the folder is another's: it is behind from the start. */
export function refusedHistory({ log }: { log: Log }, refusal: ForeignBackups): History {
  const begun = Date.now()
  log.error({ err: refusal }, "could not keep the history")
  return { ...NO_HISTORY, behind: () => Math.max(1, Date.now() - begun) }
}

/**
 * Opens the archive of the PostgreSQL whose files are in `cluster`, which hands over its log by
 * itself. `openFolder` opens a store of blobs.
 */
export async function openArchive(
  { directory, cluster }: { directory: string; cluster: string },
  openFolder: (path: string) => Promise<Blobs>,
): Promise<{ archive: string; kept: KeptBlobs }> {
  const archive = archiveOf(directory, cluster)
  const kept = await openKeptBlobs(archive, await openFolder(historyBlobsIn(archive)))
  return { archive, kept }
}

interface Keeping {
  archive: string
  kept: KeptBlobs
  /** For how many days back any moment can be restored. */
  days: number
  /** Of a role that may read the cluster's files. */
  url: string
}

/**
 * Every minute copies the bytes of new files, and once a day the cluster; then removes what only
 * older moments than those of the window need.
 */
export function startKeepingHistory(
  scope: Source & { log: Log },
  { archive, kept, days, url }: Keeping,
): History {
  const failures = createFailureLog(scope.log, "the history is kept again")
  let good = Date.now()
  let isBad = false
  let since = 0
  const recurring = startRecurring(async (stopping) => {
    const begun = Date.now()
    try {
      await kept.copyNew(scope)
      await refuseFailedArchive(scope)
      const bases = await keepBases(begun)
      since = bases[0]?.completeAt ?? 0
      good = begun
      isBad = false
      failures.succeeded()
    } catch (error) {
      if (stopping.aborted) return
      isBad = true
      failures.failed("error", error, "could not keep the history", { archive })
    }
  }, INTERVAL)
  return {
    behind: () => (isBad ? Date.now() - good : 0),
    since: () => since,
    async stop() {
      // Not awaited: an unfinished copy has no name, and PostgreSQL ends it with its connection.
      void recurring.stop()
      // PostgreSQL archives the last minute when it stops.
      await kept.copyNew(scope).catch((error: unknown) => {
        scope.log.error({ err: error, archive }, "could not copy the bytes of the last files")
      })
    },
  }

  async function keepBases(now: number): Promise<Base[]> {
    const bases = await listBases(archive)
    if (!(await isDue(scope, bases.at(-1), now))) return bases
    await takeBase(url, archive)
    const before = now - days * DAY
    const left = await pruneBases(archive, before)
    await kept.prune(scope, before)
    return left
  }
}

/** A recovered cluster continues on a timeline of its own, from a copy of its own. */
async function isDue({ db }: Pick<Source, "db">, newest: Base | undefined, now: number): Promise<boolean> {
  if (!newest || newest.completeAt < now - BETWEEN_BASES) return true
  const [current] = await db.execute<{ timeline: number }>(
    sql`select timeline_id as timeline from pg_control_checkpoint()`,
  )
  return current?.timeline !== newest.timeline
}

async function refuseFailedArchive({ db }: Pick<Source, "db">) {
  const [server] = await db.execute<{ mode: string }>(sql`select current_setting('archive_mode') as mode`)
  if (server?.mode === "off")
    throw new Error(
      "PostgreSQL began while the history was another's, and hands nothing over. Restart Tideline.",
    )
  const [archiver] = await db.execute<{ segment: string | null }>(sql`
    select last_failed_wal as segment from pg_stat_archiver
    where last_failed_time > coalesce(last_archived_time, '-infinity')`)
  if (archiver)
    throw new Error(
      `PostgreSQL could not archive ${archiver.segment}. Is there space in the folder of backups, and may PostgreSQL write to it?`,
    )
}
