import { once } from "node:events"
import { connect, type Socket } from "node:net"
import { Duplex } from "node:stream"
import postgres from "postgres"

// A database URL may name several servers, of which one accepts writes. postgres 3.4.9 cannot be
// left to find it: on PostgreSQL 14 and newer its `target_session_attrs=read-write` accepts a
// standby, and while no server accepts writes it connects in a loop without a pause, and its
// queries neither fail nor end.

export interface Server {
  host: string
  port: number
}

/**
 * A URL as people write it, with one or several servers, in a form that `URL` reads:
 * `postgres://user@a:1,b:2/db?target_session_attrs=read-write` becomes
 * `postgres://user@a:1/db?host=a,b&port=1,2`, which libpq accepts as well. Null if it is neither, or
 * asks for a server that does not accept writes.
 */
export function readDatabaseUrl(text: string): string | null {
  const parts = /^(postgres(?:ql)?:\/\/(?:[^@/?]*@)?)([^/?]*)(.*)$/.exec(text)
  if (!parts) return null
  const [, start = "", hosts = "", rest = ""] = parts
  const written = hosts.split(",")
  if (!URL.canParse(start + (written[0] ?? "") + rest)) return null
  const url = new URL(start + (written[0] ?? "") + rest)
  const wanted = url.searchParams.get("target_session_attrs")
  if (wanted !== null && wanted !== "read-write" && wanted !== "primary") return null
  url.searchParams.delete("target_session_attrs")
  if (written.length > 1) {
    if (written.some((each) => !URL.canParse(`postgres://${each}/`) || each === "")) return null
    const servers = written.map((each) => new URL(`postgres://${each}/`))
    url.searchParams.set("host", servers.map(({ hostname }) => hostname).join(","))
    url.searchParams.set("port", servers.map(({ port }) => port || "5432").join(","))
  }
  return url.href
}

/** Those that a URL in the form of `readDatabaseUrl` names. */
export function serversOf(databaseUrl: string): Server[] {
  const url = new URL(databaseUrl)
  const hosts = url.searchParams.get("host")?.split(",") ?? [url.hostname]
  const ports = url.searchParams.get("port")?.split(",") ?? [url.port || "5432"]
  return hosts.map((host, at) => ({
    host: host.replace(/^\[(.*)\]$/, "$1"),
    port: Number(ports[at] ?? ports[0]),
  }))
}

/** Their addresses, without credentials. */
export function nameOfServers(databaseUrl: string): string {
  return serversOf(databaseUrl)
    .map(({ host, port }) => `${hostInUrl(host)}:${port}`)
    .join(", ")
}

/**
 * A client of the postgres package for the server that accepts writes: each of its connections is
 * made to whichever does at that moment. A connection fails with the code `NO_PRIMARY` if none does,
 * and ends when another one has been promoted.
 */
export function openPostgres(databaseUrl: string, others: postgres.Options<{}>): postgres.Sql {
  const servers = serversOf(databaseUrl)
  const [first] = servers
  // postgres 3.4.9 takes what follows the first colon of a host for a port.
  const options: postgres.Options<{}> = { ...UNSEEN, ...others }
  if (first?.host.includes(":")) Object.assign(options, { host: [first.host], port: [first.port] })
  if (servers.length < 2 || !first) return postgres(databaseUrl, options)
  const finder = finders.get(databaseUrl) ?? startFinder(databaseUrl, servers)
  finders.set(databaseUrl, finder)
  // Its types do not have the option `socket`. The default of the other would let a client that has
  // failed several times rest for up to 20 s.
  const found: object = { backoff: () => 0.1, ...options, socket: () => finder.connect() }
  return postgres(urlOf(databaseUrl, first), found)
}

/**
 * The package asks for the array types itself. If the connection is lost just then, the failure
 * reaches no caller, and ends the process.
 */
export const UNSEEN = { fetch_types: false } satisfies postgres.Options<{}>

interface Finder {
  /** A connection to the server that accepts writes. Never rejects: see `failingSocket`. */
  connect(): Promise<Duplex>
}

/** One for each URL, for as long as the process lives. */
const finders = new Map<string, Finder>()

/** Milliseconds: how long an answer counts, a server may take for it, and the others after it. */
const RECENT = 500
const TIMEOUT = 2000
const GRACE = 100

/**
 * Milliseconds between looks without a new connection. A server that hangs, or lost its network,
 * leaves its connections open.
 */
const INTERVAL = 5000

interface Primary {
  server: Server
  timeline: number
}

