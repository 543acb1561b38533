import { readMigrationFiles } from "drizzle-orm/migrator"
import postgres from "postgres"
import { drizzle } from "drizzle-orm/postgres-js"
import { migrate as runMigrations } from "drizzle-orm/postgres-js/migrator"

/** One number for every Tideline process that starts on one database: whoever holds it migrates, the others wait. */
const MIGRATION_LOCK = 7_185_391

const OLDEST_POSTGRES = 180_000

/**
 * Brings the database at `url` to the newest schema. Safe to call from any number of processes at once.
 * `folder` holds the SQL files.
 */
export async function migrate(url: string, folder: string): Promise<void> {
  const client = postgres(url, { max: 1, onnotice: () => {}, connect_timeout: 10 })
  try {
    const [server] = await client<
      [{ version: number }]
    >`select current_setting('server_version_num')::int as version`
    if (server.version < OLDEST_POSTGRES) {
      throw new Error(
        `The database behind DATABASE_URL is PostgreSQL ${Math.floor(server.version / 10_000)}. Tideline needs 18 or newer.`,
      )
    }
    await client`select pg_advisory_lock(${MIGRATION_LOCK})`
    await refuseNewerSchema(client, folder)
    await runMigrations(drizzle(client), { migrationsFolder: folder })
  } finally {
    await client.end()
  }
}

/** An older program on a newer schema would write rows that the newer one does not expect. */
async function refuseNewerSchema(client: postgres.Sql, folder: string) {
  const [journal] = await client<[{ present: boolean }]>`
    select to_regclass('drizzle.__drizzle_migrations') is not null as present`
  if (!journal.present) return
  const [applied] = await client<[{ newest: number | null }]>`
    select max(created_at)::float8 as newest from drizzle.__drizzle_migrations`
  const newestKnown = readMigrationFiles({ migrationsFolder: folder }).at(-1)?.folderMillis ?? 0
  if (applied.newest !== null && applied.newest > newestKnown) {
    throw new Error("The database was migrated by a newer Tideline. Start that version, or restore a backup.")
  }
}
