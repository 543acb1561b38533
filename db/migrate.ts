import { readMigrationFiles, type MigrationMeta } from "drizzle-orm/migrator"
import type postgres from "postgres"
import { NO_TIME_LIMITS } from "./time-limits.ts"
import { additionsFor, versionOf } from "./postgres-17.ts"
import { drizzle } from "drizzle-orm/postgres-js"
import { migrate as runMigrations } from "drizzle-orm/postgres-js/migrator"
import { withClient } from "./with-client.ts"

/**
 * One number for all Tideline processes that start on one database: the one that has it migrates,
 * the others wait.
 */
export const MIGRATION_LOCK = 7_185_391

/** In the form of `server_version_num`. */
export const OLDEST_POSTGRES = 170_000

/**
 * Migrates the database at `url` to the newest schema. Any number of processes may call it
 * concurrently. `folder` contains the SQL files.
 */
export async function migrate(url: string, folder: string): Promise<void> {
  return withClient(url, async (client) => {
    const version = await versionOf(client)
    if (version < OLDEST_POSTGRES) {
      throw new Error(
        `The database behind DATABASE_URL is PostgreSQL ${Math.floor(version / 10_000)}. Tideline needs 17 or newer.`,
      )
    }
    await client.unsafe(NO_TIME_LIMITS)
    await client`select pg_advisory_lock(${MIGRATION_LOCK})`
    const known = readMigrationFiles({ migrationsFolder: folder })
    if ((await isNewer(client, known)) || (await isCurrent(client, known))) return
    await client.unsafe(additionsFor(version)).catch(explainRights)
    await runMigrations(drizzle(client), { migrationsFolder: folder }).catch(explainRights)
    await noteOldestProgram(client, known)
  })
}

/**
 * Whether a newer program has migrated the database. Throws if that has changed something that this
 * one needs: migrations only add, and one that does not says so (docs/decisions/0020).
 */
async function isNewer(client: postgres.Sql, known: readonly MigrationMeta[]): Promise<boolean> {
  const newest = await findNewestApplied(client)
  const newestKnown = known.at(-1)?.folderMillis ?? 0
  if (newest === null || newest <= newestKnown) return false
  if ((await findOldestProgram(client)) > newestKnown) {
    throw new Error("The database was migrated by a newer Tideline. Start that version, or restore a backup.")
  }
  return true
}

async function findNewestApplied(client: postgres.Sql): Promise<number | null> {
  const [journal] = await client<[{ present: boolean }]>`
    select to_regclass('drizzle.__drizzle_migrations') is not null as present`
  if (!journal.present) return null
  const [applied] = await client<[{ newest: number | null }]>`
    select max(created_at)::float8 as newest from drizzle.__drizzle_migrations`
  return applied.newest
}

/**
 * Whether there is nothing to write: the program's own role may not be allowed to, if another one
 * migrates.
 */
async function isCurrent(client: postgres.Sql, known: readonly MigrationMeta[]): Promise<boolean> {
  const newest = await findNewestApplied(client)
  return newest === known.at(-1)?.folderMillis && (await findOldestProgram(client)) === oldestProgramOf(known)
}

function explainRights(cause: unknown): never {
  const failed = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause
  if (!(failed instanceof Error && "code" in failed && failed.code === "42501")) throw cause
  throw new Error(
    "The database is not of this version yet, and the role of DATABASE_URL may not change its tables. As the one that may, run: " +
      "npm run migrate (with containers: docker compose run --rm database).",
    { cause },
  )
}

/**
 * The time in the name of the last migration that a program must know to work with this database.
 */
async function findOldestProgram(client: postgres.Sql): Promise<number> {
  const [table] = await client<[{ present: boolean }]>`
    select to_regclass('drizzle.oldest_program') is not null as present`
  if (!table.present) return Infinity
  const [row] = await client<{ migration: number }[]>`
    select migration::float8 as migration from drizzle.oldest_program`
  return row?.migration ?? Infinity
}

/** Marks a migration after which programs that know fewer migrations cannot work. */
const MARK = /^-- No program before (\d{4}) runs on this\.$/m

function oldestProgramOf(known: readonly MigrationMeta[]): number {
  const marked = known.map(({ sql }) => known[Number(MARK.exec(sql.join("\n"))?.[1] ?? 0)]?.folderMillis ?? 0)
  return Math.max(0, ...marked)
}

async function noteOldestProgram(client: postgres.Sql, known: readonly MigrationMeta[]) {
  const oldest = oldestProgramOf(known)
  await client`
    create table if not exists drizzle.oldest_program (
      single boolean primary key default true check (single),
      migration bigint not null
    )`
  await client`
    insert into drizzle.oldest_program (migration) values (${oldest})
    on conflict (single) do update set migration = excluded.migration
    where oldest_program.migration <> excluded.migration`
}
