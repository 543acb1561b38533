import { readMigrationFiles } from "drizzle-orm/migrator"
import { REMOVE_ADDITIONS } from "./postgres-17.ts"
import { livingProcessCount } from "./process-lock.ts"
import { withClient } from "./with-client.ts"

/** Throws if a Tideline is running on the database at `url`. */
export async function refuseWhileRunning(url: string): Promise<void> {
  const living = await withClient(url, livingProcessCount)
  if (living === 0) return
  throw new Error(
    living === 1
      ? "A Tideline runs on this database. Stop it first."
      : `${living} Tideline processes run on this database. Stop them first.`,
  )
}

/**
 * Removes, in one transaction, every table and function that the migrations in `folder` ever
 * created, and nothing that others created beside them.
 */
export async function removeSchema(url: string, folder: string): Promise<void> {
  const made = readMigrationFiles({ migrationsFolder: folder }).flatMap(({ sql }) => sql)
  await withClient(url, (client) =>
    client.begin(async (sql) => {
      await sql`drop schema if exists auth, drizzle cascade`
      for (const name of namesIn(made, /CREATE TABLE (?:IF NOT EXISTS )?"(\w+)"(?!\.)/g))
        await sql`drop table if exists ${sql(`public.${name}`)} cascade`
      for (const name of namesIn(made, /CREATE (?:OR REPLACE )?FUNCTION "(\w+)"(?!\.)/g))
        await sql`drop function if exists ${sql(`public.${name}`)} cascade`
      await sql.unsafe(REMOVE_ADDITIONS)
    }),
  )
}

function namesIn(statements: string[], pattern: RegExp): Set<string> {
  return new Set(statements.flatMap((text) => [...text.matchAll(pattern)].map(([, name = ""]) => name)))
}
