import type { IncomingMessage, Server as HttpServer } from "node:http"

import { Server, type Socket } from "socket.io"
import * as v from "valibot"
import { WebSocketServer, type ServerOptions } from "ws"

import type { Client } from "./client.ts"
import { createConnection, type Connection, type ConnectionOptions } from "./connection.ts"
import { PROTOCOL_VERSION, REALTIME_PATH, type Refusal } from "../protocol/contract.ts"
import { coalesceWrites } from "./frame.ts"
import type { Hub } from "./hub.ts"
import { CONNECTION_LIMITS } from "./limits.ts"
import { HandshakeMessage } from "./messages.ts"
import { refusalFor, createRefusal, Refused } from "./refusal.ts"
import { describeUnknownField, findUnknownField } from "./unknown-field.ts"

export interface SocketsOptions<Viewer> extends ConnectionOptions<Viewer> {
  readonly hub: Hub
  readonly origins: readonly string[]
  readonly maxConnections: number
  readonly maxConnectionsPerUser: number
  readonly maxConnectionsPerAddress: number
  /**
   * The network address of a connection, which the client must not be able to choose. Without it,
   * addresses are not counted.
   */
  readonly addressOf: ((request: IncomingMessage) => string) | undefined
  /** Milliseconds since the last message from the database. */
  readonly lag: () => number
}

export interface Sockets {
  attach(server: HttpServer): void
  /** If it is past, only connections whose credentials are no longer valid end. */
  revokeUser(userId: string, isPast: boolean): void
  endCredential(credential: string, isPast: boolean): void
  /** Ends the connections that were opened with credentials that are no longer valid. */
  recheckCredentials(): Promise<void>
  /**
   * Present connections are closed and reconnect spread over `spreadMs`; those not admitted by then
   * are refused.
   */
  admitOnly(isAdmitted: ((request: IncomingMessage) => boolean) | null, spreadMs: number): void
  count(): number
  /** Includes those that have sent no handshake yet. */
  rawCount(): number
  /** Sends everybody a goodbye; they reconnect spread over `spreadMs`. */
  close(spreadMs: number): Promise<void>
}

/**
 * Each connection is checked once in this time, a part of them per turn: all at once would block
 * the event loop for others.
 */
const SWEEP_MS = 1000
const SLICES = 20
/** Longer than verifying a token takes. */
const VERIFYING_MS = 60_000

/** Engine.IO's connection, before socket.io's handshake. */
interface RawConnection {
  request: IncomingMessage | null
  once(event: "close", listener: () => void): void
}

/** What a connection sends at once is taken in several turns of the event loop: others come between. */
class OneMessageATurn extends WebSocketServer {
  constructor(options: ServerOptions) {
    super({ ...options, allowSynchronousEvents: false })
  }
}

