import type postgres from "postgres"

import type { ConnectionPool } from "../postgres/connections.ts"
import { inTransaction } from "./sql-transaction.ts"
import type { Log } from "./log.ts"
import { lsnFromSql, lsnToSql } from "./lsn.ts"

/**
 * The anchor is a persistent replication slot that nobody streams from. It holds the log of about
 * the last minute, so that any process can copy it and start at its own place. A copy, unlike a new
 * slot, does not wait for open transactions.
 */
export interface Anchor {
  readonly name: string
  readonly publication: string
}

/**
 * Copies the anchor to a slot that lasts as long as the connection; returns the LSN to read it
 * from. Throws if there is none.
 */
export async function copyAnchor(connection: postgres.Sql, anchor: Anchor, slot: string): Promise<bigint> {
  const [copied] = await connection
    .unsafe(
      `select lsn::text as lsn from pg_copy_logical_replication_slot('${anchor.name}', '${slot}', true)`,
    )
    .simple()
  return lsnFromSql(String(copied?.["lsn"]))
}

/**
 * Makes sure that the anchor is usable; one that PostgreSQL has given up (`max_slot_wal_keep_size`)
 * is created again. The very first creation is the only one that waits for open transactions; it
 * throws after five seconds of that.
 */
export async function ensureAnchor(pool: ConnectionPool, anchor: Anchor): Promise<void> {
  await pool.useClient((sql) => inTransaction(sql, "", () => make(sql, anchor)))
}

async function make(transaction: postgres.Sql, anchor: Anchor): Promise<void> {
  await transaction`select pg_advisory_xact_lock(hashtext(${`${anchor.name} creation`}))`
  if (await hasAnchor(transaction, anchor)) return
  await transaction`set local lock_timeout = '5s'`
  await transaction`select pg_create_logical_replication_slot(${anchor.name}, 'pgoutput')`
}

/** Drops one that is of no use any more. */
export async function hasAnchor(sql: postgres.Sql, anchor: Anchor): Promise<boolean> {
  // One that is being made has no position yet, and is active.
  const [slot] = await sql`
      select not active and (coalesce(wal_status, 'lost') = 'lost' or restart_lsn is null) as lost,
        database = current_database() as ours
      from pg_replication_slots where slot_name = ${anchor.name}`
  if (slot && !slot["ours"]) {
    throw new Error(
      `The replication slot ${anchor.name} belongs to another database of this cluster. Give this one another name.`,
    )
  }
  if (slot?.["lost"]) await sql`select pg_drop_replication_slot(${anchor.name})`
  return slot !== undefined && !slot["lost"]
}

/**
 * While no process runs the anchor holds all of the log, so PostgreSQL needs its own limit
 * (`max_slot_wal_keep_size`).
 */
export async function warnOfUnlimitedLog(pool: ConnectionPool, log: Log): Promise<void> {
  const [row] = await pool.useClient((sql) => sql`select current_setting('max_slot_wal_keep_size') as size`)
  if (row?.["size"] !== "-1") return
  log.warn(
    { max_slot_wal_keep_size: -1 },
    "PostgreSQL keeps its log without limit for a Tideline that is stopped, until its disk is full. " +
      "Run: ALTER SYSTEM SET max_slot_wal_keep_size = '4GB'; SELECT pg_reload_conf();",
  )
}

/**
 * Bytes of the log that one statement may read: reading gigabytes would exceed the statement
 * timeout, and the work would be lost.
 */
const STEP = String(256 * 1024 * 1024)

/**
 * Lets PostgreSQL discard the log before `lsn`. One process at a time does this; the others skip
 * it.
 */
export async function advanceAnchor(pool: ConnectionPool, anchor: Anchor, lsn: bigint): Promise<void> {
  while (await pool.useClient((sql) => inTransaction(sql, "", () => advance(sql, anchor, lsn)))) continue
}

/** Whether there is more to discard. */
async function advance(transaction: postgres.Sql, anchor: Anchor, lsn: bigint): Promise<boolean> {
  const [lock] =
    await transaction`select pg_try_advisory_xact_lock(hashtext(${`${anchor.name} advance`})) as held`
  if (!lock?.["held"]) return false
  // Called twice, because a slot only releases the log up to the first of PostgreSQL's snapshots in
  // it that is older than the slot's confirmed position: of a long log the first call frees almost
  // nothing, and the second everything.
  const [step] = await transaction`
      select target < least(${lsnToSql(lsn)}::text::pg_lsn, reached) as more,
        pg_replication_slot_advance(slot_name, target), pg_replication_slot_advance(slot_name, target)
      from pg_replication_slots, lateral (
        select case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_flush_lsn() end as reached
      ) as server, lateral (
        select least(${lsnToSql(lsn)}::text::pg_lsn, reached, confirmed_flush_lsn + ${STEP}::text::numeric) as target
      ) as place
      where slot_name = ${anchor.name} and confirmed_flush_lsn < ${lsnToSql(lsn)}::text::pg_lsn and not active`
  return step?.["more"] === true
}

export interface AnchorHealth {
  status: string
  retainedBytes: number
  /** Null while PostgreSQL has no limit (`max_slot_wal_keep_size`). */
  safeBytes: number | null
}

export async function inspectAnchor(pool: ConnectionPool, anchor: Anchor): Promise<AnchorHealth | null> {
  const [slot] = await pool.useClient(
    (sql) => sql`
    select wal_status as status, pg_current_wal_lsn() - restart_lsn as retained, safe_wal_size as safe
    from pg_replication_slots where slot_name = ${anchor.name}`,
  )
  if (!slot) return null
  return {
    status: String(slot["status"]),
    retainedBytes: Number(slot["retained"]),
    safeBytes: slot["safe"] === null ? null : Number(slot["safe"]),
  }
}
