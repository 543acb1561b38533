import type { Run } from "#db/transaction.ts"

/** A table in a dump. */
export interface TableForm {
  schema: string
  name: string
  /** In the order of the dump's lines. */
  columns: string[]
}

export interface SequenceState {
  schema: string
  name: string
  /** Decimal. */
  value: string
  isCalled: boolean
}

/**
 * The product's own schemas. `drizzle` is written by the migrations, and `realtime` describes only
 * this cluster's log.
 */
export const SCHEMAS = "('public', 'auth')"

/** Settings that make values print as the same text on every server and database. */
export async function fixTextForm(run: Run): Promise<void> {
  await run((sql) =>
    sql.unsafe(`
      set local client_encoding = 'UTF8'; set local timezone = 'UTC'; set local datestyle = 'ISO, YMD';
      set local intervalstyle = 'iso_8601'; set local extra_float_digits = 1; set local bytea_output = 'hex'`),
  )
}

/** The tables of the schemas, by name. */
export async function listTables(run: Run): Promise<TableForm[]> {
  const rows = await run(
    (sql) => sql<TableForm[]>`
      select nspname as schema, relname as name, to_json(array(
        select attname::text from pg_attribute
        where attrelid = pg_class.oid and attnum > 0 and not attisdropped and attgenerated = ''
        order by attnum)) as columns
      from pg_class join pg_namespace on pg_namespace.oid = relnamespace
      where nspname in ${sql.unsafe(SCHEMAS)} and relkind = 'r' and relpersistence = 'p'
        and not exists (select from pg_depend where objid = pg_class.oid and deptype = 'e')
      order by nspname collate "C", relname collate "C"`,
  )
  return rows.map(({ schema, name, columns }) => ({ schema, name, columns }))
}

/** Throws an error that says what to do if the connection's user may not read one. */
export async function listSequences(run: Run): Promise<SequenceState[]> {
  const names = await run(
    (sql) => sql<{ schema: string; name: string }[]>`
      select schemaname as schema, sequencename as name from pg_sequences where schemaname in ${sql.unsafe(SCHEMAS)} order by 1, 2`,
  )
  const states: SequenceState[] = []
  for (const { schema, name } of names) {
    const [state] = await run((sql) =>
      sql.unsafe(
        `select last_value::text as value, is_called as "isCalled" from ${identifier(schema, name)}`,
      ),
    ).catch((error: unknown) => {
      throw explainRefusal(error, { schema, name })
    })
    states.push({ schema, name, value: String(state?.["value"]), isCalled: state?.["isCalled"] === true })
  }
  return states
}

/** SQL that outputs the table, one line per row, in an order that depends only on the rows. */
export async function copyOut(run: Run, table: TableForm): Promise<string> {
  const named = identifier(table.schema, table.name)
  const key = await run(
    (sql) => sql<{ name: string; collated: boolean }[]>`
      select attname::text as name, attcollation <> 0 as collated
      from pg_index, unnest(indkey) with ordinality as keys(attnum, at)
        join pg_attribute using (attnum)
      where indrelid = to_regclass(${named}) and indisprimary and attrelid = indrelid order by at`,
  )
  const order = key.map(({ name, collated }) => `${identifier(name)}${collated ? ' collate "C"' : ""}`)
  const columns = table.columns.map((column) => identifier(column)).join(", ")
  const sorted = order.length > 0 ? order.join(", ") : `(${named}.*)::text collate "C"`
  return `copy (select ${columns} from ${named} order by ${sorted}) to stdout`
}

/** SQL that reads those lines. */
export function copyIn({ schema, name, columns }: TableForm): string {
  return `copy ${identifier(schema, name)} (${columns.map((column) => identifier(column)).join(", ")}) from stdin`
}

/**
 * PostgreSQL's refusal to read a table or a sequence, with its name and what to do. Other errors
 * are returned unchanged.
 */
export function explainRefusal(error: unknown, { schema, name }: { schema: string; name: string }): unknown {
  if (!(error instanceof Error && "code" in error && error.code === INSUFFICIENT_PRIVILEGE)) return error
  return new Error(
    `The user of DATABASE_URL may not read all of ${identifier(schema, name)}. Let it (\`grant select\`, and \`bypassrls\` where the table ` +
      "hides rows), or move what is not Tideline's into another schema, which is not backed up. No backup was written.",
    { cause: error },
  )
}

const INSUFFICIENT_PRIVILEGE = "42501"

export function identifier(...names: string[]): string {
  return names.map((name) => `"${name.replaceAll('"', '""')}"`).join(".")
}
