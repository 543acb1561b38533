import type postgres from "postgres"

import type { Inspection } from "./layout.ts"
import { lsnFromSql } from "./lsn.ts"
import type { WatchedTable } from "./tables.ts"

interface Described {
  columns: { name: string; type: string; oid: number; nullable: boolean }[]
  /** PostgreSQL's code for the replica identity, and the columns of its index. */
  identity: { kind: string; columns: string[] }
}

/**
 * Reads the column types of the watched tables into them. Returns the position in the log that they
 * are from. Throws an error that lists everything wrong with the tables.
 */
export async function prepareTables(sql: postgres.Sql, tables: readonly WatchedTable[]): Promise<bigint> {
  const { at, found } = await describe(sql, tables)
  const problems: string[] = []
  for (const table of tables) {
    const described = found.get(table)
    for (const [index, name] of table.columns.entries()) {
      const column = described?.columns.find((each) => each.name === name)
      table.types[index] = String(column?.type)
      table.oids[index] = Number(column?.oid)
      table.nullable[index] = column?.nullable !== false
    }
    problems.push(...problemsOf(table, described))
  }
  if (problems.length > 0) throw new Error(`These tables cannot be watched:\n${problems.join("\n")}`)
  return at
}

/** Compares the watched tables, as they were prepared, with what the catalogue says now. */
export async function inspectTables(sql: postgres.Sql, tables: readonly WatchedTable[]): Promise<Inspection> {
  const { at, found } = await describe(sql, tables)
  const problems = new Map<WatchedTable, string[]>()
  for (const table of tables) {
    const described = found.get(table)
    const retyped = table.columns.filter((name, index) =>
      described?.columns.some((column) => column.name === name && column.oid !== table.oids[index]),
    )
    const all = [
      ...problemsOf(table, described),
      ...retyped.map((name) => `${table.sqlName} has another type for ${name}.`),
    ]
    if (all.length > 0) problems.set(table, all)
  }
  return { at, problems }
}

function problemsOf(table: WatchedTable, described: Described | undefined): string[] {
  const { sqlName, description, columns } = table
  const missing = columns.filter((name) => !described?.columns.some((column) => column.name === name))
  const problems = missing.map((name) => `${sqlName} has no column ${name}.`)
  const identity = [...table.identity].map((column) => columns[column] ?? "")
  const named = described?.identity
  const lacking = identity.filter((name) => !named?.columns.includes(name))
  if (named?.kind === "f" || (named?.kind === "i" && lacking.length === 0)) return problems
  return [
    ...problems,
    `The replica identity of ${sqlName} lacks ${lacking.join(", ")}. Make a unique index over ` +
      `(${identity.join(", ")}) and run ALTER TABLE ${description.name} REPLICA IDENTITY USING INDEX with it.`,
  ]
}

/** The position is read first: a commit in between is seen, and counts as later. */
async function describe(sql: postgres.Sql, tables: readonly WatchedTable[]) {
  const [place] = await sql`select pg_current_wal_insert_lsn()::text as lsn`
  const rows = await sql<{ name: string; described: Described }[]>`
    select name, json_build_object(
      'columns', coalesce((
        select json_agg(json_build_object(
          'name', attname, 'type', format_type(atttypid, null), 'oid', atttypid::int8, 'nullable', not attnotnull))
        from pg_attribute where attrelid = pg_class.oid and attnum > 0 and not attisdropped), '[]'),
      'identity', json_build_object('kind', relreplident, 'columns', array(
        select attname::text from pg_index join pg_attribute on attrelid = indrelid and attnum = any(indkey)
        where indrelid = pg_class.oid and indisreplident))) as described
    from json_array_elements_text(${JSON.stringify(tables.map(({ sqlName }) => sqlName))}::text::json) name
    join pg_class on pg_class.oid = to_regclass(name)`
  const byName = new Map(rows.map(({ name, described }) => [name, described]))
  const found = new Map<WatchedTable, Described>()
  for (const table of tables) {
    const described = byName.get(table.sqlName)
    if (described) found.set(table, described)
  }
  return { at: lsnFromSql(String(place?.["lsn"])), found }
}
