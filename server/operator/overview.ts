import { count, ne, sql } from "drizzle-orm"
import { livingProcesses, nameOfProcess } from "#db/process-lock.ts"
import { FORMER_MEMBER, users } from "#db/schema/users.ts"
import { waitlist } from "#db/schema/waitlist.ts"
import { reasonOf } from "#live/check"
import type { Certificate } from "#server/ops/certificate.ts"
import { listDamage } from "#server/files/damage.ts"
import { tryStore } from "#server/files/store-refusals.ts"
import { measureClock } from "#server/ops/clock.ts"
import { findFreeSpace } from "#server/ops/disk.ts"
import { findKeptLog } from "#server/ops/kept-log.ts"
import { withinProbeTimeout } from "#server/ops/probe-timeout.ts"
import { countEmails } from "#server/ops/queued.ts"
import type { Scope } from "#server/scope.ts"
import { version } from "#server/version.ts"
import type { RefusalData } from "#server/refusal-contract.ts"
import {
  judgeBackups,
  judgeBytes,
  judgeCertificate,
  judgeClock,
  judgeDisk,
  judgeEmails,
  judgeHistory,
  judgeLog,
  judgeModel,
  judgeStore,
  remindOfBackups,
  type Concern,
} from "#server/ops/concerns.ts"
import { findReleaseCheck, judgeRelease } from "./releases.ts"

/** A running process of this installation. */
export interface LivingProcess {
  /** The number of its lock. */
  number: number
  /** Its host and process id, or that number. */
  name: string
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
}

/** What the installation stores, and whether it is backed up. */
export interface StorageState {
  /** Bytes of the database, with its indexes. */
  database: number
  /** Bytes of all files, trash included. */
  files: number
  /** Free bytes where this process stores data; null if it stores none on a disk of its own. */
  free: number | null
  /** Bytes of WAL that PostgreSQL keeps for the slots of all processes together. */
  keptLog: number
  /** Null unless this process takes backups. */
  backups: {
    /** When the newest checked one was taken; null if there is none. */
    newest: number | null
    isOverdue: boolean
    isEncrypted: boolean
    /** Null without a bucket. */
    copy: {
      /** When the newest one in the bucket was taken; null if there is none. */
      newest: number | null
      isMissing: boolean
    } | null
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
const COPY_MAY_TAKE = 6 * 60 * 60 * 1000
const HISTORY_MAY_TAKE = 15 * 60 * 1000

/** How emails leave, and how people arrive. */
export interface ReachState {
  /** The host of the mail server; null for the local inbox. */
  mailServer: string | null
  /** Milliseconds for which the oldest queued email has been waiting; null if there is none. */
  oldestEmail: number | null
  origin: string
  /** Null without HTTPS, or if it could not be read. */
  certificate: Certificate | null
}

/** The state of the installation, as one process sees it, and what to do about it. */
export async function findOverview(
  scope: Scope<
    "backups" | "blobs" | "certificate" | "config" | "history" | "db" | "live" | "turns" | "replies"
  >,
) {
  const { certificate: watched, config, db } = scope
  const [processes, log, stored, emails, people, waiting, postgres, releases, ahead, damaged, refusal] =
    await Promise.all([
      listProcesses(scope),
      findKeptLog(scope),
      findStorage(scope),
      countEmails(scope),
      db.select({ count: count() }).from(users).where(ne(users._id, FORMER_MEMBER)),
      db.select({ count: count() }).from(waitlist),
      db.execute<{ version: string }>(sql`select current_setting('server_version') as version`),
      findReleaseCheck(scope),
      measureClock(scope),
      listDamage(scope),
      withinProbeTimeout(tryStore(scope.blobs)).catch(reasonOf),
    ])
  const storage: StorageState = { ...stored, keptLog: log.bytes }
  const certificate = watched.current()
  const concerns: Concern[] = [
    ...(storage.free === null ? [] : judgeDisk(storage.free)),
    ...judgeStore(refusal),
    ...judgeBytes(damaged),
    ...judgeLog(log),
    ...judgeClock(ahead),
    ...(storage.backups ? judgeBackups(storage.backups) : []),
    ...(storage.backups || storage.history || config.backsUpElsewhere ? [] : remindOfBackups()),
    ...(storage.history ? judgeHistory(storage.history) : []),
    ...(certificate ? judgeCertificate(certificate, Date.now()) : []),
    ...judgeModel(scope.replies.abilities.learned(), config.chat.contextTokens),
    ...judgeEmails(emails),
    ...(releases ? judgeRelease(releases, version.number) : []),
  ]
  const reach: ReachState = {
    mailServer: config.mail.kind === "smtp" ? new URL(config.mail.url).hostname : null,
    oldestEmail: emails.queued > 0 ? emails.oldestSeconds * 1000 : null,
    origin: config.origin,
    certificate,
  }
  return {
    concerns,
    processes,
    stream: findStreamState(scope),
    storage,
    reach,
    model: scope.replies.trouble.current(),
    counts: { people: people[0]?.count ?? 0, waiting: waiting[0]?.count ?? 0, emails },
    versions: {
      tideline: version.commit ? `${version.number} (${version.commit.slice(0, 7)})` : version.number,
      node: process.versions.node,
      postgres: postgres[0]?.version ?? "unknown",
      identity: config.identity.kind,
      /** Null if nobody asks for it. */
      releases,
    },
  }
}

export async function listProcesses({ db, turns }: Scope<"db" | "turns">): Promise<LivingProcess[]> {
  const rows = await db.execute<{ number: string; name: string; connections: number; answers: number }>(sql`
    select living.number::text, coalesce(${nameOfProcess(sql`living.number`)}, living.number::text) as name,
      (select count(*)::int from devices where devices.process = living.number) as connections,
      (select count(*)::int from chat_turns
        where chat_turns.process = living.number and chat_turns.status = 'running') as answers
    from (${livingProcesses}) as living (number)
    order by living.number`)
  return rows.map(({ number, name, connections, answers }) => {
    const isThisOne = Number(number) === turns.process
    return { number: Number(number), name, isThisOne, connections, answers }
  })
}

function findStreamState({ live }: Scope<"live">): StreamState {
  const state = live.ready()
  const gauges = new Map<string, number>()
  for (const { kind, name, value } of live.measured()) if (kind === "gauge") gauges.set(name, value)
  return {
    ready: state.ready,
    problem: state.ready ? null : state.problem,
    lag: gauges.get("stream_lag_ms") ?? 0,
    behind: gauges.get("stream_behind_bytes") ?? 0,
  }
}

async function findStorage({
  backups,
  config,
  db,
  history,
}: Scope<"backups" | "config" | "db" | "history">): Promise<Omit<StorageState, "keptLog">> {
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
    backups: config.backups && {
      newest: backups.newest() || null,
      isOverdue: backups.overdue() > BACKUP_MAY_TAKE,
      isEncrypted: config.backupRecipients.length > 0,
      copy: config.backupBucket && {
        newest: backups.newestCopy() || null,
        isMissing: backups.copyOverdue() > COPY_MAY_TAKE,
      },
    },
    history: config.history && {
      since: history.since() || null,
      isBehind: history.behind() > HISTORY_MAY_TAKE,
    },
  }
}
