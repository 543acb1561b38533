import { randomUUID } from "node:crypto"
import type postgres from "postgres"
import { openPostgres } from "#live/check"

/** Followed by the number of the database that they belong to, as a server may have several. */
const SCRATCH = "tideline_check_"

/** Held shared while a scratch database is in use, and alone while those that were left are removed. */
const SCRATCH_LOCK = 7_185_396

/**
 * Runs `work` with the URL of a new, empty database on the server of `url`, which is removed
 * afterwards. False, without running it, if the role may not create a database.
 */
export async function withScratchDatabase(
  url: string,
  work: (url: string) => Promise<void>,
): Promise<boolean> {
  const sql = openPostgres(url, { max: 1, onnotice: () => {} })
  let name: string
  try {
    const prefix = await removeLeft(sql)
    name = prefix + randomUUID().slice(0, 8)
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

/**
 * Removes those of processes that were killed, unless another process is using one. Returns the
 * beginning of their names. From now on nobody else removes any.
 */
async function removeLeft(sql: postgres.Sql): Promise<string> {
  const [own] = await sql<[{ oid: number; isAlone: boolean }]>`
    select oid, pg_try_advisory_lock(${SCRATCH_LOCK}) as "isAlone" from pg_database
    where datname = current_database()`
  const prefix = `${SCRATCH}${own.oid}_`
  if (own.isAlone) {
    for (const { left } of await sql`
      select datname as left from pg_database where starts_with(datname, ${prefix})`)
      await sql`drop database if exists ${sql(left)}`.catch(() => {})
  }
  await sql`select pg_advisory_lock_shared(${SCRATCH_LOCK})`
  if (own.isAlone) await sql`select pg_advisory_unlock(${SCRATCH_LOCK})`
  return prefix
}

const INSUFFICIENT_PRIVILEGE = "42501"