export function createSockets<Viewer>(options: SocketsOptions<Viewer>): Sockets {
  const { hub, metrics, log } = options
  const slices = Array.from({ length: SLICES }, () => ({
    connections: new Set<Connection>(),
    /** As the connections were last told. */
    live: true,
  }))
  let entered = 0
  let turn = 0
  const perUser = new Map<string, number>()
  const perAddress = new Map<string, number>()
  /** Connections that have sent a handshake. A second one would be a second token to verify. */
  const handshaken = new WeakSet<object>()
  /**
   * Requests and connections that arrived since the admission rule last changed: all others have to
   * reconnect.
   */
  let admitted = new WeakSet<object>()
  /**
   * When users were signed out and credentials ended, kept for as long as a token that was valid
   * before may still be under verification.
   */
  const revokedAt = { users: new Map<string, number>(), credentials: new Map<string, number>() }
  let draining = false
  let isAdmitted: ((request: IncomingMessage) => boolean) | null = null
  const io = new Server({
    path: REALTIME_PATH,
    transports: ["websocket"],
    allowUpgrades: false,
    serveClient: false,
    perMessageDeflate: false,
    httpCompression: false,
    maxHttpBufferSize: CONNECTION_LIMITS.messageBytes,
    wsEngine: OneMessageATurn,
    connectTimeout: CONNECTION_LIMITS.handshakeMs,
    pingInterval: CONNECTION_LIMITS.pingIntervalMs,
    pingTimeout: CONNECTION_LIMITS.pingTimeoutMs,
    allowRequest: (request, decide) => {
      const refusal = refuseRequest(request)
      if (refusal) metrics.count(`refused_${refusal}`)
      else {
        admitted.add(request)
        // The response to the upgrade and Engine.IO's first packet.
        coalesceWrites(request.socket)
      }
      decide(refusal, refusal === null)
    },
  })
  io.use((socket, next) => {
    void acceptHandshake(socket).then(
      () => next(),
      (error: unknown) => {
        const refusal = refusalFor(error, log, "accepting a connection")
        metrics.count(`refused_${refusal.code}`)
        next(Object.assign(new Error(refusal.code), { data: refusal satisfies Refusal }))
      },
    )
  })
  const sweeper = setInterval(sweepSlice, SWEEP_MS / SLICES)
  sweeper.unref()

  return {
    attach(server) {
      io.attach(server)
      io.engine.on("connection", (raw: RawConnection) => {
        if (raw.request && admitted.has(raw.request)) admitted.add(raw)
        if (options.addressOf && raw.request) countAddress(raw, options.addressOf(raw.request))
        // The upgrade request takes more memory than everything else that is kept of a connection.
        raw.request = null
      })
    },
    revokeUser(userId, isPast) {
      const isTheirs = ({ client }: Connection) => client.userId === userId
      if (isPast) return void recheck(isTheirs)
      revokedAt.users.set(userId, performance.now())
      endAll(isTheirs)
    },
    endCredential(credential, isPast) {
      const isItsOwn = (connection: Connection) => connection.wasOpenedBy(credential)
      if (isPast) return void recheck(isItsOwn)
      revokedAt.credentials.set(credential, performance.now())
      endAll(isItsOwn)
    },
    recheckCredentials: () => recheck(() => true),
    admitOnly(isWelcome, spreadMs) {
      isAdmitted = isWelcome
      if (!isWelcome) return
      admitted = new WeakSet()
      for (const connection of connections()) connection.end("draining", Math.round(Math.random() * spreadMs))
    },
    count: () => slices.reduce((count, slice) => count + slice.connections.size, 0),
    rawCount,
    async close(spreadMs) {
      draining = true
      clearInterval(sweeper)
      for (const connection of connections()) connection.end("draining", Math.round(Math.random() * spreadMs))
      const left = [...connections()].map(({ gone }) => gone)
      await Promise.race([Promise.all(left), new Promise((resolve) => setTimeout(resolve, 2000).unref())])
      io.engine?.close()
    },
  }

  function endAll(isEnded: (connection: Connection) => boolean): void {
    hub.between(() => {
      for (const connection of connections()) if (isEnded(connection)) connection.end("signed_out", null)
    })
  }

  async function recheck(isDoubtful: (connection: Connection) => boolean): Promise<void> {
    for (const connection of connections()) {
      if (!isDoubtful(connection)) continue
      try {
        if (!(await connection.isSessionValid())) connection.end("signed_out", null)
      } catch {
        // It is unknown, so it has to authenticate again.
        connection.end("draining", Math.round(Math.random() * 5000))
      }
    }
  }

  function* connections(): Generator<Connection> {
    for (const slice of slices) yield* slice.connections
  }

  function rawCount(): number {
    return io.engine?.clientsCount ?? 0
  }

  function countAddress(raw: RawConnection, address: string): void {
    perAddress.set(address, (perAddress.get(address) ?? 0) + 1)
    raw.once("close", () => {
      const left = (perAddress.get(address) ?? 1) - 1
      if (left > 0) perAddress.set(address, left)
      else perAddress.delete(address)
    })
  }

  /**
   * A browser always sends its origin. A client without one is no browser and carries no victim's
   * cookie.
   */
  function refuseRequest(request: IncomingMessage): string | null {
    // Engine.IO reports it only to connections that it has opened.
    if (new URL(request.url ?? "", "http://localhost").searchParams.get("EIO") !== "4") return "protocol"
    if (draining) return "draining"
    if (isAdmitted?.(request) === false) return "closed"
    // Connections without a handshake count as well.
    if (rawCount() >= options.maxConnections) return "full"
    const address = options.addressOf?.(request)
    if (address !== undefined && (perAddress.get(address) ?? 0) >= options.maxConnectionsPerAddress)
      return "address"
    const { origin } = request.headers
    return origin === undefined || options.origins.includes(origin) ? null : "origin"
  }

  async function acceptHandshake(socket: Socket): Promise<void> {
    const auth: Record<string, unknown> = socket.handshake.auth
    const handshake = v.safeParse(HandshakeMessage, auth)
    if (!handshake.success) {
      const { version, token } = auth
      if (typeof version === "number" && version !== PROTOCOL_VERSION)
        throw createRefusal("version", "page-outdated")
      if (version === PROTOCOL_VERSION && token === undefined)
        throw new Refused("unauthorized", "Sign in first: the handshake has no token.")
      const unknown = findUnknownField(HandshakeMessage, auth)
      const problem = unknown ? describeUnknownField(unknown) : handshake.issues[0].message
      throw new Refused("invalid", `The handshake has the wrong form: ${problem}`)
    }
    if (handshaken.has(socket.conn)) throw new Refused("invalid", "This connection has sent its handshake.")
    handshaken.add(socket.conn)
    const askedAt = performance.now()
    const verified = await options.verify(handshake.output.token)
    const userId = options.userIdOf(verified.viewer)
    const revocations = [
      revokedAt.users.get(userId),
      ...options.credentialsOf(verified.viewer).map((name) => revokedAt.credentials.get(name)),
    ]
    if (revocations.some((at = 0) => at >= askedAt)) throw createRefusal("unauthorized", "session-ended")
    // A connection that closed in the meantime would never report it again.
    if (socket.conn.readyState !== "open") throw createRefusal("unavailable", "connection-closed", 1000)
    if (draining) throw createRefusal("unavailable", "server-restarting", 1000)
    if (!admitted.has(socket.conn))
      throw new Refused("unavailable", "The server was closed in the meantime.", 1000)
    const count = perUser.get(userId) ?? 0
    if (count >= options.maxConnectionsPerUser) {
      throw createRefusal("rate_limited", "too-many-connections", 10_000)
    }
    perUser.set(userId, count + 1)
    const connection = createConnection(socket, verified, handshake.output.client ?? null, options)
    enter(socket, connection, connection.client)
  }

  function enter(socket: Socket, connection: Connection, client: Client): void {
    const slice = slices[entered++ % SLICES]
    slice?.connections.add(connection)
    hub.clients.add(client)
    socket.conn.once("close", () => {
      slice?.connections.delete(connection)
      const left = (perUser.get(client.userId) ?? 1) - 1
      if (left > 0) perUser.set(client.userId, left)
      else perUser.delete(client.userId)
      hub.leave(client)
      connection.left()
    })
  }

  /**
   * Checks for expired and slow connections, and for those that have received nothing for a while.
   * One timer, because there may be ten thousand of them.
   */
  function sweepSlice(): void {
    const slice = slices[turn++ % SLICES]
    if (!slice) return
    const lag = options.lag()
    const live = lag < 2000
    const changed = live !== slice.live
    slice.live = live
    const verifying = performance.now() - VERIFYING_MS
    for (const revoked of Object.values(revokedAt)) {
      for (const [name, at] of revoked) if (at < verifying) revoked.delete(name)
    }
    const now = Date.now()
    for (const connection of slice.connections) connection.tick(now, lag, changed)
  }
}
