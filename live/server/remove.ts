import type postgres from "postgres"
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
export function removeEngine(databaseUrl: string, name: string): Promise<Removed> {
  return withSession(databaseUrl, async (sql) => {
    const slots = await dropSlots(sql, name)
    const publications = await sql`select from pg_publication where pubname = ${name}`
    await sql.unsafe(`drop publication if exists ${name}; drop schema if exists realtime cascade`)
    return { slots, publication: publications.length > 0 }
  })
}

/**
 * Removes the slots that it keeps on another server of the cluster, where everything else is
 * replicated. Returns how many there were.
 */
export function removeSlots(followedUrl: string, name: string): Promise<number> {
  return withSession(followedUrl, (sql) => dropSlots(sql, name))
}

/** Those of processes that were killed a moment ago disappear by themselves. */
async function dropSlots(sql: postgres.Sql, name: string): Promise<number> {
  const anchor = await nameAnchor(sql, name)
  const slots = await sql`
    select pg_drop_replication_slot(slot_name) from pg_replication_slots
    where starts_with(slot_name, ${anchor.name}) and database = current_database() and not temporary`
  return slots.length
}

async function withSession<Result>(url: string, work: (sql: postgres.Sql) => Promise<Result>) {
  const pool = openPool(url, 1)
  try {
    return await pool.useClient(work)
  } finally {
    await pool.close()
  }
}
