import { createHash } from "node:crypto"

import type postgres from "postgres"

import type { Anchor } from "./anchor.ts"
import { prepareTables } from "./inspect.ts"
import type { ConnectionPool } from "../postgres/connections.ts"
import { inTransaction } from "./sql-transaction.ts"
import { openPool } from "./pool.ts"
import type { Table } from "./live-query.ts"
import { watchTable, type WatchedTable } from "./tables.ts"

export interface SetUp {
  readonly anchor: Anchor
  /** The prepared tables reflect everything committed before this position in the log. */
  readonly inspectedAt: bigint
}

/**
 * Creates what the engine keeps in the database, and prepares the watched tables. Throws an error
 * that lists everything wrong with them.
 */
export async function setUp(
  pool: ConnectionPool,
  name: string,
  tables: readonly WatchedTable[],
): Promise<SetUp> {
  return pool.useClient((sql) => inTransaction(sql, "", () => make(sql, name, tables)))
}

async function make(sql: postgres.Sql, name: string, tables: readonly WatchedTable[]): Promise<SetUp> {
  // A starting process waits for another's migration or setup.
  await sql`set local lock_timeout = 0`
  const anchor = await nameAnchor(sql, name)
  await sql`select pg_advisory_xact_lock(hashtext(${`${anchor.name} setup`}))`
  await makeOwnTables(sql)
  const inspectedAt = await prepareTables(sql, tables)
  await publish(sql, anchor.publication, tables)
  return { anchor, inspectedAt }
}

/**
 * Creates only what is missing, so that a role without the right to create it can start after
 * another role did.
 */
async function makeOwnTables(sql: postgres.Sql): Promise<void> {
  const [existing] = await sql`select to_regclass('realtime.mutations') is not null as made`
  if (existing?.["made"]) return
  await sql`create schema if not exists realtime`
  await sql`
      create table realtime.mutations (
        user_id text not null,
        mutation_id text not null,
        digest text not null,
        value json,
        xid text,
        at timestamptz not null default now(),
        primary key (user_id, mutation_id)
      )`
  await sql`create index mutations_at on realtime.mutations (at)`
}

/**
 * The same without an engine, for a role that owns the tables, run before a process starts whose
 * role does not.
 */
export async function prepareEngine(
  databaseUrl: string,
  name: string,
  tables: readonly Table[],
): Promise<void> {
  const pool = openPool(databaseUrl, 1)
  try {
    await setUp(pool, name, tables.map(watchTable))
  } finally {
    await pool.close()
  }
}

/** The names of slots are shared by all databases of a cluster. */
export async function nameAnchor(sql: postgres.Sql, name: string): Promise<Anchor> {
  const [row] = await sql`select oid from pg_database where datname = current_database()`
  return { name: `${name}_anchor_${String(row?.["oid"])}`, publication: name }
}

/** The watched tables that are not in the publication at the moment. */
export async function findUnpublished(
  sql: postgres.Sql,
  publication: string,
  tables: readonly WatchedTable[],
): Promise<WatchedTable[]> {
  const published = await sql`
    select schemaname, tablename from pg_publication_tables where pubname = ${publication}`
  const names = new Set(published.map((row) => JSON.stringify([row["schemaname"], row["tablename"]])))
  return tables.filter(
    ({ description }) => !names.has(JSON.stringify([description.schema, description.name])),
  )
}

/** Forgets mutations that were applied more than a day ago. */
export async function forgetMutations(sql: postgres.Sql): Promise<void> {
  await sql`delete from realtime.mutations where at < now() - interval '1 day'`
}

/** Everything that the form of rows depends on: positions of another form are not comparable. */
export function formOf(tables: readonly WatchedTable[]): string {
  const forms = tables.map(({ sqlName, columns, types }) => JSON.stringify([sqlName, columns, types]))
  return createHash("sha256")
    .update(forms.toSorted((a, b) => (a < b ? -1 : 1)).join())
    .digest("base64url")
}

/**
 * Adds what is missing and removes nothing: during a deployment another version may watch other
 * tables.
 */
async function publish(
  sql: postgres.Sql,
  publication: string,
  tables: readonly WatchedTable[],
): Promise<void> {
  const [existing] = await sql`select 1 from pg_publication where pubname = ${publication}`
  if (!existing) {
    await sql.unsafe(
      `create publication ${publication} for table ${tables.map((table) => table.sqlName).join(", ")}`,
    )
    return
  }
  for (const table of await findUnpublished(sql, publication, tables)) {
    await sql.unsafe(`alter publication ${publication} add table ${table.sqlName}`)
  }
}
