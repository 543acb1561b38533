import { randomInt } from "node:crypto"
import { hostname } from "node:os"
import { sql, type SQL } from "drizzle-orm"
import type postgres from "postgres"
import { openPostgres } from "#live/check"

/** The first half of the advisory locks by which processes show that they are alive. */
const PROCESS_LOCKS = 7_185_392

/** The numbers of the processes that are alive, as a subquery: each has its lock. */
export const livingProcesses: SQL = sql`
  select objid::bigint from pg_locks
  where locktype = 'advisory' and granted and objsubid = 2 and classid = ${sql.raw(String(PROCESS_LOCKS))}
    and database = (select oid from pg_database where datname = current_database())`

/** The host and process id of a living process, by its number; null if this role may not see them. */
export function nameOfProcess(number: SQL): SQL {
  return sql`(
    select substring(application_name from ${`^${APPLICATION}(.+)$`}) from pg_locks join pg_stat_activity using (pid)
    where locktype = 'advisory' and granted and objsubid = 2 and classid = ${sql.raw(String(PROCESS_LOCKS))}
      and objid::bigint = ${number} and database = (select oid from pg_database where datname = current_database()) limit 1)`
}

/** What the connection that holds the lock is called, with the host and the process id after it. */
const APPLICATION = "tideline process "

/** PostgreSQL cuts a name after 63 bytes. */
function applicationName(): string {
  const id = `:${process.pid}`
  return `${APPLICATION}${hostname().slice(0, 63 - APPLICATION.length - id.length)}${id}`
}

export async function livingProcessCount(client: postgres.Sql): Promise<number> {
  const [row] = await client<[{ count: number }]>`
    select count(distinct objid)::int as count from pg_locks
    where locktype = 'advisory' and granted and objsubid = 2 and classid = ${PROCESS_LOCKS}
      and database = (select oid from pg_database where datname = current_database())`
  return row.count
}

export interface ProcessLock {
  /** Names the process. */
  readonly number: number
  /**
   * Called when the lock was lost with the connection, so that others took this process for dead,
   * and has been taken again.
   */
  onRegained(listener: () => void): void
  close(): Promise<void>
}

/**
 * Takes an advisory lock that is released the moment this process, or its connection, dies: no
 * heartbeat, and no clock.
 */
export async function holdProcessLock(url: string): Promise<ProcessLock> {
  const number = randomInt(1, 2 ** 31)
  const listeners: (() => void)[] = []
  let closed = false
  let held = true
  const client = openPostgres(url, {
    max: 1,
    idle_timeout: 0,
    max_lifetime: null,
    onnotice: () => {},
    connection: { application_name: applicationName() },
    onclose: () => {
      held = false
    },
  })
  const lock = () => client`select pg_advisory_lock(${PROCESS_LOCKS}::int, ${number}::int)`
  await lock()
  const watch = setInterval(() => {
    if (held || closed) return
    held = true
    lock()
      .then(() => {
        for (const listener of listeners) listener()
      })
      .catch(() => (held = false))
  }, 1000)
  watch.unref()
  return {
    number,
    onRegained: (listener) => void listeners.push(listener),
    async close() {
      closed = true
      clearInterval(watch)
      await client.end({ timeout: 1 })
    },
  }
}
