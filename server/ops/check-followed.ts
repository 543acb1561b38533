import { sql } from "drizzle-orm"
import { onDatabase, type Database } from "#db/client.ts"
import { OLDEST_POSTGRES } from "#db/migrate.ts"
import {
  adviseSlot,
  checkServer,
  IS_WITHOUT_SLOT,
  LIMITS,
  nameOfServers,
  openReplication,
  reasonOf,
  RECEIVES,
} from "#live/check"
import { ok, problem, warning, type Finding } from "./finding.ts"

const ABOUT = "Followed"

/** Of each process: one that sends the log, and one that is asked how far the server is. */
const SENDERS = 2

/** Checks whether a process could read from this server of FOLLOW_DATABASE_URL. */
export async function checkFollowed(url: string, primaryUrl: string): Promise<Finding[]> {
  const name = nameOfServers(url)
  const check = async (db: Database) => {
    await checkServer(url)
    const server = await readFollowed(db)
    const faults = (await isElsewhere(url, primaryUrl))
      ? [problem(ABOUT, ELSEWHERE)]
      : [...checkVersion(server), ...checkSlots(server), ...checkStandby(server, url)]
    if (faults.length === 0) faults.push(summarise(server))
    return faults.map(({ about, state, text }) => ({ about, state, text: `${name}: ${text}` }))
  }
  return onDatabase(url, { connections: 1 }, check).catch((error: unknown) =>
    // It is passed over for as long as that is so.
    [warning(ABOUT, `${name} cannot be read from. ${reasonOf(error)}`)],
  )
}

type Followed = Awaited<ReturnType<typeof readFollowed>>

async function readFollowed(db: Database) {
  const [server] = await db.execute<{
    version: string
    number: number
    role: string
    isStandby: boolean
    isReceiving: boolean
    isWithoutSlot: boolean
    feedback: string
    delay: number
    mayAsk: boolean
    hasAnchor: boolean
    slots: number
    slotsUsed: number
    senders: number
    sendersUsed: number
  }>(sql`
    select
      current_setting('server_version') as version,
      current_setting('server_version_num')::int as number,
      current_user as role,
      pg_is_in_recovery() as "isStandby",
      ${sql.raw(RECEIVES)} as "isReceiving",
      ${sql.raw(IS_WITHOUT_SLOT)} as "isWithoutSlot",
      current_setting('hot_standby_feedback') as feedback,
      (select setting::int from pg_settings where name = 'recovery_min_apply_delay') as delay,
      has_function_privilege('pg_log_standby_snapshot()', 'execute') as "mayAsk",
      exists (select from pg_replication_slots where slot_name like ${`${LIMITS.name}\\_anchor\\_%`}
        and database = current_database() and not temporary) as "hasAnchor",
      current_setting('max_replication_slots')::int as slots,
      (select count(*)::int from pg_replication_slots) as "slotsUsed",
      current_setting('max_wal_senders')::int as senders,
      (select count(*)::int from pg_stat_replication) as "sendersUsed"`)
  if (!server) throw new Error("PostgreSQL returned no row.")
  return server
}

function checkVersion({ version, number }: Followed): Finding[] {
  if (number >= OLDEST_POSTGRES) return []
  return [problem(ABOUT, `It is PostgreSQL ${version}. Tideline needs 17 or newer.`)]
}

const ELSEWHERE =
  "It is not a copy of the server behind DATABASE_URL. Name a standby of that one in FOLLOW_DATABASE_URL."

/** Whether it is of another cluster, whose positions mean nothing here. */
async function isElsewhere(url: string, primaryUrl: string): Promise<boolean> {
  const [own, primary] = await Promise.all([readSystem(url), readSystem(primaryUrl).catch(() => null)])
  return primary !== null && own !== primary
}

async function readSystem(url: string): Promise<string> {
  const connection = openReplication(url, "tideline check")
  try {
    return (await connection.locate(null)).lineage.system
  } finally {
    await connection.end()
  }
}

function checkSlots({ hasAnchor, slots, slotsUsed, senders, sendersUsed }: Followed): Finding[] {
  const needed = hasAnchor ? 1 : 2
  return [
    ...(slots - slotsUsed < needed ? [tooFew("max_replication_slots", slots - slotsUsed, slots)] : []),
    ...(senders - sendersUsed < SENDERS ? [tooFew("max_wal_senders", senders - sendersUsed, senders)] : []),
  ]
}

function tooFew(setting: string, free: number, most: number): Finding {
  return warning(
    ABOUT,
    `${free} of ${most} (${setting}) are free, which is too few for another process to read there. Run on it: ALTER SYSTEM SET ${setting} = ${most * 2}; and restart it.`,
  )
}

function checkStandby(server: Followed, url: string): Finding[] {
  const { isStandby, isReceiving, isWithoutSlot, feedback, delay, mayAsk, role } = server
  if (!isStandby) return []
  const findings: Finding[] = []
  if (isReceiving && isWithoutSlot) findings.push(warning(ABOUT, adviseSlot(url)))
  if (!isReceiving)
    findings.push(
      warning(
        ABOUT,
        "It receives no log from a primary now, so nothing is read from it. If that lasts, its own log says why.",
      ),
    )
  if (feedback !== "on")
    findings.push(
      warning(
        ABOUT,
        "The primary may remove rows that its slot needs, which invalidates the slot. Run on it: ALTER SYSTEM SET hot_standby_feedback = on; SELECT pg_reload_conf();",
      ),
    )
  if (delay > 0)
    findings.push(
      warning(
        ABOUT,
        "It replays with a delay, so nothing is ever read from it. Remove recovery_min_apply_delay, or remove it from FOLLOW_DATABASE_URL.",
      ),
    )
  if (!mayAsk)
    findings.push(
      warning(
        ABOUT,
        `Its slot takes up to 15 seconds to make. Run on the primary, as a superuser: GRANT EXECUTE ON FUNCTION pg_log_standby_snapshot() TO "${role}";`,
      ),
    )
  return findings
}

function summarise({ isStandby, version, slots, slotsUsed, senders, sendersUsed }: Followed): Finding {
  return ok(
    ABOUT,
    `PostgreSQL ${version}, ${isStandby ? "a standby" : "the primary"}. ${slots - slotsUsed} of ${slots} slots and ${senders - sendersUsed} of ${senders} walsenders are free.`,
  )
}
