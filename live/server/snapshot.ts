import type postgres from "postgres"

import type { Activity } from "./activity.ts"
import { SET_TEXT_FORM } from "./connection-options.ts"
import type { ConnectionPool } from "../postgres/connections.ts"
import { inTransaction } from "./sql-transaction.ts"
import type { SnapshotSql } from "./live-query.ts"
import { lsnFromSql } from "./lsn.ts"
import type { Metrics } from "./metrics.ts"
import { isNumeric, type Range } from "./range.ts"
import type { Ring } from "./ring.ts"
import { valuesIn } from "./shapes.ts"
import { quote, type Tuple, type WatchedTable } from "./tables.ts"
import type { Transaction } from "./transactions.ts"
import { readVisibility, type Visibility } from "./visibility.ts"

/** One consistent reading of the database. */
export interface Snapshot<Value> {
  readonly value: Value
  readonly visibility: Visibility
  /** Every transaction that the snapshot sees ended before this position in the log. */
  readonly lsn: bigint
  /** The streamed transactions that it does not see; see `Ring.missingFrom`. */
  missing(): readonly Transaction[] | null
  /** Lets the ring drop the transactions that it kept for this snapshot. */
  release(): void
}

export interface SnapshotReader {
  readonly sql: SnapshotSql
  /** The rows of a range in its order; for a page, one more than its limit if there is one. */
  rows(range: Range): Promise<Tuple[]>
  row(table: WatchedTable, key: string): Promise<Tuple | null>
}

export interface Snapshots {
  take<Value>(work: (reader: SnapshotReader) => Promise<Value>): Promise<Snapshot<Value>>
  /** The same on a server of the caller's choice. Unless it is the source, nothing follows on it. */
  takeFrom<Value>(
    pool: ConnectionPool,
    work: (reader: SnapshotReader) => Promise<Value>,
  ): Promise<Snapshot<Value>>
}

/** The server that is read from now. */
export interface Source {
  readonly pool: ConnectionPool
  /** Whether it may be a standby; it may have been promoted in the meantime. */
  readonly isStandby: boolean
}

interface SnapshotOptions {
  readonly source: Source
  readonly ring: Ring
  readonly metrics: Metrics
  readonly activity: Activity
  readonly maxRows: number
}

export class TooManyRows extends Error {}

/** A query that waits for a lock keeps a connection that others need. */
const READ_ONLY = `isolation level repeatable read read only; ${SET_TEXT_FORM}; set local lock_timeout = '3s'`

/**
 * Reads in `REPEATABLE READ READ ONLY` transactions. Statements that `work` starts without waiting
 * share round trips.
 */
export function openSnapshots({ source, ring, metrics, activity, maxRows }: SnapshotOptions): Snapshots {
  return {
    take: (work) => take(source.pool, work),
    async takeFrom(pool, work) {
      const snapshot = await take(pool, work)
      // The ring may have forgotten what it lacks: another server has seen that.
      return pool === source.pool ? snapshot : { ...snapshot, missing: () => null }
    },
  }

  async function take<Value>(
    pool: ConnectionPool,
    work: (reader: SnapshotReader) => Promise<Value>,
  ): Promise<Snapshot<Value>> {
    const startedAt = performance.now()
    const ticket = ring.beginSnapshot()
    try {
      const taken = await pool.useClient(async (sql) => {
        const replayed = source.isStandby ? sql`select pg_last_wal_replay_lsn()::text as lsn`.execute() : []
        const [[before], during] = await Promise.all([
          replayed,
          inTransaction(sql, READ_ONLY, () => read(sql, work)),
        ])
        const { value, place } = during
        return { value, ...placeOf(place, before) }
      })
      if (pool === source.pool) ring.learn(ticket, taken.visibility)
      metrics.count("snapshots")
      metrics.observe("snapshot_ms", performance.now() - startedAt)
      return {
        ...taken,
        missing: () => ring.missingFrom(ticket, taken.visibility),
        release: () => ring.endSnapshot(ticket),
      }
    } catch (error) {
      ring.endSnapshot(ticket)
      throw error
    }
  }

  async function read<Value>(sql: postgres.Sql, work: (reader: SnapshotReader) => Promise<Value>) {
    const place = sql.unsafe(PLACE).execute()
    const reading = readerOf(sql, activity, maxRows)
    try {
      const [[first], value] = await Promise.all([place, work(reading.reader)])
      return { value, place: first ?? {} }
    } finally {
      await reading.finish()
    }
  }
}

/** Where the snapshot is in the log, as its first statement finds it: not before it was taken. */
const PLACE = `
  select pg_is_in_recovery() as standby, pg_current_snapshot()::text as visibility,
    (case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_insert_lsn() end)::text as lsn,
    pg_last_wal_receive_lsn()::text as received`

/**
 * What it sees, and the position after which it sees nothing. A standby replays one record at a
 * time, so a snapshot may see one commit that ends after the position that the standby reports:
 * unless nothing more was received, the next position counts.
 */
