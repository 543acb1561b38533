import { openReplication } from "./replication.ts"
import { findTrouble } from "./trouble.ts"
import { openPostgres } from "../postgres/servers.ts"

/**
 * A PostgreSQL server, or a proxy in front of it, that the engine cannot use. The message says what
 * to change.
 */
export class UnfitServer extends Error {
  /** `pooler`: the URL leads to a connection pooler instead of PostgreSQL itself. */
  readonly kind: "pooler" | "wal_level" | "replication"

  constructor(kind: UnfitServer["kind"], message: string, options?: ErrorOptions) {
    super(message, options)
    this.kind = kind
  }
}

/**
 * How long a second connection may take. A pooler with a single connection would make it wait for
 * minutes. Milliseconds.
 */
const CONNECTION_TIMEOUT = 10_000

/**
 * Throws an `UnfitServer` if the stream can never be read through this URL. Call it before anything
 * else: a session lock taken through a pooler may never be released.
 */
export async function checkServer(databaseUrl: string): Promise<void> {
  const [fault] = await findFaults(databaseUrl)
  if (fault) throw fault
}

/** All that is wrong with the server. Throws if it is a pooler, which hides the rest. */
export async function findFaults(databaseUrl: string): Promise<UnfitServer[]> {
  const level = await readLevel(databaseUrl)
  const faults = level === "logical" ? [] : [wrongLevel(level)]
  const connection = openReplication(databaseUrl, "tideline check")
  try {
    await connection.locate(null)
  } catch (error) {
    if (isFromPooler(error)) throw poolerBetween(error)
    const trouble = findTrouble(error, databaseUrl)
    if (!trouble) throw error
    if (!trouble.mayPass) faults.push(new UnfitServer("replication", trouble.message, { cause: error }))
  } finally {
    await connection.end()
  }
  return faults
}

/**
 * Two sessions that are open at the same time have a backend each, unless a pooler lends one
 * backend to both. Returns the server's `wal_level`.
 */
async function readLevel(databaseUrl: string): Promise<string> {
  const clients = [openChecking(databaseUrl), openChecking(databaseUrl)]
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => late.reject(poolerBetween(new Error("A second connection was not opened in time."))),
    CONNECTION_TIMEOUT,
  )
  try {
    const backends = new Set<unknown>()
    let level = ""
    for (const client of clients) {
      const asked = client`
        select pg_backend_pid() as backend, current_setting('wal_level') as level`
      const [row] = await Promise.race([asked, late.promise])
      backends.add(row?.["backend"])
      level = String(row?.["level"])
    }
    if (backends.size < clients.length) throw poolerBetween()
    return level
  } finally {
    clearTimeout(timer)
    await Promise.all(clients.map((client) => client.end({ timeout: 0 }).catch(() => {})))
  }
}

function openChecking(databaseUrl: string) {
  return openPostgres(databaseUrl, {
    max: 1,
    prepare: false,
    idle_timeout: 0,
    connect_timeout: 10,
    onnotice() {},
    connection: { application_name: "tideline check" },
  })
}

/**
 * PgBouncer refuses the replication parameter; other poolers drop it, and PostgreSQL then takes the
 * command for SQL.
 */
function isFromPooler(error: unknown): boolean {
  if (!(error instanceof Error) || !("code" in error)) return false
  return (error.code === "08P01" && /startup parameter/.test(error.message)) || error.code === "42601"
}

function poolerBetween(cause?: unknown): UnfitServer {
  return new UnfitServer(
    "pooler",
    "It leads to a connection pooler, and the change stream, locks and migrations need PostgreSQL itself.",
    { cause },
  )
}

function wrongLevel(level: string): UnfitServer {
  return new UnfitServer(
    "wal_level",
    `PostgreSQL runs with wal_level=${level}. Run: ALTER SYSTEM SET wal_level = 'logical'; and restart PostgreSQL.`,
  )
}
