import { randomUUID } from "node:crypto"
import { openPostgres } from "./servers.ts"

/** Databases of this name are nobody's once the work in them has ended. */
const SCRATCH = "tideline_check_"

/**
 * Runs `work` with the URL of a new, empty database on the server of `url`, which is removed
 * afterwards. False, without running it, if the role may not create a database.
 */
export async function withScratchDatabase(
  url: string,
  work: (url: string) => Promise<void>,
): Promise<boolean> {
  const sql = openPostgres(url, { max: 1, onnotice: () => {} })
  const name = SCRATCH + randomUUID().replaceAll("-", "")
  try {
    // Of processes that were killed. One that is in use is another process's.
    for (const {
      left,
    } of await sql`select datname as left from pg_database where starts_with(datname, ${SCRATCH})`)
      await sql`drop database if exists ${sql(left)}`.catch(() => {})
    await sql`create database ${sql(name)} template template0`
  } catch (error) {
    await sql.end()
    if (error instanceof Error && "code" in error && error.code === INSUFFICIENT_PRIVILEGE) return false
    throw error
  }
  try {
    const scratch = new URL(url)
    scratch.pathname = `/${name}`
    await work(scratch.href)
    return true
  } finally {
    await sql`drop database if exists ${sql(name)} with (force)`
    await sql.end()
  }
}

const INSUFFICIENT_PRIVILEGE = "42501"
