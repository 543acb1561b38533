import type { IncomingMessage, Server as HttpServer } from "node:http"

import { Server, type Socket } from "socket.io"
import * as v from "valibot"
import { WebSocketServer, type ServerOptions } from "ws"

import type { Client } from "./client.ts"
import { Connection, type ConnectionOptions } from "./connection.ts"
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

export class Sockets<Viewer> {
  readonly #options: SocketsOptions<Viewer>
  readonly #hub: Hub
  readonly #slices = Array.from({ length: SLICES }, () => ({
    connections: new Set<Connection<Viewer>>(),
    /** As the connections were last told. */
    live: true,
  }))
  #entered = 0
  #turn = 0
  readonly #perUser = new Map<string, number>()
  readonly #perAddress = new Map<string, number>()
  /** Connections that have sent a handshake. A second one would be a second token to verify. */
  readonly #handshaken = new WeakSet<object>()
  /**
   * Requests and connections that arrived since the admission rule last changed: all others have to
   * reconnect.
   */
  #admitted = new WeakSet<object>()
  /**
   * When users were signed out and credentials ended, kept for as long as a token that was valid
   * before may still be under verification.
   */
  readonly #revokedAt = { users: new Map<string, number>(), credentials: new Map<string, number>() }
  #draining = false
  #isAdmitted: ((request: IncomingMessage) => boolean) | null = null
  readonly #io: Server
  readonly #sweeper = setInterval(() => this.#sweepSlice(), SWEEP_MS / SLICES)

  constructor(options: SocketsOptions<Viewer>) {
    this.#options = options
    this.#hub = options.hub
    this.#io = new Server({
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
        const refusal = this.#refuseRequest(request)
        if (refusal) options.metrics.count(`refused_${refusal}`)
        else {
          this.#admitted.add(request)
          // The response to the upgrade and Engine.IO's first packet.
          coalesceWrites(request.socket)
        }
        decide(refusal, refusal === null)
      },
    })
    this.#io.use((socket, next) => {
      void this.#acceptHandshake(socket).then(
        () => next(),
        (error: unknown) => {
          const refusal = refusalFor(error, options.log, "accepting a connection")
          options.metrics.count(`refused_${refusal.code}`)
          next(Object.assign(new Error(refusal.code), { data: refusal satisfies Refusal }))
        },
      )
    })
    this.#sweeper.unref()
  }

  attach(server: HttpServer): void {
    this.#io.attach(server)
    this.#io.engine.on("connection", (raw: RawConnection) => {
      if (raw.request && this.#admitted.has(raw.request)) this.#admitted.add(raw)
      if (this.#options.addressOf && raw.request)
        this.#countAddress(raw, this.#options.addressOf(raw.request))
      // The upgrade request takes more memory than everything else that is kept of a connection.
      raw.request = null
    })
  }

  /** If it is past, only connections whose credentials are no longer valid end. */
  revokeUser(userId: string, isPast: boolean): void {
    const isTheirs = ({ client }: Connection<Viewer>) => client.userId === userId
    if (isPast) return void this.#recheck(isTheirs)
    this.#revokedAt.users.set(userId, performance.now())
    this.#endAll(isTheirs)
  }

  endCredential(credential: string, isPast: boolean): void {
    const isItsOwn = (connection: Connection<Viewer>) => connection.wasOpenedBy(credential)
    if (isPast) return void this.#recheck(isItsOwn)
    this.#revokedAt.credentials.set(credential, performance.now())
    this.#endAll(isItsOwn)
  }

  /** Ends the connections that were opened with credentials that are no longer valid. */
  recheckCredentials(): Promise<void> {
    return this.#recheck(() => true)
  }

  /**
   * Present connections are closed and reconnect spread over `spreadMs`; those not admitted by then
   * are refused.
   */
  admitOnly(isWelcome: ((request: IncomingMessage) => boolean) | null, spreadMs: number): void {
    this.#isAdmitted = isWelcome
    if (!isWelcome) return
    this.#admitted = new WeakSet()
    for (const connection of this.#connections())
      connection.end("draining", Math.round(Math.random() * spreadMs))
  }

  count(): number {
    return this.#slices.reduce((count, slice) => count + slice.connections.size, 0)
  }

  /** Sends everybody a goodbye; they reconnect spread over `spreadMs`. */
  async close(spreadMs: number): Promise<void> {
    this.#draining = true
    clearInterval(this.#sweeper)
    for (const connection of this.#connections())
      connection.end("draining", Math.round(Math.random() * spreadMs))
    const left = [...this.#connections()].map(({ gone }) => gone)
    await Promise.race([Promise.all(left), new Promise((resolve) => setTimeout(resolve, 2000).unref())])
    this.#io.engine?.close()
  }

  #endAll(isEnded: (connection: Connection<Viewer>) => boolean): void {
    this.#hub.between(() => {
      for (const connection of this.#connections())
        if (isEnded(connection)) connection.end("signed_out", null)
    })
  }

  async #recheck(isDoubtful: (connection: Connection<Viewer>) => boolean): Promise<void> {
    for (const connection of this.#connections()) {
      if (!isDoubtful(connection)) continue
      try {
        if (!(await connection.isSessionValid())) connection.end("signed_out", null)
      } catch {
        // It is unknown, so it has to authenticate again.
        connection.end("draining", Math.round(Math.random() * 5000))
      }
    }
  }

  *#connections(): Generator<Connection<Viewer>> {
    for (const slice of this.#slices) yield* slice.connections
  }

  /** Includes those that have sent no handshake yet. */
  rawCount(): number {
    return this.#io.engine?.clientsCount ?? 0
  }

  #countAddress(raw: RawConnection, address: string): void {
    this.#perAddress.set(address, (this.#perAddress.get(address) ?? 0) + 1)
    raw.once("close", () => {
      const left = (this.#perAddress.get(address) ?? 1) - 1
      if (left > 0) this.#perAddress.set(address, left)
      else this.#perAddress.delete(address)
    })
  }

  /**
   * A browser always sends its origin. A client without one is no browser and carries no victim's
   * cookie.
   */
  #refuseRequest(request: IncomingMessage): string | null {
    // Engine.IO reports it only to connections that it has opened.
    if (new URL(request.url ?? "", "http://localhost").searchParams.get("EIO") !== "4") return "protocol"
    if (this.#draining) return "draining"
    if (this.#isAdmitted?.(request) === false) return "closed"
    // Connections without a handshake count as well.
    if (this.rawCount() >= this.#options.maxConnections) return "full"
    const address = this.#options.addressOf?.(request)
    if (
      address !== undefined &&
      (this.#perAddress.get(address) ?? 0) >= this.#options.maxConnectionsPerAddress
    )
      return "address"
    const { origin } = request.headers
    return origin === undefined || this.#options.origins.includes(origin) ? null : "origin"
  }

  async #acceptHandshake(socket: Socket): Promise<void> {
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
    if (this.#handshaken.has(socket.conn))
      throw new Refused("invalid", "This connection has sent its handshake.")
    this.#handshaken.add(socket.conn)
    const askedAt = performance.now()
    const verified = await this.#options.verify(handshake.output.token)
    const userId = this.#options.userIdOf(verified.viewer)
    const revocations = [
      this.#revokedAt.users.get(userId),
      ...this.#options.credentialsOf(verified.viewer).map((name) => this.#revokedAt.credentials.get(name)),
    ]
    if (revocations.some((at = 0) => at >= askedAt)) throw createRefusal("unauthorized", "session-ended")
    // A connection that closed in the meantime would never report it again.
    if (socket.conn.readyState !== "open") throw createRefusal("unavailable", "connection-closed", 1000)
    if (this.#draining) throw createRefusal("unavailable", "server-restarting", 1000)
    if (!this.#admitted.has(socket.conn))
      throw new Refused("unavailable", "The server was closed in the meantime.", 1000)
    const count = this.#perUser.get(userId) ?? 0
    if (count >= this.#options.maxConnectionsPerUser) {
      throw createRefusal("rate_limited", "too-many-connections", 10_000)
    }
    this.#perUser.set(userId, count + 1)
    const connection = new Connection(socket, verified, handshake.output.client ?? null, this.#options)
    this.#enter(socket, connection, connection.client)
  }

  #enter(socket: Socket, connection: Connection<Viewer>, client: Client): void {
    const slice = this.#slices[this.#entered++ % SLICES]
    slice?.connections.add(connection)
    this.#hub.clients.add(client)
    socket.conn.once("close", () => {
      slice?.connections.delete(connection)
      const left = (this.#perUser.get(client.userId) ?? 1) - 1
      if (left > 0) this.#perUser.set(client.userId, left)
      else this.#perUser.delete(client.userId)
      this.#hub.leave(client)
      connection.left()
    })
  }

  /**
   * Checks for expired and slow connections, and for those that have received nothing for a while.
   * One timer, because there may be ten thousand of them.
   */
  #sweepSlice(): void {
    const slice = this.#slices[this.#turn++ % SLICES]
    if (!slice) return
    const lag = this.#options.lag()
    const live = lag < 2000
    const changed = live !== slice.live
    slice.live = live
    const verifying = performance.now() - VERIFYING_MS
    for (const revoked of Object.values(this.#revokedAt)) {
      for (const [name, at] of revoked) if (at < verifying) revoked.delete(name)
    }
    const now = Date.now()
    for (const connection of slice.connections) connection.tick(now, lag, changed)
  }
}
