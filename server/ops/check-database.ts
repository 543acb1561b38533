import { sql } from "drizzle-orm"
import { onDatabase, type Database } from "#db/client.ts"
import { OLDEST_POSTGRES } from "#db/migrate.ts"
import { livingProcesses } from "#db/process-lock.ts"
import { findFaults, LIMITS, reasonOf } from "#live/check"
import { listDamage } from "#server/files/damage.ts"
import { formatBytes } from "#server/text-contract.ts"
import { measureClock } from "./clock.ts"
import { judgeBytes, judgeClock, judgeEmails, judgeLog } from "./concerns.ts"
import { concerned, ok, problem, warning, type Finding } from "./finding.ts"
import { findKeptLog } from "./kept-log.ts"
import { countEmails } from "./queued.ts"

/** One slot for as long as the process streams, and one anchor slot for all processes. */
const SLOTS = 1

const DATABASE = "Database"

/**
 * Checks whether a Tideline process that opens so many `connections` could start now with the
 * PostgreSQL at `url`. `setting` is the variable with the URL.
 */
export async function checkDatabase(url: string, setting: string, connections: number): Promise<Finding[]> {
  let faults: Finding[]
  try {
    faults = (await findFaults(url)).map(({ message }) =>
      problem(DATABASE, `${setting} cannot be used. ${message}`),
    )
  } catch (error) {
    return [problem(DATABASE, `${setting} cannot be used. ${reasonOf(error)}`)]
  }
  return onDatabase(url, { connections: 1 }, async (db) => {
    const server = await readServer(db)
    return [
      ...(faults.length > 0 ? faults : [checkVersion(server), checkRights(server)]),
      await checkSlots(db, server),
      checkConnections(server, connections),
      ...(await checkLog(db)),
      ...(await checkEmails(db, server)),
      ...(await checkBytes(db)),
      ...checkEncryption(server, new URL(url).hostname, setting),
      ...(await checkClock(db)),
    ]
  })
}

/**
 * What a process should say at its start: what will fail later, or is not safe. Not what the
 * realtime layer says itself, which also waits for a free slot.
 */
export async function findWeaknesses(url: string, setting: string, connections: number): Promise<Finding[]> {
  return onDatabase(url, { connections: 1 }, async (db) => {
    const server = await readServer(db)
    const findings = [
      checkConnections(server, connections),
      ...checkEncryption(server, new URL(url).hostname, setting),
      ...(await checkClock(db)),
    ]
    return findings.filter(({ state }) => state !== "ok")
  })
}

/** A pooler responds itself to what `checkDatabase` asks. */
export async function checkPooler(url: string): Promise<Finding> {
  try {
    await onDatabase(url, { connections: 1, pooled: true }, (db) => db.execute(sql`select 1`))
    return ok("Pooler", "DATABASE_URL answers.")
  } catch (error) {
    return problem("Pooler", `The pooler behind DATABASE_URL does not answer: ${reasonOf(error)}`)
  }
}

type Server = Awaited<ReturnType<typeof readServer>>

export async function readServer(db: Database) {
  const [server] = await db.execute<{
    version: string
    number: number
    size: string
    mayCreate: boolean
    isMigrated: boolean
    slots: number
    slotsUsed: number
    senders: number
    sendersUsed: number
    connections: number
    connectionsUsed: number
    isEncrypted: boolean
    running: number
  }>(sql`
    select
      current_setting('server_version') as version,
      current_setting('server_version_num')::int as number,
      pg_database_size(current_database()) as size,
      has_database_privilege(current_database(), 'create') as "mayCreate",
      to_regclass('drizzle.__drizzle_migrations') is not null as "isMigrated",
      current_setting('max_replication_slots')::int as slots,
      (select count(*)::int from pg_replication_slots) as "slotsUsed",
      current_setting('max_wal_senders')::int as senders,
      (select count(*)::int from pg_stat_replication) as "sendersUsed",
      current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
        - current_setting('reserved_connections')::int as connections,
      (select count(*)::int from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid())
        as "connectionsUsed",
      coalesce((select ssl from pg_stat_ssl where pid = pg_backend_pid()), false) as "isEncrypted",
      (select count(*)::int from (${livingProcesses}) as living) as running`)
  if (!server) throw new Error("PostgreSQL returned no row.")
  return server
}

