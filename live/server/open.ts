import { createHash } from "node:crypto"
import type { IncomingMessage, Server as HttpServer } from "node:http"

import { createActivity, type ActivityReport } from "./activity.ts"
import { ensureAnchor, warnOfUnlimitedLog, type Anchor } from "./anchor.ts"
import { dispatchAnnouncements } from "./announce.ts"
import { createCatalogue } from "./catalogue.ts"
import { createConfirmation } from "./confirmation.ts"
import { createChannels, type Representation } from "./channels.ts"
import type { ConnectionInfo, Verified } from "./connection.ts"
import type { LiveRow, Loaded, RefusalText } from "../protocol/contract.ts"
import { follow, type FollowOptions } from "./follow.ts"
import { openFreshSnapshots } from "./fresh-snapshots.ts"
import { createHolds } from "./holds.ts"
import type { Edit } from "./edits.ts"
import { Hub } from "./hub.ts"
import { startKeeper } from "./keeper.ts"
import { layOutWatched } from "./layout.ts"
import { openNodes } from "./nodes.ts"
import { openPool } from "./pool.ts"
import { PUBLISH_CHANNELS } from "./peers.ts"
import { openLoads, type Question } from "./load.ts"
import { createMetrics, type Distribution, type Measured } from "./metrics.ts"
import { createMutator } from "./mutate.ts"
import { createRefusal, tell } from "./refusal.ts"
import { Ring } from "./ring.ts"
import { createShapes } from "./shapes.ts"
import { openSnapshots } from "./snapshot.ts"
import { createSockets } from "./sockets.ts"
import { LIMITS } from "./limits.ts"
import { epochOf, isInLineage, type Epoch, type Lineage } from "./lineage.ts"
import type { RealtimeOptions } from "./options.ts"
import { renewTokens } from "./renew-tokens.ts"
import { formOf, setUp } from "./setup.ts"
import { createSubscriber } from "./subscribe.ts"
import { watchTable } from "./tables.ts"
import { createAssembler } from "./transactions.ts"
import { widenXid } from "./visibility.ts"
import { startReader } from "./wal-reader.ts"

export interface Realtime<Viewer> {
  attach(server: HttpServer): void
  /**
   * Rows to render a page from, all of one snapshot, with what the browser needs to continue from
   * them. Throws an error with a `refusal`.
   */
  snapshotOf(questions: readonly Question[], viewer: Viewer): Promise<Loaded[]>
  /** Runs a declared query once: its rows, or its one row or null. */
  runQuery(query: string, args: unknown, viewer: Viewer): Promise<unknown>
  /**
   * Ends all connections of a user, in every process. A person who is still signed in reconnects
   * immediately with a new token.
   */
  revokeUser(userId: string): Promise<void>
  /**
   * Follows a query inside the process: `onRows` receives all its rows, unordered, at first and
   * after every commit that touched them. Returns a function that stops it.
   */
  follow(
    question: Question,
    onRows: (rows: readonly LiveRow[]) => void,
    options?: FollowOptions<Viewer>,
  ): () => void
  /**
   * Counts people whom the process serves without a socket among the members of a channel.
   * `changed` receives the number of all members, in every process.
   */
  represent(channel: { name: string; args: unknown }, changed: (count: number) => void): Representation
  /**
   * Sends a message to the members of a channel that only the server sends to, in every process.
   * `from` names what the message is about: of several, a slow client receives the last. Returns
   * whether anybody listens: if nobody does, nothing is sent.
   */
  sendToMembers(channel: { name: string; args: unknown; from: string }, message: unknown): boolean
  /** The user's connections to this process. */
  connectionsOf(userId: string): readonly ConnectionInfo<Viewer>[]
  metrics(): Record<string, number | Distribution>
  /** The same with the kind of each, for exporters. */
  measured(): Measured[]
  /** What each query does in this process now, and did in the last hour. */
  activity(): ActivityReport
  /**
   * Whether the data being sent is current; if not, why, and whether every process of this version
   * has the same problem.
   */
  ready(): { ready: true } | { ready: false; problem: RefusalText; everywhere: boolean }
  /**
   * Disconnects everybody and accepts only connections whose request is admitted; null accepts
   * everybody again.
   */
  admitOnly(isAdmitted: ((request: IncomingMessage) => boolean) | null): void
  /** Resolves when the stream has started for the first time. */
  whenLive(): Promise<void>
  close(): Promise<void>
}

