import { createHash } from "node:crypto"
import type { IncomingMessage, Server as HttpServer } from "node:http"

import type { ConnectionPool } from "../postgres/connections.ts"
import { createActivity, type ActivityReport } from "./activity.ts"
import { ensureAnchor, type Anchor } from "./anchor.ts"
import { dispatchAnnouncements } from "./announce.ts"
import { createCatalogue, type Catalogue } from "./catalogue.ts"
import { Channels, type Representation } from "./channels.ts"
import { createConfirmation } from "./confirmation.ts"
import type { ConnectionInfo, Verified } from "./connection.ts"
import type { LiveRow, Loaded, RefusalText } from "../protocol/contract.ts"
import type { Edit } from "./edits.ts"
import { follow, type FollowOptions } from "./follow.ts"
import { openFreshSnapshots } from "./fresh-snapshots.ts"
import { Holds } from "./holds.ts"
import { Hub } from "./hub.ts"
import { Keeper } from "./keeper.ts"
import { layOutWatched, type Watching } from "./layout.ts"
import type { LIMITS } from "./limits.ts"
import { epochOf, isInLineage, type Epoch, type Lineage } from "./lineage.ts"
import { openLoads, type Load, type Question } from "./load.ts"
import { createMetrics, type Distribution, type Measured } from "./metrics.ts"
import { createMutator } from "./mutate.ts"
import { Nodes } from "./nodes.ts"
import { REVOKE_USER, type Realtime } from "./realtime.ts"
import type { RealtimeOptions } from "./options.ts"
import { PUBLISH_CHANNELS } from "./peers.ts"
import { createRefusal, tell } from "./refusal.ts"
import { renewTokens } from "./renew-tokens.ts"
import { Ring } from "./ring.ts"
import { formOf } from "./setup.ts"
import { createShapes } from "./shapes.ts"
import { openSnapshots, type Snapshots } from "./snapshot.ts"
import { Sockets } from "./sockets.ts"
import { Subscriber } from "./subscribe.ts"
import type { WatchedTable } from "./tables.ts"
import { Assembler } from "./transactions.ts"
import { widenXid } from "./visibility.ts"
import { Reader, type Sink } from "./wal-reader.ts"

/** What `openRealtime` has set up before the engine starts. */
export interface Prepared {
  readonly pool: ConnectionPool
  /** How many connections the pool opens. */
  readonly connections: number
  readonly limits: typeof LIMITS
  readonly watched: readonly WatchedTable[]
  readonly anchor: Anchor
  /** A place in the log: the tables had the right form there. */
  readonly inspectedAt: bigint
}

/**
 * The parts and how they are joined. The way of a commit: `Reader` reads the log of one of `Nodes`,
 * `Assembler` makes transactions of it, which wait for the standbys that must have them; `Hub` takes
 * them in order and stages in the outbox of each `Connection` what its subscriptions follow. `Keeper`
 * keeps the slot that a later start begins from, `Holds` checks access again where a commit touched
 * it, and `Subscriber` answers a subscription from a snapshot that is checked against `Ring`, the
 * latest minute of the log. Parts call each other through this object, so the order in which they are
 * made matters only for what their constructors read.
 */
export class Engine<Viewer, Scope> implements Realtime<Viewer> {
  readonly #options: RealtimeOptions<Viewer, Scope>
  readonly #prepared: Prepared
  readonly #metrics = createMetrics()
  readonly #activity = createActivity()
  readonly #ring: Ring
  readonly #shapes = createShapes((shape) => this.#ring.addShape(shape))
  readonly #nodes: Nodes
  readonly #snapshots: Snapshots
  readonly #channels: Channels
  readonly #announce: (prefix: string, content: string) => void
  readonly #holds: Holds
  readonly #hub: Hub
  readonly #layout: Watching
  readonly #catalogue: Catalogue
  readonly #load: Load
  readonly #subscriber: Subscriber
  readonly #keeper: Keeper
  readonly #confirmation: ReturnType<typeof createConfirmation>
  readonly #reader: Reader
  readonly #sockets: Sockets<Viewer>
  readonly #present = new Map<string, Map<string, ConnectionInfo<Viewer>>>()
  readonly #live = Promise.withResolvers<void>()
  #lineage: Lineage | null = null
  /** How far the log reached when this process began to read it. */
  #begunAt = 0n

