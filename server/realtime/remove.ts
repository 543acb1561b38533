import { nameAnchor } from "./setup.ts"
import { openPool } from "./pool.ts"

/** What was removed. */
export interface Removed {
  slots: number
  publication: boolean
}

/**
 * Removes what the engine called `name` keeps in the database, so that PostgreSQL keeps no log for
 * it. Call it when no process runs and none will; a process that starts creates everything again.
 * Can be repeated.
 */
export async function removeEngine(databaseUrl: string, name: string): Promise<Removed> {
  const pool = openPool(databaseUrl, 1)
  try {
    return await pool.useClient(async (sql) => {
      const anchor = await nameAnchor(sql, name)
      // Slots of processes that were killed a moment ago disappear by themselves.
      const slots = await sql`
        select pg_drop_replication_slot(slot_name) from pg_replication_slots
        where starts_with(slot_name, ${anchor.name}) and database = current_database() and not temporary`
      const publications = await sql`select from pg_publication where pubname = ${anchor.publication}`
      await sql.unsafe(
        `drop publication if exists ${anchor.publication}; drop schema if exists realtime cascade`,
      )
      return { slots: slots.length, publication: publications.length > 0 }
    })
  } finally {
    await pool.close()
  }
}