function checkVersion({ version, number, size, running }: Server): Finding {
  if (number < OLDEST_POSTGRES)
    return problem(DATABASE, `It is PostgreSQL ${version}. Tideline needs 17 or newer.`)
  const processes = running === 1 ? "1 process runs" : `${running} processes run`
  return ok(
    DATABASE,
    `PostgreSQL ${version} with ${formatBytes(Number(size))} of records. ${processes} on it.`,
  )
}

function checkRights({ mayCreate, isMigrated }: Server): Finding {
  if (mayCreate) return ok("Rights", "The role may read PostgreSQL's log and migrate the database.")
  return isMigrated
    ? ok("Rights", "The role may read PostgreSQL's log. Another one migrates the database.")
    : problem(
        "Rights",
        "The role may not create schemas, and the database has none of Tideline's. Run npm run migrate as one that may.",
      )
}

async function checkSlots(db: Database, server: Server): Promise<Finding> {
  const [anchor] = await db.execute(
    sql`select 1 from pg_replication_slots where slot_name like ${`${LIMITS.name}\\_anchor\\_%`}`,
  )
  const needed = anchor ? SLOTS : SLOTS + 1
  const slots = server.slots - server.slotsUsed
  const senders = server.senders - server.sendersUsed
  if (slots >= needed && senders >= SLOTS)
    return ok(
      "Replication",
      `${slots} of ${server.slots} slots and ${senders} of ${server.senders} walsenders are free; a process takes one of each.`,
    )
  const [setting, free, most] =
    slots < needed
      ? ["max_replication_slots", slots, server.slots]
      : ["max_wal_senders", senders, server.senders]
  return problem(
    "Replication",
    `${free} of ${most} (${setting}) are free, which is too few for another process: it would wait. Run: ALTER SYSTEM SET ${setting} = ${most * 2}; and restart PostgreSQL.`,
  )
}

function checkConnections({ connections, connectionsUsed }: Server, needed: number): Finding {
  const free = connections - connectionsUsed
  const found = `${free} of ${connections} connections are free; a busy process opens up to ${needed} (DATABASE_CONNECTIONS).`
  return free >= needed
    ? ok("Connections", found)
    : warning(
        "Connections",
        `${found} Run: ALTER SYSTEM SET max_connections = ${Math.ceil((connections + needed) / 100) * 100}; and restart PostgreSQL, set DATABASE_CONNECTIONS lower, or use a pooler (DATABASE_STREAM_URL).`,
      )
}

async function checkLog(db: Database): Promise<Finding[]> {
  const log = await findKeptLog({ db })
  const [concern] = judgeLog(log)
  if (!concern)
    return [ok("Log", `Slots hold ${formatBytes(log.bytes)} of PostgreSQL's log, and ${log.limit} at most.`)]
  const statement =
    concern.what.reason === "log-kept"
      ? `SELECT pg_drop_replication_slot('${log.unread?.slot}');`
      : "ALTER SYSTEM SET max_slot_wal_keep_size = '4GB'; SELECT pg_reload_conf();"
  return [warning("Log", `${concern.what.message} Run: ${statement}`)]
}

/** Emails are counted once there are tables. */
async function checkEmails(db: Database, { isMigrated }: Server): Promise<Finding[]> {
  if (!isMigrated) return []
  const emails = await countEmails({ db })
  return concerned("Emails", judgeEmails(emails), `${emails.queued} are waiting, and none was given up.`)
}

async function checkBytes(db: Database): Promise<Finding[]> {
  const [table] = await db.execute<{ exists: boolean }>(
    sql`select to_regclass('public.damaged_blobs') is not null as exists`,
  )
  if (!table?.exists) return []
  return concerned("Bytes", judgeBytes(await listDamage({ db })), "No missing or damaged ones are known.")
}

function checkEncryption({ isEncrypted }: Server, host: string, setting: string): Finding[] {
  if (isNear(host)) return []
  return [
    isEncrypted
      ? ok("Encryption", "The connection to PostgreSQL is encrypted.")
      : warning(
          "Encryption",
          `The connection to ${host} is not encrypted. Add ?sslmode=verify-full to ${setting}.`,
        ),
  ]
}

/** This machine, a private network, or a name that only such a network knows. */
function isNear(host: string): boolean {
  return (
    !host.includes(".") ||
    /^(127|10|192\.168|172\.(1[6-9]|2\d|3[01]))\./.test(host) ||
    /\.(local|internal)$/.test(host)
  )
}

async function checkClock(db: Database): Promise<Finding[]> {
  return concerned("Clock", judgeClock(await measureClock({ db })), "This machine and PostgreSQL agree.")
}
