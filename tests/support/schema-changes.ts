import type postgres from "postgres"

interface Column {
  table: string
  type: string
  isNotNull: boolean
  isFilled: boolean
}

interface Rule {
  table: string
  columns: string[]
  text: string
  /** Whether the columns are unique together. */
  isKey: boolean
}

/** What a program may rely on in a database, by name. */
export interface Schema {
  tables: Set<string>
  /** By table and column. */
  columns: Map<string, Column>
  /** What may reject a row, by table and name: constraints and unique indexes. */
  rules: Map<string, Rule>
  functions: Set<string>
  /** The columns of the replica identity, by table. */
  identities: Map<string, string[]>
}

const OURS = "('public', 'auth')"

export async function readSchema(sql: postgres.Sql): Promise<Schema> {
  const columns = await sql.unsafe<(Column & { name: string })[]>(`
    select format('%s.%s', relnamespace::regnamespace, relname) as "table", attname as name,
      format_type(atttypid, atttypmod) as type, attnotnull as "isNotNull",
      atthasdef or attidentity <> '' as "isFilled"
    from pg_attribute join pg_class on pg_class.oid = attrelid
    where relkind in ('r', 'p') and attnum > 0 and not attisdropped and relnamespace::regnamespace::text in ${OURS}`)
  const rules = await sql.unsafe<(Rule & { name: string })[]>(`
    select format('%s.%s', relnamespace::regnamespace, relname) as "table", conname as name,
      pg_get_constraintdef(pg_constraint.oid) as text, false as "isKey",
      to_json(array(select attname::text from pg_attribute where attrelid = conrelid and attnum = any(conkey))) as columns
    from pg_constraint join pg_class on pg_class.oid = conrelid
    where contype in ('c', 'f', 'x') and relnamespace::regnamespace::text in ${OURS}
    union all
    select format('%s.%s', relnamespace::regnamespace, relname), (select relname from pg_class where oid = indexrelid),
      substring(pg_get_indexdef(indexrelid) from ' USING .*'), indpred is null and indexprs is null,
      to_json(array(select attname::text from pg_attribute where attrelid = indrelid and attnum = any(indkey)))
    from pg_index join pg_class on pg_class.oid = indrelid
    where indisunique and relnamespace::regnamespace::text in ${OURS}`)
  const functions = await sql.unsafe<{ name: string }[]>(`
    select oid::regprocedure::text as name from pg_proc where pronamespace::regnamespace::text in ${OURS}`)
  const identities = await sql.unsafe<{ table: string; columns: string[] }[]>(`
    select indrelid::regclass::text as "table",
      array(select attname::text from pg_attribute where attrelid = indrelid and attnum = any(indkey)) as columns
    from pg_index where indisreplident`)
  return {
    tables: new Set(columns.map(({ table }) => table)),
    columns: new Map(columns.map(({ name, ...column }) => [`${column.table}.${name}`, column])),
    rules: new Map(rules.map(({ name, ...rule }) => [`${rule.table}: ${name}`, rule])),
    functions: new Set(functions.map(({ name }) => name)),
    identities: new Map(identities.map(({ table, columns: names }) => [table, names])),
  }
}

/** The changes that break a program written for `before` when it runs on `after`, in words. */
export function findBreaks(before: Schema, after: Schema): string[] {
  return [
    ...without(before.tables, after.tables).map((table) => `${table} is gone`),
    ...without(before.functions, after.functions).map((name) => `the function ${name} is gone`),
    ...breaksOfColumns(before, after),
    ...breaksOfRules(before, after),
    ...[...before.identities].flatMap(([table, columns]) => {
      const kept = after.identities.get(table)
      return kept && columns.some((column) => !kept.includes(column))
        ? [`the replica identity of ${table} has lost a column`]
        : []
    }),
  ]
}

function* breaksOfColumns(before: Schema, after: Schema): Generator<string> {
  for (const [name, { table, type, isNotNull, isFilled }] of before.columns) {
    if (!after.tables.has(table)) continue
    const now = after.columns.get(name)
    if (!now) yield `${name} is gone`
    else if (now.type !== type) yield `${name} was ${type} and is ${now.type}`
    else if (now.isNotNull && !isNotNull) yield `${name} may no longer be null`
    else if (now.isNotNull && isFilled && !now.isFilled) yield `${name} has lost its default`
  }
  for (const [name, { table, isNotNull, isFilled }] of after.columns) {
    const isNew = before.tables.has(table) && !before.columns.has(name)
    if (isNew && isNotNull && !isFilled) yield `${name} is new, has no default and may not be null`
  }
}

/** Rules of new columns, and those implied by others, reject nothing that was accepted before. */
function* breaksOfRules(before: Schema, after: Schema): Generator<string> {
  for (const [name, { table, columns, text, isKey }] of after.rules) {
    if (!before.tables.has(table) || before.rules.get(name)?.text === text) continue
    const known = columns.filter((column) => before.columns.has(`${table}.${column}`))
    const follows = [...before.rules.values()].some(
      (rule) =>
        rule.table === table &&
        (rule.text === text ||
          (rule.isKey && isKey && rule.columns.every((column) => columns.includes(column)))),
    )
    if (known.length > 0 && !follows) yield `${name} refuses what was accepted`
  }
  const texts = new Set([...after.rules.values()].map(({ table, text }) => `${table}${text}`))
  for (const [name, { table, text, isKey }] of before.rules) {
    if (isKey && after.tables.has(table) && !texts.has(`${table}${text}`))
      yield `${name} is gone, by which rows were told apart`
  }
}

function without(before: ReadonlySet<string>, after: ReadonlySet<string>): string[] {
  return [...before].filter((name) => !after.has(name))
}
