import { count, sql } from "drizzle-orm"
import { livingProcesses } from "#db/process-lock.ts"
import { users } from "#db/schema/users.ts"
import { waitlist } from "#db/schema/waitlist.ts"
import { countOutbox } from "#server/mail/outbox.ts"
import { findFreeSpace, LITTLE_SPACE } from "#server/ops/disk.ts"
import type { Scope } from "#server/scope.ts"
import { version } from "#server/version.ts"
import type { RefusalData } from "#server/refusal-contract.ts"

/** A running process of this installation. */
export interface LivingProcess {
  /** The number of its lock. */
  number: number
  /** Whether it is the process that responds. */
  isThisOne: boolean
  connections: number
  answers: number
}

/** How current the live records of this process are. */
export interface StreamState {
  ready: boolean
  problem: RefusalData | null
  /** Milliseconds since the last message from PostgreSQL. */
  lag: number
  /** Bytes of WAL that were received and not yet delivered. */
  behind: number
  /** Bytes of WAL that PostgreSQL keeps for all processes together. */
  kept: number
}

/** What the installation stores, and whether it is backed up. */
export interface StorageState {
  /** Bytes of the database, with its indexes. */
  database: number
  /** Bytes of all files, trash included. */
  files: number
  /** Free bytes where this process stores data; null if it stores none on a disk of its own. */
  free: number | null
  isSpaceShort: boolean
  /** Null unless this process takes backups. */
  backups: {
    /** When the newest checked one was taken; null if there is none. */
    newest: number | null
    isOverdue: boolean
  } | null
  /** Null unless any moment of the last days can be restored. */
  history: {
    /** The earliest one; null if there is none yet. */
    since: number | null
    isBehind: boolean
  } | null
}

/** Milliseconds: a backup and its check may take their time. */
const BACKUP_MAY_TAKE = 3 * 60 * 60 * 1000
const HISTORY_MAY_TAKE = 15 * 60 * 1000

/** The state of the installation, as one process sees it. */
export async function findOverview(
  scope: Scope<"backups" | "config" | "history" | "db" | "live" | "turns" | "replies">,
) {
  const { config, db } = scope
  const [processes, stream, storage, emails, people, waiting, postgres] = await Promise.all([
    listProcesses(scope),
    findStreamState(scope),
    findStorage(scope),
    countOutbox(scope),
    db.select({ count: count() }).from(users),
    db.select({ count: count() }).from(waitlist),
    db.execute<{ version: string }>(sql`select current_setting('server_version') as version`),
  ])
  return {
    processes,
    stream,
    storage,
    model: scope.replies.trouble.current(),
    counts: { people: people[0]?.count ?? 0, waiting: waiting[0]?.count ?? 0, emails },
    versions: {
      tideline: version.commit ? `${version.number} (${version.commit.slice(0, 7)})` : version.number,
      node: process.versions.node,
      postgres: postgres[0]?.version ?? "unknown",
      identity: config.identity.kind,
    },
  }
}

async function listProcesses({ db, turns }: Scope<"db" | "turns">): Promise<LivingProcess[]> {
  const rows = await db.execute<{ number: string; connections: number; answers: number }>(sql`
    select living.number::text,
      (select count(*)::int from devices where devices.process = living.number) as connections,
      (select count(*)::int from chat_turns
        where chat_turns.process = living.number and chat_turns.status = 'running') as answers
    from (${livingProcesses}) as living (number)
    order by living.number`)
  return rows.map(({ number, connections, answers }) => {
    const isThisOne = Number(number) === turns.process
    return { number: Number(number), isThisOne, connections, answers }
  })
}

async function findStreamState({ db, live }: Scope<"db" | "live">): Promise<StreamState> {
  const state = live.ready()
  const gauges = new Map<string, number>()
  for (const { kind, name, value } of live.measured()) if (kind === "gauge") gauges.set(name, value)
  const [slots] = await db.execute<{ kept: number }>(sql`
    select coalesce(max(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)), 0)::float8 as kept
    from pg_replication_slots where database = current_database()`)
  return {
    ready: state.ready,
    problem: state.ready ? null : state.problem,
    lag: gauges.get("stream_lag_ms") ?? 0,
    behind: gauges.get("stream_behind_bytes") ?? 0,
    kept: slots?.kept ?? 0,
  }
}

async function findStorage({
  backups,
  config,
  db,
  history,
}: Scope<"backups" | "config" | "db" | "history">): Promise<StorageState> {
  const [[bytes], space] = await Promise.all([
    db.execute<{ database: number; files: number }>(sql`
      select pg_database_size(current_database())::float8 as database,
        (select coalesce(sum(size), 0)::float8 from blobs) as files`),
    findFreeSpace(config),
  ])
  return {
    database: bytes?.database ?? 0,
    files: bytes?.files ?? 0,
    free: space?.free ?? null,
    isSpaceShort: space !== null && space.free < LITTLE_SPACE,
    backups: config.backups && {
      newest: backups.newest() || null,
      isOverdue: backups.overdue() > BACKUP_MAY_TAKE,
    },
    history: config.history && {
      since: history.since() || null,
      isBehind: history.behind() > HISTORY_MAY_TAKE,
    },
  }
}