function placeOf(
  place: Record<string, unknown>,
  before: Record<string, unknown> | undefined,
): { visibility: Visibility; lsn: bigint } {
  const lsn = lsnFromSql(String(place["lsn"]))
  if (place["standby"] !== true) return { visibility: readVisibility(String(place["visibility"])), lsn }
  const surely = typeof before?.["lsn"] === "string" ? lsnFromSql(before["lsn"]) : 0n
  if (place["received"] === place["lsn"]) return { visibility: { surely, atMost: lsn }, lsn }
  return { visibility: { surely, atMost: NO_END }, lsn: lsn + 1n }
}

/** Beyond every position in a log. */
const NO_END = 1n << 64n

/**
 * Reads on one connection. `finish` waits for statements that are still running, and nothing can be
 * started after it.
 */
function readerOf(
  sql: postgres.Sql,
  activity: Activity,
  maxRows: number,
): { reader: SnapshotReader; finish(): Promise<void> } {
  const running = new Set<Promise<unknown>>()
  let finished = false

  return {
    reader: {
      sql: (text, ...values) => track(sql(text, ...values)),
      async rows(range) {
        const { text, values } = selectRange(range, maxRows)
        const startedAt = performance.now()
        const rows = await read(text, values, range.table, columnsFor(range))
        activity.rowsRead(range.query.name, performance.now() - startedAt, rows.length)
        if (range.limit === null && rows.length > maxRows) {
          throw new TooManyRows(`${range.query.name} has more than ${maxRows} rows. Ask for a page of them.`)
        }
        return rows
      },
      async row(table, key) {
        const columns = table.columns.map((_, index) => index)
        const text = `select ${columns.map((column) => quote(table.columns[column] ?? "")).join(", ")}
          from ${table.sqlName} where ${compared(table, table.key, 1, "=")}`
        const [row] = await read(text, [key], table, columns)
        return row ?? null
      },
    },
    async finish() {
      finished = true
      while (running.size > 0) await Promise.allSettled(running)
    },
  }

  async function read(text: string, values: string[], table: WatchedTable, columns: readonly number[]) {
    const found = await track(sql.unsafe(text, values, { prepare: true }).raw())
    return found.map((row) => toTuple(table, columns, row))
  }

  async function track<Value>(query: PromiseLike<Value>): Promise<Value> {
    if (finished) throw new Error("The snapshot is over.")
    const settled = Promise.resolve(query)
    running.add(settled)
    try {
      return await settled
    } finally {
      running.delete(settled)
    }
  }
}

/**
 * Besides the columns that are sent, those of the replica identity are read, so that changes can be
 * matched with the rows.
 */
function columnsFor(range: Range): number[] {
  const { table, query } = range
  const sent = query.fields.map((field) => table.position.get(field) ?? -1)
  return [...new Set([...sent, ...table.identity])]
}

function selectRange(range: Range, maxRows: number): { text: string; values: string[] } {
  const { table, shape, order, after } = range
  const values = valuesIn(range.key)
  const conditions = shape.columns.map((column, index) => compared(table, column, index + 1, "="))
  const columns = columnsFor(range).map((column) => quote(table.columns[column] ?? ""))
  let ordering = ""
  if (order) {
    const places = [order.column, ...(order.column === table.key ? [] : [table.key])]
    const sorted = places.map((column) => sortable(table, column))
    ordering = ` order by ${sorted.map((place) => `${place} ${order.direction}`).join(", ")}`
    if (after) {
      const next = order.direction === "asc" ? ">" : "<"
      const first = values.length + 1
      const limits = places.map((column, index) => parameter(table, column, first + index))
      conditions.push(`(${sorted.join(", ")}) ${next} (${limits.join(", ")})`)
      values.push(after.value, ...(places.length > 1 ? [after.key] : []))
    }
  }
  const count = range.limit ?? maxRows
  const text = `select ${columns.join(", ")} from ${table.sqlName} where ${conditions.join(" and ")}${ordering} limit ${count + 1}`
  return { text, values }
}

function compared(table: WatchedTable, column: number, number: number, operator: string): string {
  return `${quote(table.columns[column] ?? "")} ${operator} ${parameter(table, column, number)}`
}

function parameter(table: WatchedTable, column: number, number: number): string {
  return `$${number}::text::${table.types[column]}`
}

/**
 * Text is ordered by its bytes, as the engine orders it; the database's own collation may differ.
 */
function sortable(table: WatchedTable, column: number): string {
  const name = quote(table.columns[column] ?? "")
  const type = table.types[column]
  return isNumeric(table, column) || type === "uuid" || type === "boolean" ? name : `${name} collate "C"`
}

function toTuple(table: WatchedTable, columns: readonly number[], row: readonly (Buffer | null)[]): Tuple {
  const tuple = table.blank.slice()
  for (const [index, column] of columns.entries()) tuple[column] = row[index]?.toString("utf8") ?? null
  return tuple
}