function startFinder(databaseUrl: string, servers: readonly Server[]): Finder {
  const sockets = new Map<Socket, Server>()
  let current: Primary | null = null
  let lookedAt = Number.NEGATIVE_INFINITY
  let looking: Promise<Primary> | null = null
  setInterval(() => void find().catch(() => {}), INTERVAL).unref()

  return {
    async connect() {
      try {
        const { server } = await find()
        const socket = await openSocket(server)
        sockets.set(socket, server)
        return socket
      } catch (error) {
        return failingSocket(error)
      }
    },
  }

  async function find(): Promise<Primary> {
    if (current && performance.now() - lookedAt < RECENT) return current
    return (looking ??= look().finally(() => (looking = null)))
  }

  async function look(): Promise<Primary> {
    const found = await findPrimary(databaseUrl, servers, current?.timeline ?? 0)
    current = found
    lookedAt = performance.now()
    for (const [socket, server] of sockets) {
      if (server !== found.server)
        socket.destroy(lost("CONNECTION_CLOSED", "Another server accepts writes now."))
      if (socket.destroyed) sockets.delete(socket)
    }
    return found
  }
}

async function openSocket({ host, port }: Server): Promise<Socket> {
  const socket = connect({ host, port })
  const stopTimer = startAnswerTimer(TIMEOUT, () =>
    socket.destroy(lost("CONNECT_TIMEOUT", `${host}:${port} did not answer within ${TIMEOUT} ms.`)),
  )
  try {
    await once(socket, "connect")
    // The client verifies the certificate against it.
    return Object.assign(socket, { host })
  } finally {
    stopTimer()
  }
}

/**
 * Takes what the client writes first, and then fails. An error that is thrown instead, or that comes
 * before that write, leaves the client waiting for ever.
 */
function failingSocket(error: unknown): Duplex {
  const socket = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() })
  setTimeout(() => socket.destroy(error instanceof Error ? error : new Error(String(error))), 1)
  return socket
}

/**
 * Of several that accept writes, the one that was promoted last: the other is an old primary that
 * came back. One that was replaced before, on an earlier timeline than `least`, is never taken.
 */
async function findPrimary(databaseUrl: string, servers: readonly Server[], least: number): Promise<Primary> {
  const found: Primary[] = []
  const reasons: string[] = []
  const late = Promise.withResolvers<void>()
  const asked = servers.map(async (server) => {
    try {
      const timeline = await readTimeline(urlOf(databaseUrl, server))
      if (timeline < least) throw new Error("was replaced by another")
      found.push({ server, timeline })
      setTimeout(late.resolve, GRACE)
    } catch (error) {
      reasons.push(`${server.host}:${server.port}: ${error instanceof Error ? error.message : String(error)}`)
    }
  })
  await Promise.race([Promise.all(asked), late.promise])
  const primary = found.toSorted((one, other) => other.timeline - one.timeline)[0]
  if (primary) return primary
  throw lost("NO_PRIMARY", `None of the servers accepts writes (${reasons.toSorted().join("; ")}).`)
}

/** Throws if the server does not accept writes. */
async function readTimeline(url: string): Promise<number> {
  const client = openPostgres(url, {
    max: 1,
    connect_timeout: 0, // it is limited below
    prepare: false,
    onnotice() {},
    connection: { application_name: "tideline primary" },
  })
  const late = Promise.withResolvers<never>()
  const stopTimer = startAnswerTimer(TIMEOUT, () => late.reject(new Error(`no answer within ${TIMEOUT} ms`)))
  try {
    const [row] = await Promise.race([client.unsafe(READ_TIMELINE).simple(), late.promise])
    if (row?.["timeline"] === null) throw new Error("is a standby")
    return Number.parseInt(String(row?.["timeline"]), 16)
  } finally {
    stopTimer()
    void client.end({ timeout: 0 }).catch(() => {})
  }
}

/** As which one interval counts at most, however late it is. */
const PARTS = 10

/**
 * Calls `late` when a server has not answered for so many ms, unless the returned function is called
 * before. A process that was busy or stopped in the meantime has perhaps not read the answer yet, so
 * that time does not count.
 */
export function startAnswerTimer(ms: number, late: () => void): () => void {
  let left = PARTS
  const timer = setInterval(() => {
    left -= 1
    if (left > 0) return
    clearInterval(timer)
    late()
  }, ms / PARTS)
  return () => clearInterval(timer)
}

/** The name of a segment of the log begins with the timeline, in hexadecimal. */
const READ_TIMELINE = `
  select case when not pg_is_in_recovery() and not current_setting('transaction_read_only')::bool
    then left(pg_walfile_name(pg_current_wal_lsn()), 8) end as timeline`

/** The URL of one of the servers. */
function urlOf(databaseUrl: string, { host, port }: Server): string {
  const url = new URL(databaseUrl)
  url.searchParams.delete("host")
  url.searchParams.delete("port")
  url.hostname = hostInUrl(host)
  url.port = String(port)
  return url.href
}

/** An IPv6 address is in brackets. */
export function hostInUrl(host: string): string {
  return host.includes(":") ? `[${host}]` : host
}

function lost(code: "NO_PRIMARY" | "CONNECTION_CLOSED" | "CONNECT_TIMEOUT", message: string): Error {
  return Object.assign(new Error(message), { code })
}
