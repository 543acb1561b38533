import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import postgres from "postgres"
import { startEmbeddedPostgres } from "#db/embedded/postgres.ts"
import { createDatabase } from "./database.ts"

/**
 * A PostgreSQL for one test to mistreat. When it dies it is started again, as a service manager
 * would do.
 */
export async function startCluster(settings: Record<string, string> = {}) {
  const directory = mkdtempSync(join(tmpdir(), "tideline-faults-"))
  const server = await startEmbeddedPostgres({
    directory,
    // Only its processes fail here, never the machine.
    settings: { max_connections: "200", shared_buffers: "32MB", fsync: "off", ...settings },
  })
  const database = await createDatabase(server.url)
  const admin = postgres(server.url, { max: 2, onnotice: () => {} })
  return {
    url: database.url,
    sql: database.sql,
    admin,
    get pid() {
      return server.pid
    },
    /**
     * Ends the postmaster: SIGINT is a fast shutdown, SIGQUIT an immediate one, SIGKILL a crash.
     * Resolves when its successor accepts connections.
     */
    async restart(signal: NodeJS.Signals) {
      const { pid } = server
      process.kill(pid, signal)
      for (;;) {
        try {
          if (server.pid !== pid) {
            await admin`select 1`
            return
          }
        } catch {}
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    },
    async set(name: string, value: string) {
      await admin.unsafe(`alter system set ${name} = '${value}'`)
      await admin`select pg_reload_conf()`
    },
    async stop() {
      await database.sql.end({ timeout: 1 })
      await admin.end({ timeout: 1 })
      await server.stop()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

export type Cluster = Awaited<ReturnType<typeof startCluster>>

/** Ends the walsenders that serve this database; returns how many there were. */
export async function killStreams(sql: postgres.Sql): Promise<number> {
  const killed = await sql`
    select pg_terminate_backend(active_pid) from pg_replication_slots
    where active and temporary and database = current_database()`
  return killed.length
}
