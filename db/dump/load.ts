import { createHash } from "node:crypto"
import { pipeline } from "node:stream/promises"
import { readMigrationFiles } from "drizzle-orm/migrator"
import { openConnectionPool, openOneConnection } from "#live/check"
import { additionsFor, versionOf } from "#db/postgres-17.ts"
import { inTransaction, type Run } from "#db/transaction.ts"
import { NO_TIME_LIMITS } from "#db/time-limits.ts"
import {
  copyIn,
  copyOut,
  fixTextForm,
  identifier,
  listTables,
  SCHEMAS,
  type SequenceState,
  type TableForm,
} from "./form.ts"
import { readCopy } from "./read-copy.ts"
import type { SchemaState } from "./write.ts"

/** The dump to load. */
export interface WrittenDump {
  schema: SchemaState
  tables: (TableForm & { rows: number; sha256: string })[]
  sequences: SequenceState[]
  /** The lines of a table, as they are read. */
  open(table: TableForm): AsyncIterable<Uint8Array>
}

export interface Loaded {
  /** Tables of the dump that Tideline does not create: the operator added them. */
  foreign: TableForm[]
}

/**
 * Throws an error that says what to do if the database at `url` has already been used by a
 * Tideline.
 */
export async function refuseUsedDatabase(url: string): Promise<void> {
  await withConnection(url, async (run) => refuseUsed(run))
}

/**
 * Throws if the migrations in `folder` do not include `schema`: a newer or a different Tideline
 * created it.
 */
export function refuseUnknownSchema({ at, hash }: SchemaState, folder: string): void {
  const known = readMigrationFiles({ migrationsFolder: folder }).find(
    ({ folderMillis }) => folderMillis === at,
  )
  if (known?.hash === hash) return
  throw new Error(
    "The backup was made by a newer Tideline than this one. Restore it with that version or a later one.",
  )
}

/**
 * Creates the schema that the dump was taken from in an empty database, and loads the rows;
 * everything or nothing. The loaded rows are read back and compared. `finish` runs in the same
 * transaction.
 */
export async function loadDump(
  url: string,
  migrations: string,
  dump: WrittenDump,
  finish: (run: Run) => Promise<void>,
): Promise<Loaded> {
  return withConnection(url, async (run) => {
    await refuseUsed(run)
    await fixTextForm(run)
    await migrateTo(run, migrations, dump.schema)
    const made = new Set((await listTables(run)).map(nameOf))
    const tables = dump.tables.filter((table) => made.has(nameOf(table)))
    const foreignKeys = await setForeignKeysAside(run)
    for (const table of tables) await load(run, table, dump.open(table))
    for (const { schema, name, value, isCalled } of dump.sequences) {
      await run(
        (sql) => sql`select setval(to_regclass(${identifier(schema, name)}), ${value}::bigint, ${isCalled})`,
      )
    }
    for (const statement of foreignKeys) await run((sql) => sql.unsafe(statement))
    for (const table of tables) await compare(run, table)
    await finish(run)
    return { foreign: dump.tables.filter((table) => !made.has(nameOf(table))) }
  })
}

async function withConnection<Result>(url: string, work: (run: Run) => Promise<Result>): Promise<Result> {
  const connections = openConnectionPool(1, (onclose) =>
    openOneConnection(url, { application: "tideline restore", onclose }),
  )
  try {
    return await connections.use(async (connection) => {
      await connection.run((sql) => sql.unsafe(NO_TIME_LIMITS))
      return inTransaction(connection, work)
    })
  } finally {
    await connections.close()
  }
}

async function refuseUsed(run: Run) {
  const [found] = await run(
    (sql) => sql<{ used: boolean }[]>`
      select to_regclass('drizzle.__drizzle_migrations') is not null
        or to_regclass('public.users') is not null or to_regnamespace('auth') is not null as used`,
  )
  if (!found?.used) return
  throw new Error(
    "The database is not empty: a Tideline has used it. A backup is restored into a new one, before the first start: " +
      "another DATABASE_URL, or another DATA_DIR where the database is embedded. Nothing was changed.",
  )
}

/** Like db/migrate.ts, but not further than the dump. */
async function migrateTo(run: Run, folder: string, schema: SchemaState) {
  const version = await run((sql) => versionOf(sql))
  await run((sql) => sql.unsafe(additionsFor(version)))
  await run((sql) =>
    sql.unsafe(`
      create schema if not exists drizzle;
      create table drizzle.__drizzle_migrations (id serial primary key, hash text not null, created_at bigint)`),
  )
  for (const migration of readMigrationFiles({ migrationsFolder: folder })) {
    if (migration.folderMillis > schema.at) return
    for (const statement of migration.sql) await run((sql) => sql.unsafe(statement))
    await run(
      (sql) => sql`
        insert into drizzle.__drizzle_migrations (hash, created_at) values (${migration.hash}, ${migration.folderMillis})`,
    )
  }
}

/**
 * Rows are loaded table by table and refer to later tables, so foreign keys are dropped first.
 * Returns a function that creates them again, which checks every row.
 */
async function setForeignKeysAside(run: Run): Promise<string[]> {
  const keys = await run(
    (sql) => sql<{ table: string; name: string; definition: string }[]>`
      select conrelid::regclass::text as table, conname::text as name, pg_get_constraintdef(pg_constraint.oid) as definition
      from pg_constraint join pg_namespace on pg_namespace.oid = connamespace
      where contype = 'f' and nspname in ${sql.unsafe(SCHEMAS)} order by conrelid, conname`,
  )
  for (const { table, name } of keys) {
    await run((sql) => sql.unsafe(`alter table ${table} drop constraint ${identifier(name)}`))
  }
  return keys.map(
    ({ table, name, definition }) => `alter table ${table} add constraint ${identifier(name)} ${definition}`,
  )
}

/** Triggers are off: they already ran when each row was first written. */
async function load(run: Run, table: TableForm, lines: AsyncIterable<Uint8Array>) {
  const named = identifier(table.schema, table.name)
  await run((sql) => sql.unsafe(`alter table ${named} disable trigger user; truncate ${named}`))
  try {
    await run(async (sql) => {
      const copy = await sql.unsafe(copyIn(table)).writable()
      await pipeline(lines, copy, { end: false })
      copy.end()
      // The driver does not report an error after the last line, and its stream never ends then.
      // The next statement fails.
      await sql`select 1`
    })
  } catch (error) {
    throw new Error(`PostgreSQL did not accept the rows of ${nameOf(table)}. Nothing was restored.`, {
      cause: error,
    })
  }
  await run((sql) => sql.unsafe(`alter table ${named} enable trigger user`))
}

async function compare(run: Run, table: TableForm & { sha256: string }) {
  const statement = await copyOut(run, table)
  const sha256 = await readCopy(run, statement, async (lines) => {
    const hash = createHash("sha256")
    for await (const chunk of lines) hash.update(chunk)
    return hash.digest("hex")
  })
  if (sha256 === table.sha256) return
  throw new Error(
    `${nameOf(table)} has other rows after it was loaded than in the backup. Nothing was restored.`,
  )
}

export function nameOf({ schema, name }: { schema: string; name: string }): string {
  return `${schema}.${name}`
}
