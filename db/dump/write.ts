import { BACKUP_LOCK, BackupRunning, REMOVAL_LOCK } from "#db/backup-locks.ts"
import { type Connection, openConnectionPool, openOneConnection } from "#live/check"
import { MIGRATION_LOCK } from "#db/migrate.ts"
import { inTransaction, type Run } from "#db/transaction.ts"
import { NO_TIME_LIMITS } from "#db/time-limits.ts"
import {
  copyOut,
  explainRefusal,
  fixTextForm,
  identifier,
  listSequences,
  listTables,
  type SequenceState,
  type TableForm,
} from "./form.ts"
import { readCopy } from "./read-copy.ts"

/** The last migration of a database. */
export interface SchemaState {
  /** Its creation time, from the journal of the migrations. */
  at: number
  /** Hex: SHA-256 of its SQL. */
  hash: string
}

/** All rows at one moment, while others continue to write. */
export interface Dump {
  /** By the database's clock. */
  takenAt: Date
  schema: SchemaState
  tables: TableForm[]
  sequences: SequenceState[]
  /** The rows of a table, in COPY's text format. The work is done when they have been read. */
  read<Result>(table: TableForm, work: (lines: AsyncIterable<Uint8Array>) => Promise<Result>): Promise<Result>
  /** The same for `key`, `size` and `sha256` of the bytes of files, ordered by key. */
  readBlobs<Result>(work: (lines: AsyncIterable<Uint8Array>) => Promise<Result>): Promise<Result>
}

/**
 * Runs `work` on a dump, and then `afterwards`, when PostgreSQL may vacuum again. Until both are
 * done nobody deletes bytes that a row of the dump refers to. Throws if another backup is running,
 * if no Tideline has used the database, or if the connection was lost. If a newer Tideline has
 * migrated the database, it is dumped as it is.
 */
export async function withDump<Written, Result>(
  url: string,
  work: (dump: Dump) => Promise<Written>,
  afterwards: (written: Written) => Promise<Result>,
): Promise<Result> {
  const connections = openConnectionPool(1, (onclose) =>
    openOneConnection(url, { application: "tideline backup", onclose }),
  )
  try {
    return await connections.use(async (connection) => {
      await connection.run((sql) => sql.unsafe(NO_TIME_LIMITS))
      try {
        await takeLocks(connection)
        const tables = await listTables((statement) => connection.run(statement))
        const written = await inTransaction(connection, (run) => dumpIn(run, tables, work))
        const result = await afterwards(written)
        // The locks went with the connection, if it was lost.
        await connection.run((sql) => sql`select 1`)
        return result
      } finally {
        await releaseLocks(connection)
      }
    })
  } finally {
    await connections.close()
  }
}

async function takeLocks(connection: Connection) {
  const [first] = await connection.run(
    (sql) => sql<{ taken: boolean }[]>`select pg_try_advisory_lock(${BACKUP_LOCK}) as taken`,
  )
  if (!first?.taken)
    throw new BackupRunning("Another backup of this database is running. Wait for it to end.")
  // Anything that is deleting bytes at this moment also deletes their row before the dump begins.
  await connection.run((sql) => sql`select pg_advisory_lock(${REMOVAL_LOCK})`)
  // Until the tables are locked no migration creates or drops any. A Tideline that starts in the
  // meantime waits.
  await connection.run((sql) => sql`select pg_advisory_lock_shared(${MIGRATION_LOCK})`)
}

/** The end of the connection would release them as well, but a moment after we have returned. */
async function releaseLocks(connection: Connection) {
  if (!connection.isLost) await connection.run((sql) => sql`select pg_advisory_unlock_all()`).catch(() => {})
}

async function dumpIn<Written>(run: Run, tables: TableForm[], work: (dump: Dump) => Promise<Written>) {
  await run((sql) => sql.unsafe("set transaction isolation level repeatable read, read only"))
  await fixTextForm(run)
  // If rows are hidden from this user, COPY fails instead of leaving them out.
  await run((sql) => sql.unsafe("set local row_security = off"))
  // Before the first select, which takes the snapshot: an older one would see a table as empty that
  // has been truncated or rewritten since.
  for (const table of tables) await lock(run, table)
  const schema = await readSchemaState(run)
  await run((sql) => sql`select pg_advisory_unlock_shared(${MIGRATION_LOCK})`)
  const [moment] = await run((sql) => sql<{ at: string }[]>`select now()::text as at`)
  return work({
    takenAt: new Date(moment?.at ?? ""),
    schema,
    tables,
    sequences: await listSequences(run),
    read: async (table, take) =>
      readCopy(run, await copyOut(run, table), take).catch((error: unknown) => {
        throw explainRefusal(error, table)
      }),
    readBlobs: (take) => readCopy(run, BLOBS, take),
  })
}

/** Others can read and write it, and wait to alter it. */
async function lock(run: Run, table: TableForm) {
  await run((sql) =>
    sql.unsafe(`lock table only ${identifier(table.schema, table.name)} in access share mode`),
  ).catch((error: unknown) => {
    throw explainRefusal(error, table)
  })
}

/** A row that no file uses may have lost its bytes already, and the sweep deletes it. */
const BLOBS = `
  copy (
    select key, size, sha256 from public.blobs
    where exists (select from public.files where storage_id = blobs._id) order by key collate "C"
  ) to stdout`

async function readSchemaState(run: Run): Promise<SchemaState> {
  const [journal] = await run(
    (sql) =>
      sql<{ present: boolean }[]>`select to_regclass('drizzle.__drizzle_migrations') is not null as present`,
  )
  const [newest] = journal?.present
    ? await run(
        (sql) => sql<{ at: string; hash: string }[]>`
          select created_at::text as at, hash from drizzle.__drizzle_migrations order by created_at desc limit 1`,
      )
    : []
  if (!newest) throw new Error("There is nothing to back up: Tideline has not used this database yet.")
  return { at: Number(newest.at), hash: newest.hash }
}
