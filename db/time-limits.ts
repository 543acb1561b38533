import { withClient } from "./with-client.ts"

/** Names the lock under which processes that start at once set them one after the other. */
const LOCK = 7_185_395

/**
 * The most that a session of ours waits for somebody else's lock, works at a statement, and keeps a
 * transaction open without a word: anyone who holds a lock in a forgotten transaction, or asks for
 * too much, costs others that long and not their connections.
 */
export const TIME_LIMITS = {
  lock_timeout: "4s",
  statement_timeout: "30s",
  idle_in_transaction_session_timeout: "15s",
} as const

/** For a session whose work may take as long as it takes. */
export const NO_TIME_LIMITS = Object.keys(TIME_LIMITS)
  .map((name) => `set ${name} = 0`)
  .join("; ")

/**
 * Makes them the defaults of this role in this database, so that they hold behind a pooler too,
 * which passes on neither startup parameters nor what a session sets. One that an operator has set
 * for the role or the database stays.
 */
export async function setTimeLimits(url: string): Promise<void> {
  return withClient(url, async (client) => {
    await client.begin(async (sql) => {
      await sql`select pg_advisory_xact_lock(${LOCK})`
      const set = await sql<{ name: string }[]>`
        select split_part(setting, '=', 1) as name from pg_db_role_setting, unnest(setconfig) setting
        where setdatabase in (0, (select oid from pg_database where datname = current_database()))
          and setrole in (0, (select oid from pg_roles where rolname = current_user))`
      const [here] = await sql<[{ role: string; database: string }]>`
        select quote_ident(current_user) as role, quote_ident(current_database()) as database`
      for (const [name, value] of Object.entries(TIME_LIMITS)) {
        if (set.some((each) => each.name === name)) continue
        await sql.unsafe(`alter role ${here.role} in database ${here.database} set ${name} = '${value}'`)
      }
    })
  })
}