  constructor(options: RealtimeOptions<Viewer, Scope>, prepared: Prepared) {
    this.#options = options
    this.#prepared = prepared
    const { limits, pool } = prepared
    const { log } = options
    const [metrics, activity] = [this.#metrics, this.#activity]
    this.#ring = new Ring({ windowMs: limits.windowMs, bytes: limits.ringBytes }, 0n)
    this.#nodes = this.#openNodes()
    this.#snapshots = openSnapshots({
      source: this.#nodes,
      ring: this.#ring,
      metrics,
      activity,
      maxRows: limits.maxRows,
    })
    this.#announce = dispatchAnnouncements(options.announcements ?? {}, log)
    this.#channels = new Channels({
      channels: options.channels ?? [],
      metrics,
      publish: async (text) => void (await pool.useClient((sql) => sql.unsafe(PUBLISH_CHANNELS, [text]))),
    })
    this.#holds = new Holds({ hub: () => this.#hub, snapshots: this.#snapshots, log, metrics })
    this.#hub = this.#openHub()
    this.#layout = this.#layOut()
    this.#catalogue = this.#openCatalogue()
    this.#load = this.#openLoads()
    this.#subscriber = new Subscriber({
      ...this.#reading(),
      snapshots: this.#snapshots,
      watching: this.#layout,
      log,
      metrics,
      activity,
      // The others are for pages and for what keeps the stream going.
      concurrency: Math.ceil(prepared.connections / 2),
      answerMs: limits.answerMs,
    })
    this.#keeper = this.#openKeeper()
    this.#confirmation = createConfirmation({
      confirmed: () => (this.#lineage ? this.#nodes.confirmed(this.#lineage, this.#confirmedBy) : 0n),
      checkNow: () => this.#nodes.checkNow(),
      transaction: (transaction) => this.#hub.transaction(transaction),
      advance: (lsn) => this.#hub.advance(lsn),
    })
    this.#reader = this.#openReader()
    this.#sockets = this.#openSockets()
    this.#showGauges()
  }

  async start(): Promise<void> {
    const { followed } = this.#nodes
    // The slots from which a stream goes on elsewhere have to be there before they are needed.
    if (followed.length > 0) {
      await Promise.allSettled([ensureAnchor(this.#prepared.pool, this.#prepared.anchor)])
      await Promise.allSettled(followed.map((node) => node.ensureAnchor()))
    }
    this.#reader.start()
  }

  attach(server: HttpServer): void {
    this.#sockets.attach(server)
  }

  snapshotOf(questions: readonly Question[], viewer: Viewer): Promise<Loaded[]> {
    return this.#load(questions, viewer, this.#options.userIdOf(viewer))
  }

  async runQuery(query: string, args: unknown, viewer: Viewer): Promise<unknown> {
    const [loaded] = await this.snapshotOf([{ query, args }], viewer)
    const rows = loaded?.rows ?? []
    const declared = this.#options.queries.find((each) => each.name === query)
    return declared?.answer === "row" ? (rows[0] ?? null) : rows
  }

  async revokeUser(userId: string): Promise<void> {
    await this.#prepared.pool.useClient((sql) => sql.unsafe(REVOKE_USER, [userId]))
  }

  follow(
    question: Question,
    onRows: (rows: readonly LiveRow[]) => void,
    options?: FollowOptions<Viewer>,
  ): () => void {
    return follow({ hub: this.#hub, subscriber: this.#subscriber }, question, onRows, options)
  }

  represent(
    { name, args }: { name: string; args: unknown },
    changed: (count: number) => void,
  ): Representation {
    return this.#channels.represent(this.#rangeOf(name, args), name, changed)
  }

  sendToMembers(
    { name, args, from }: { name: string; args: unknown; from: string },
    message: unknown,
  ): boolean {
    return this.#channels.sendToMembers(this.#rangeOf(name, args), name, from, message)
  }

  connectionsOf(userId: string): readonly ConnectionInfo<Viewer>[] {
    return [...(this.#present.get(userId)?.values() ?? [])]
  }

  metrics(): Record<string, number | Distribution> {
    return this.#metrics.read()
  }

  measured(): Measured[] {
    return this.#metrics.list()
  }

  activity(): ActivityReport {
    return this.#activity.report(this.#hub.clients)
  }

  ready(): ReturnType<Realtime<Viewer>["ready"]> {
    const lag = this.#reader.lag()
    const trouble = this.#reader.trouble()
    if (this.#lineage === null)
      return { ready: false, problem: trouble ?? tell("stream-not-started"), everywhere: false }
    if (lag > 5000)
      return { ready: false, problem: trouble ?? tell("stream-silent", { lag }), everywhere: false }
    if (this.#layout.broken.size > 0)
      return { ready: false, problem: this.#describeBroken(), everywhere: true }
    return { ready: true }
  }

  admitOnly(isAdmitted: ((request: IncomingMessage) => boolean) | null): void {
    this.#sockets.admitOnly(isAdmitted, this.#prepared.limits.drainSpreadMs)
  }

  whenLive(): Promise<void> {
    return this.#live.promise
  }

  async close(): Promise<void> {
    await this.#sockets.close(this.#prepared.limits.drainSpreadMs)
    await this.#channels.close()
    await this.#reader.stop()
    this.#hub.close()
    await Promise.all([this.#keeper.stop(), this.#nodes.close()])
    await this.#prepared.pool.close()
  }

  /** How many standbys must have a commit before it is shown. */
  get #confirmedBy(): number {
    return this.#options.confirmedBy ?? 0
  }

  #openNodes(): Nodes {
    const { anchor, connections, limits, pool } = this.#prepared
    return new Nodes({
      databaseUrl: this.#options.databaseUrl,
      followUrls: this.#options.followUrls ?? [],
      primary: pool,
      anchor,
      connections,
      log: this.#options.log,
      metrics: this.#metrics,
      lagMs: limits.followLagMs,
      settleMs: limits.followSettleMs,
      move: () => this.#reader.again(),
      switched: () => this.#ring.doubt(),
      answered: () => this.#confirmation.release(),
    })
  }

  #openHub(): Hub {
    return new Hub({
      ring: this.#ring,
      shapes: this.#shapes,
      metrics: this.#metrics,
      activity: this.#activity,
      recheck: (subscriptions, transaction) => this.#holds.recheck(subscriptions, transaction),
      complete: (outbox, edit, transaction) => this.#holds.complete(outbox, edit, transaction),
      nudge: () => this.#keeper.nudge(),
      onMessage: (prefix, content, end) => {
        // From before this process began: its connections may belong to a later sign-in.
        const isPast = end <= this.#begunAt
        if (prefix === "realtime.revoke") this.#sockets.revokeUser(content, isPast)
        else if (prefix === "realtime.end") this.#sockets.endCredential(content, isPast)
        else if (prefix === "realtime.channels") this.#channels.received(content)
        else this.#announce(prefix, content)
      },
      ended: (subscription) => this.#channels.ended(subscription),
      entered: () => renewTokens(this.#hub, this.#options.secret),
      pressure: (high) => {
        if (high) this.#reader.pause()
        else this.#reader.resume()
      },
    })
  }

  #layOut(): Watching {
    return layOutWatched(this.#prepared.watched, {
      log: this.#options.log,
      inspectedAt: this.#prepared.inspectedAt,
      inspect: () => this.#keeper.inspect(),
      changed: (table) => {
        this.#hub.between(() => {
          this.#hub.resetTable(table, "schema")
        })
      },
    })
  }

  #openCatalogue(): Catalogue {
    const { queries, permit } = this.#options
    const byDescription = new Map(this.#prepared.watched.map((table) => [table.description, table]))
    return createCatalogue(queries, byDescription, this.#layout.broken, this.#shapes, (viewer, name) =>
      permit?.(viewer as Viewer, { kind: "query", name }),
    )
  }

  #openLoads(): Load {
    const snapshots = openFreshSnapshots({
      snapshots: this.#snapshots,
      nodes: this.#nodes,
      primary: this.#prepared.pool,
      hub: this.#hub,
      metrics: this.#metrics,
      waitMs: this.#prepared.limits.followWaitMs,
      isHeldBack: this.#confirmedBy > 0,
    })
    return openLoads({ ...this.#reading(), snapshots, metrics: this.#metrics })
  }

  #reading() {
    return { hub: this.#hub, ring: this.#ring, catalogue: this.#catalogue, secret: this.#options.secret }
  }

  #openKeeper(): Keeper {
    const { anchor, limits, pool, watched } = this.#prepared
    return new Keeper({
      pool,
      source: this.#nodes,
      followed: this.#nodes.followed,
      anchor,
      ring: this.#ring,
      watched,
      log: this.#options.log,
      metrics: this.#metrics,
      anchorMs: limits.anchorMs,
      windowMs: limits.windowMs,
      unpublished: (tables) => this.#layout.withhold(tables),
      inspected: (inspection) => this.#layout.judge(inspection),
    })
  }

  #openReader(): Reader {
    const { anchor, limits, pool } = this.#prepared
    const { followed } = this.#nodes
    return new Reader({
      databaseUrl: this.#options.databaseUrl,
      nodes: this.#nodes,
      anchor,
      withoutAnchor: (node) =>
        followed.find((each) => each === node)?.ensureAnchor() ?? ensureAnchor(pool, anchor),
      log: this.#options.log,
      metrics: this.#metrics,
      describing: this.#layout,
      assembler: new Assembler(
        this.#shapes,
        { changes: limits.transactionChanges, bytes: limits.transactionBytes },
        (xid) => widenXid(xid, this.#keeper.recentXid()),
      ),
      replayBytes: BigInt(limits.ringBytes),
      reportMs: limits.reportMs,
      skipped: (start) => this.#keeper.forgetBefore(start),
      sawXid: (xid) => this.#keeper.sawXid(xid),
      sink: this.#openSink(),
    })
  }

  #openSink(): Sink {
    return {
      position: () => (this.#lineage === null ? null : this.#ring.end),
      lineage: () => this.#lineage,
      isIn: (other) =>
        this.#lineage !== null &&
        this.#lineage.system === other.system &&
        isInLineage(other, this.#lineage.timeline, this.#ring.end),
      proceed: (to) => {
        this.#confirmation.clear()
        if (to.timeline !== this.#lineage?.timeline) this.#hub.enter(this.#epochIn(to))
        this.#lineage = to
      },
      restart: (start, to, reach) => {
        if (this.#lineage === null) this.#begunAt = reach
        // Announcements of ended sessions in the gap were not read. Neither were those before a
        // first start, which may wait for open transactions while sockets are already served.
        void this.#sockets.recheckCredentials()
        this.#channels.missed()
        this.#lineage = to
        this.#confirmation.clear()
        this.#hub.restart(start, this.#epochIn(to))
        this.#live.resolve()
      },
      transaction: (transaction) => {
        if (this.#confirmedBy > 0) this.#confirmation.take(transaction.end, transaction)
        else this.#hub.transaction(transaction)
      },
      advance: (lsn) => {
        if (this.#confirmedBy > 0) this.#confirmation.take(lsn, null)
        else this.#hub.advance(lsn)
      },
    }
  }

  #openSockets(): Sockets<Viewer> {
    const { limits } = this.#prepared
    const { credentialsOf = () => [], isSessionValid = async () => true, permit, ...options } = this.#options
    return new Sockets<Viewer>({
      hub: this.#hub,
      subscriber: this.#subscriber,
      channels: this.#channels,
      log: options.log,
      metrics: this.#metrics,
      origins: options.origins,
      maxConnections: limits.maxConnections,
      maxConnectionsPerUser: limits.maxConnectionsPerUser,
      maxConnectionsPerAddress: limits.maxConnectionsPerAddress,
      addressOf: options.addressOf,
      positionMs: limits.positionMs,
      answerMs: limits.answerMs,
      graceMs: limits.graceMs,
      messagesPerSecond: limits.messagesPerSecond,
      userIdOf: options.userIdOf,
      credentialsOf,
      isSessionValid,
      verify: (token) => this.#verify(token),
      lag: () => this.#reader.lag(),
      query: (query, args, viewer) => this.runQuery(query, args, viewer),
      mutate: createMutator(
        options.mutations,
        options.transact,
        (statement) => this.#readPlace(statement),
        (viewer, name) => permit?.(viewer, { kind: "mutation", name }),
        options.refuseArguments,
      ),
      opened: (connection) => this.#enter(connection),
      closed: (connection) => this.#leave(connection),
    })
  }

  #showGauges(): void {
    const gauges = {
      connections: () => this.#sockets.count(),
      raw_connections: () => this.#sockets.rawCount(),
      subscriptions: () => this.#hub.topics.size(),
      subscribing: () => this.#subscriber.waiting(),
      ring_bytes: () => this.#ring.bytes,
      ring_transactions: () => this.#ring.length,
      queue_bytes: () => this.#hub.queueBytes(),
      outbox_bytes: () => this.#outboxBytes(),
      broken_tables: () => this.#layout.broken.size,
      position_bytes: () => Number(this.#ring.end),
      stream_lag_ms: () => this.#reader.lag(),
      stream_behind_bytes: () => Number(this.#ring.end - this.#hub.position()),
    }
    for (const [name, read] of Object.entries(gauges)) this.#metrics.gauge(name, read)
  }

  /** Of the query that the channel belongs to. */
  #rangeOf(channel: string, args: unknown) {
    const query = this.#options.channels?.find(({ name }) => name === channel)?.query.name ?? channel
    return this.#catalogue.locate({ query, args })
  }

  #epochIn(to: Lineage): Epoch {
    const { anchor, watched } = this.#prepared
    const family = `${to.system}/${anchor.name}/${formOf(watched)}`
    return epochOf(createHash("sha256").update(family).digest("base64url"), to)
  }

  async #verify(token: string): Promise<Verified<Viewer>> {
    const verified = await this.#options.verify(token)
    if (!verified || Math.min(verified.expiresAt, verified.endsAt ?? Infinity) <= Date.now())
      throw createRefusal("unauthorized", "session-ended")
    return verified
  }

  async #readPlace(statement: string): Promise<string> {
    const [row] = await this.#prepared.pool.useClient((sql) => sql.unsafe(statement, [], { prepare: true }))
    return String(row?.["lsn"])
  }

  #outboxBytes(): number {
    const counted = new Set<Edit>()
    let sum = 0
    for (const { outbox } of this.#hub.clients) sum += outbox.measure(counted)
    return sum
  }

  #describeBroken(): RefusalText {
    const names = [...this.#layout.broken].map((table) => table.sqlName).toSorted()
    return tell("tables-unfit", { tables: names.join(", ") })
  }

  #enter(connection: ConnectionInfo<Viewer>): void {
    const connections = this.#present.get(connection.userId) ?? new Map<string, ConnectionInfo<Viewer>>()
    this.#present.set(connection.userId, connections.set(connection.id, connection))
    this.#options.presence?.opened(connection)
  }

  #leave(connection: ConnectionInfo<Viewer>): void {
    const connections = this.#present.get(connection.userId)
    connections?.delete(connection.id)
    if (connections?.size === 0) this.#present.delete(connection.userId)
    this.#options.presence?.closed(connection)
  }
}
