import { openConnectionPool, openOneConnection } from "#live/check"

/** Separates the names here from other 64-bit locks. */
const SEED = 7_185_392

export interface AdvisoryLocks {
  /**
   * Whether this process now has the lock. A lock it already has is taken a second time, so only
   * ask for others.
   */
  take(name: string): Promise<boolean>
  release(name: string): Promise<void>
  close(): Promise<void>
}

/**
 * Locks by name, all on one dedicated connection, so that they are released the moment this process
 * dies. If the connection is lost, so are the locks: `lost` is called immediately, and the next
 * `take` connects again.
 */
export function openAdvisoryLocks(url: string, lost: () => void): AdvisoryLocks {
  const connections = openConnectionPool(1, (onclose) =>
    openOneConnection(url, {
      application: "tideline locks",
      onclose: () => {
        onclose()
        lost()
      },
    }),
  )
  return {
    take: (name) =>
      connections.use((connection) =>
        connection.run(async (sql) => {
          const [row] = await sql<{ taken: boolean }[]>`
            select pg_try_advisory_lock(hashtextextended(${name}, ${SEED})) as taken`
          return row?.taken === true
        }),
      ),
    async release(name) {
      await connections.use((connection) =>
        connection.run((sql) => sql`select pg_advisory_unlock(hashtextextended(${name}, ${SEED}))`),
      )
    },
    close: () => connections.close(),
  }
}
