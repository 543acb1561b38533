import { warnOfUnlimitedLog } from "./anchor.ts"
import { Engine, type Prepared } from "./engine.ts"
import { LIMITS } from "./limits.ts"
import type { RealtimeOptions } from "./options.ts"
import { openPool } from "./pool.ts"
import type { Realtime } from "./realtime.ts"
import { setUp } from "./setup.ts"
import { watchTable } from "./tables.ts"

/**
 * Sets up what the engine keeps in the database, starts reading the log, and serves sockets from
 * it. Throws if the tables cannot be watched.
 */
export async function openRealtime<Viewer, Scope>(
  options: RealtimeOptions<Viewer, Scope>,
): Promise<Realtime<Viewer>> {
  const engine = new Engine(options, await prepare(options))
  await engine.start()
  return engine
}

async function prepare({ connections = 3, ...options }: Preparing): Promise<Prepared> {
  const limits = { ...LIMITS, ...options.limits }
  const pool = openPool(options.poolerUrl ?? options.databaseUrl, connections, {
    pooled: options.poolerUrl !== undefined,
  })
  const watched = options.tables.map(watchTable)
  try {
    const { anchor, inspectedAt } = await setUp(pool, limits.name, watched)
    await warnOfUnlimitedLog(pool, options.log)
    return { pool, connections, limits, watched, anchor, inspectedAt }
  } catch (error) {
    await pool.close()
    throw error
  }
}

type Preparing = Pick<
  RealtimeOptions<never, never>,
  "connections" | "databaseUrl" | "limits" | "log" | "poolerUrl" | "tables"
>
