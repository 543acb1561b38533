import { createHash } from "node:crypto"

import type postgres from "postgres"

import type { Anchor } from "./anchor.ts"
import { inTransaction, type Lanes } from "./lanes.ts"
import type { WatchedTable } from "./tables.ts"

/** Makes what the engine keeps in the database, and checks that the watched tables can be watched. Throws with all that is wrong. */
export async function setUp(lanes: Lanes, name: string, tables: readonly WatchedTable[]): Promise<Anchor> {
  return lanes.use((lane) => inTransaction(lane, "", () => make(lane, name, tables)))
}

async function make(sql: postgres.Sql, name: string, tables: readonly WatchedTable[]): Promise<Anchor> {
  const [level] = await sql`
    select current_setting('wal_level') as level, oid from pg_database where datname = current_database()`
  if (level?.["level"] !== "logical") {
    throw new Error(
      `PostgreSQL runs with wal_level=${String(level?.["level"])}. Set it to logical and restart PostgreSQL.`,
    )
  }
  // The names of slots are shared by all databases of a cluster.
  const anchor = { name: `${name}_anchor_${String(level["oid"])}`, publication: name }
  await sql`select pg_advisory_xact_lock(hashtext(${`${anchor.name} setup`}))`
  await sql`create schema if not exists realtime`
  await sql`
      create table if not exists realtime.mutations (
        user_id text not null,
        mutation_id text not null,
        digest text not null,
        value json,
        xid text,
        at timestamptz not null default now(),
        primary key (user_id, mutation_id)
      )`
  await sql`create index if not exists mutations_at on realtime.mutations (at)`
  await readTypes(sql, tables)
  await publish(sql, anchor.publication, tables)
  return anchor
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

/** Forgets which mutations were applied more than a day ago. */
export async function forgetMutations(sql: postgres.Sql): Promise<void> {
  await sql`delete from realtime.mutations where at < now() - interval '1 day'`
}

/** What the rows' form depends on; a position of another form means nothing here. */
export function formOf(tables: readonly WatchedTable[]): string {
  const forms = tables.map(({ sqlName, columns, types }) => JSON.stringify([sqlName, columns, types]))
  return createHash("sha256")
    .update(forms.toSorted((a, b) => (a < b ? -1 : 1)).join())
    .digest("base64url")
}

async function readTypes(sql: postgres.Sql, tables: readonly WatchedTable[]): Promise<void> {
  const problems: string[] = []
  for (const table of tables) {
    const { description, sqlName } = table
    const columns = await sql`
      select attname, format_type(atttypid, null) as type, atttypid::int8 as oid, attnotnull from pg_attribute
      where attrelid = to_regclass(${sqlName}) and attnum > 0 and not attisdropped`
    for (const [index, name] of table.columns.entries()) {
      const column = columns.find((each) => each["attname"] === name)
      if (!column) problems.push(`${sqlName} has no column ${name}.`)
      table.types[index] = String(column?.["type"])
      table.oids[index] = Number(column?.["oid"])
      table.nullable[index] = column?.["attnotnull"] !== true
    }
    const [identity] = await sql`
      select relreplident as kind, to_json(array(
        select attname::text from pg_index join pg_attribute on attrelid = indrelid and attnum = any(indkey)
        where indrelid = pg_class.oid and indisreplident)) as columns
      from pg_class where oid = to_regclass(${sqlName})`
    const covered: unknown = identity?.["columns"]
    const lacking = [...table.identity]
      .map((column) => table.columns[column] ?? "")
      .filter((name) => !Array.isArray(covered) || !covered.includes(name))
    if (identity?.["kind"] === "f" || (identity?.["kind"] === "i" && lacking.length === 0)) continue
    problems.push(
      `The replica identity of ${sqlName} lacks ${lacking.join(", ")}. Make a unique index over ` +
        `(${[...table.identity].map((column) => table.columns[column]).join(", ")}) and run ` +
        `ALTER TABLE ${description.name} REPLICA IDENTITY USING INDEX with it.`,
    )
  }
  if (problems.length > 0) throw new Error(`These tables cannot be watched:\n${problems.join("\n")}`)
}

/** Adds what is missing and takes nothing away: during a deployment another version may watch other tables. */
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
