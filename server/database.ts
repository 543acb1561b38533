import { checkServer, isOutage, reasonOf, UnfitServer } from "#live/check"
import type { Config } from "./config.ts"
import { createFailureLog, type Log } from "./log.ts"
import type { Opened } from "./opened.ts"
import { findWeaknesses } from "./ops/check-database.ts"

/** How a process connects to the database. */
export interface Reached {
  /** PostgreSQL itself, for what needs a session: the stream, locks, migrations. */
  directUrl: string
  /** A transaction-mode pooler for everything else; null if there is none. */
  poolerUrl: string | null
}

/**
 * How the connections of a process are divided. One each is for probes, for the lock that shows
 * that the process is alive, and for the locks of uploads.
 */
export function divideConnections(most: number): { requests: number; live: number } {
  const shared = most - 3
  const live = Math.floor(shared / 3)
  return { requests: shared - live, live }
}

/**
 * Starts the embedded PostgreSQL, or checks the configured one before anything in it is changed;
 * throws if it is unsuitable.
 */
export async function reachDatabase(
  { database, databaseConnections, history }: Pick<Config, "database" | "databaseConnections" | "history">,
  log: Log,
  opened: Opened,
): Promise<Reached> {
  if (database.kind === "external") {
    const { url, streamUrl } = database
    const setting = streamUrl === null ? "DATABASE_URL" : "DATABASE_STREAM_URL"
    await checkServer(streamUrl ?? url).catch((error: unknown) => {
      throw explain(error, setting, databaseConnections)
    })
    for (const { about, text } of await findWeaknesses(streamUrl ?? url, setting, databaseConnections))
      log.warn({ about }, text)
    return streamUrl === null ? { directUrl: url, poolerUrl: null } : { directUrl: streamUrl, poolerUrl: url }
  }
  const { startEmbeddedPostgres } = await import("#db/embedded/postgres.ts")
  const { directory } = database
  const failures = createFailureLog(log, "PostgreSQL runs again")
  const postgres = await startEmbeddedPostgres({
    directory,
    history: history?.directory,
    onLog: (line) => log.debug({ line }, "PostgreSQL"),
    onEnd: (reason) =>
      failures.failed("error", new Error(reason), "PostgreSQL ended unexpectedly; starting it again", {
        directory,
      }),
    onReturn: failures.succeeded,
  })
  opened.adopt(postgres, () => postgres.stop())
  log.info({ directory }, "embedded PostgreSQL is ready")
  return { directUrl: postgres.url, poolerUrl: null }
}

function explain(
  cause: unknown,
  setting: "DATABASE_URL" | "DATABASE_STREAM_URL",
  connections: number,
): unknown {
  if (cause instanceof Error && "code" in cause && cause.code === "53300")
    return new Error(
      `PostgreSQL behind ${setting} has no connection left (${cause.message}), and a process needs up to ${connections}. ` +
        "Stop another client, run ALTER SYSTEM SET max_connections with a higher number and restart PostgreSQL, or set DATABASE_CONNECTIONS lower for each process.",
      { cause },
    )
  if (cause instanceof UnfitServer) {
    const advice =
      cause.kind === "pooler" && setting === "DATABASE_URL"
        ? " Leave it as it is, and set DATABASE_STREAM_URL to PostgreSQL's own address."
        : ""
    return new Error(`${setting} cannot be used. ${cause.message}${advice}`, { cause })
  }
  if (!isOutage(cause)) return cause
  return new Error(
    `The database behind ${setting} does not answer (${reasonOf(cause)}). Start it, or correct the address.`,
    { cause },
  )
}