/**
 * SQL that ends all connections of a user, in every process, at the commit of the transaction that
 * runs it: `$1` is the user's id.
 */
export const REVOKE_USER = "select pg_logical_emit_message(true, 'realtime.revoke', $1)"

/**
 * The same for connections opened with a credential: `$1` is its name, as `credentialsOf` gives it.
 */
export const END_CREDENTIAL = "select pg_logical_emit_message(true, 'realtime.end', $1)"

/**
 * Sets up what the engine keeps in the database, starts reading the log, and serves sockets from
 * it. Throws if the tables cannot be watched.
 */
export async function openRealtime<Viewer, Scope>(
  options: RealtimeOptions<Viewer, Scope>,
): Promise<Realtime<Viewer>> {
  const limits = { ...LIMITS, ...options.limits }
  const { log, databaseUrl } = options
  const metrics = createMetrics()
  const activity = createActivity()
  const { connections: most = 3 } = options
  const pool = openPool(options.poolerUrl ?? databaseUrl, most, {
    pooled: options.poolerUrl !== undefined,
  })
  const watched = options.tables.map(watchTable)
  let anchor: Anchor
  let inspectedAt: bigint
  try {
    ;({ anchor, inspectedAt } = await setUp(pool, limits.name, watched))
    await warnOfUnlimitedLog(pool, log)
  } catch (error) {
    await pool.close()
    throw error
  }

  const form = formOf(watched)
  const ring = new Ring({ windowMs: limits.windowMs, bytes: limits.ringBytes }, 0n)
  const shapes = createShapes((shape) => ring.addShape(shape))
  const nodes = openNodes({
    databaseUrl,
    followUrls: options.followUrls ?? [],
    primary: pool,
    anchor,
    connections: most,
    log,
    metrics,
    lagMs: limits.followLagMs,
    settleMs: limits.followSettleMs,
    move: () => reader.again(),
    switched: () => ring.doubt(),
    answered: () => confirmation.release(),
  })
  const snapshots = openSnapshots({ source: nodes, ring, metrics, activity, maxRows: limits.maxRows })
  const dispatchAnnouncement = dispatchAnnouncements(options.announcements ?? {}, log)
  const channels = createChannels({
    channels: options.channels ?? [],
    metrics,
    publish: async (text) => void (await pool.useClient((sql) => sql.unsafe(PUBLISH_CHANNELS, [text]))),
  })
  const holds = createHolds({ hub: () => hub, snapshots, log, metrics })
  const hub = new Hub({
    ring,
    shapes,
    metrics,
    activity,
    recheck: (subscriptions, transaction) => holds.recheck(subscriptions, transaction),
    complete: (outbox, edit, transaction) => holds.complete(outbox, edit, transaction),
    nudge: () => keeper.nudge(),
    onMessage(prefix, content, end) {
      // From before this process began: its connections may belong to a later sign-in.
      const isPast = end <= begunAt
      if (prefix === "realtime.revoke") sockets.revokeUser(content, isPast)
      else if (prefix === "realtime.end") sockets.endCredential(content, isPast)
      else if (prefix === "realtime.channels") channels.received(content)
      else dispatchAnnouncement(prefix, content)
    },
    ended: (subscription) => channels.ended(subscription),
    entered: () => renewTokens(hub, options.secret),
    pressure(high) {
      if (high) reader.pause()
      else reader.resume()
    },
  })
  const byDescription = new Map(watched.map((table) => [table.description, table]))
  const layout = layOutWatched(watched, {
    log,
    inspectedAt,
    inspect: () => keeper.inspect(),
    changed(table) {
      hub.between(() => {
        hub.resetTable(table, "schema")
      })
    },
  })
  const catalogue = createCatalogue(options.queries, byDescription, layout.broken, shapes, (viewer, name) =>
    options.permit?.(viewer as Viewer, { kind: "query", name }),
  )
  const { secret } = options
  const confirmedBy = options.confirmedBy ?? 0
  const reading = { hub, ring, snapshots, catalogue, secret }
  const fresh = openFreshSnapshots({
    snapshots,
    nodes,
    primary: pool,
    hub,
    metrics,
    waitMs: limits.followWaitMs,
    isHeldBack: confirmedBy > 0,
  })
  const load = openLoads({ ...reading, snapshots: fresh, metrics })
  const subscriber = createSubscriber({
    ...reading,
    watching: layout,
    log,
    metrics,
    activity,
    // The others are for pages and for what keeps the stream going.
    concurrency: Math.ceil(most / 2),
    answerMs: limits.answerMs,
  })
  const present = new Map<string, Map<string, ConnectionInfo<Viewer>>>()

  const keeper = startKeeper({
    pool,
    source: nodes,
    followed: nodes.followed,
    anchor,
    ring,
    watched,
    log,
    metrics,
    anchorMs: limits.anchorMs,
    windowMs: limits.windowMs,
    unpublished: (tables) => layout.withhold(tables),
    inspected: (inspection) => layout.judge(inspection),
  })
  const live = Promise.withResolvers<void>()
  let lineage: Lineage | null = null
  /** How far the log reached when this process began to read it. */
  let begunAt = 0n
  const confirmation = createConfirmation({
    confirmed: () => (lineage ? nodes.confirmed(lineage, confirmedBy) : 0n),
    checkNow: () => nodes.checkNow(),
    transaction: (transaction) => hub.transaction(transaction),
    advance: (lsn) => hub.advance(lsn),
  })
  // The slots from which a stream goes on elsewhere have to be there before they are needed.
  if (nodes.followed.length > 0) {
    await Promise.allSettled([ensureAnchor(pool, anchor)])
    await Promise.allSettled(nodes.followed.map((node) => node.ensureAnchor()))
  }
  const reader = startReader({
    databaseUrl,
    nodes,
    anchor,
    withoutAnchor: (node) =>
      nodes.followed.find((each) => each === node)?.ensureAnchor() ?? ensureAnchor(pool, anchor),
    log,
    metrics,
    describing: layout,
    assembler: createAssembler(
      shapes,
      { changes: limits.transactionChanges, bytes: limits.transactionBytes },
      (xid) => widenXid(xid, keeper.recentXid()),
    ),
    replayBytes: BigInt(limits.ringBytes),
    reportMs: limits.reportMs,
    skipped: (start) => keeper.forgetBefore(start),
    sawXid: (xid) => keeper.sawXid(xid),
    sink: {
      position: () => (lineage === null ? null : ring.end),
      lineage: () => lineage,
      isIn: (other) =>
        lineage !== null && lineage.system === other.system && isInLineage(other, lineage.timeline, ring.end),
      proceed(to) {
        confirmation.clear()
        if (to.timeline !== lineage?.timeline) hub.enter(epochIn(to))
        lineage = to
      },
      restart(start, to, reach) {
        if (lineage === null) begunAt = reach
        // Announcements of ended sessions in the gap were not read. Neither were those before a
        // first start, which may wait for open transactions while sockets are already served.
        void sockets.recheckCredentials()
        channels.missed()
        lineage = to
        confirmation.clear()
        hub.restart(start, epochIn(to))
        live.resolve()
      },
      transaction(transaction) {
        if (confirmedBy > 0) confirmation.take(transaction.end, transaction)
        else hub.transaction(transaction)
      },
      advance(lsn) {
        if (confirmedBy > 0) confirmation.take(lsn, null)
        else hub.advance(lsn)
      },
    },
  })
  const sockets = createSockets<Viewer>({
    hub,
    subscriber,
    channels,
    log,
    metrics,
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
    credentialsOf: options.credentialsOf ?? (() => []),
    isSessionValid: options.isSessionValid ?? (async () => true),
    verify,
    lag: () => reader.lag(),
    query: runQuery,
    mutate: createMutator(
      options.mutations,
      options.transact,
      readPlace,
      (viewer, name) => options.permit?.(viewer, { kind: "mutation", name }),
      options.refuseArguments,
    ),
    opened: enter,
    closed: leave,
  })
  metrics.gauge("connections", () => sockets.count())
  metrics.gauge("raw_connections", () => sockets.rawCount())
  metrics.gauge("subscriptions", () => hub.topics.size())
  metrics.gauge("subscribing", () => subscriber.waiting())
  metrics.gauge("ring_bytes", () => ring.bytes)
  metrics.gauge("ring_transactions", () => ring.length)
  metrics.gauge("queue_bytes", () => hub.queueBytes())
  metrics.gauge("outbox_bytes", outboxBytes)
  metrics.gauge("broken_tables", () => layout.broken.size)
  metrics.gauge("position_bytes", () => Number(ring.end))
  metrics.gauge("stream_lag_ms", () => reader.lag())
  metrics.gauge("stream_behind_bytes", () => Number(ring.end - hub.position()))

  return {
    attach: (server) => sockets.attach(server),
    snapshotOf: (questions, viewer) => load(questions, viewer, options.userIdOf(viewer)),
    runQuery,
    follow: (question, onRows, how) => follow({ hub, subscriber }, question, onRows, how),
    represent: ({ name, args }, changed) => channels.represent(rangeOf(name, args), name, changed),
    sendToMembers: ({ name, args, from }, message) =>
      channels.sendToMembers(rangeOf(name, args), name, from, message),
    async revokeUser(userId) {
      await pool.useClient((sql) => sql.unsafe(REVOKE_USER, [userId]))
    },
    connectionsOf: (userId) => [...(present.get(userId)?.values() ?? [])],
    metrics: () => metrics.read(),
    measured: () => metrics.list(),
    activity: () => activity.report(hub.clients),
    ready,
    admitOnly: (isAdmitted) => sockets.admitOnly(isAdmitted, limits.drainSpreadMs),
    whenLive: () => live.promise,
    async close() {
      await sockets.close(limits.drainSpreadMs)
      await channels.close()
      await reader.stop()
      hub.close()
      await Promise.all([keeper.stop(), nodes.close()])
      await pool.close()
    },
  }

  /** Of the query that the channel belongs to. */
  function rangeOf(channel: string, args: unknown) {
    const query = options.channels?.find(({ name }) => name === channel)?.query.name ?? channel
    return catalogue.locate({ query, args })
  }

  function epochIn(to: Lineage): Epoch {
    const family = createHash("sha256").update(`${to.system}/${anchor.name}/${form}`).digest("base64url")
    return epochOf(family, to)
  }

  async function runQuery(query: string, args: unknown, viewer: Viewer): Promise<unknown> {
    const [loaded] = await load([{ query, args }], viewer, options.userIdOf(viewer))
    const rows = loaded?.rows ?? []
    return options.queries.find((each) => each.name === query)?.answer === "row" ? (rows[0] ?? null) : rows
  }

  async function verify(token: string): Promise<Verified<Viewer>> {
    const verified = await options.verify(token)
    if (!verified || Math.min(verified.expiresAt, verified.endsAt ?? Infinity) <= Date.now())
      throw createRefusal("unauthorized", "session-ended")
    return verified
  }

  async function readPlace(statement: string): Promise<string> {
    const [row] = await pool.useClient((sql) => sql.unsafe(statement, [], { prepare: true }))
    return String(row?.["lsn"])
  }

  function outboxBytes(): number {
    const counted = new Set<Edit>()
    let sum = 0
    for (const { outbox } of hub.clients) sum += outbox.measure(counted)
    return sum
  }

  function ready(): ReturnType<Realtime<Viewer>["ready"]> {
    const lag = reader.lag()
    const trouble = reader.trouble()
    if (lineage === null)
      return { ready: false, problem: trouble ?? tell("stream-not-started"), everywhere: false }
    if (lag > 5000)
      return {
        ready: false,
        problem: trouble ?? tell("stream-silent", { lag }),
        everywhere: false,
      }
    if (layout.broken.size > 0) return { ready: false, problem: describeBroken(), everywhere: true }
    return { ready: true }
  }

  function describeBroken(): RefusalText {
    const names = [...layout.broken].map((table) => table.sqlName).toSorted()
    return tell("tables-unfit", { tables: names.join(", ") })
  }

  function enter(connection: ConnectionInfo<Viewer>): void {
    const connections = present.get(connection.userId) ?? new Map<string, ConnectionInfo<Viewer>>()
    present.set(connection.userId, connections.set(connection.id, connection))
    options.presence?.opened(connection)
  }

  function leave(connection: ConnectionInfo<Viewer>): void {
    const connections = present.get(connection.userId)
    connections?.delete(connection.id)
    if (connections?.size === 0) present.delete(connection.userId)
    options.presence?.closed(connection)
  }
}
