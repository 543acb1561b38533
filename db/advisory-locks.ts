import { openOneConnection, openConnectionPool } from "./connections.ts"

/** Keeps the names here apart from what else is locked by 64 bits. */
const SEED = 7_185_392

export interface AdvisoryLocks {
  /**
   * Whether the lock is this process's now. One that it holds already is taken once more, so ask
   * only for those it does not.
   */
  take(name: string): Promise<boolean>
  release(name: string): Promise<void>
  close(): Promise<void>
}

/**
 * Locks by name, all on one connection of their own, so that they are free again at the moment this
 * process dies. When the connection is lost, so are they: `lost` is called at once, and the next
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
