import type { ConnectionPool } from "../postgres/connections.ts"
import { nameOfServers, startAnswerTimer } from "../postgres/servers.ts"
import { ensureAnchor, type Anchor } from "./anchor.ts"
import { isInLineage, type Lineage } from "./lineage.ts"
import type { Log } from "./log.ts"
import { lsnFromSql } from "./lsn.ts"
import type { Metrics } from "./metrics.ts"
import { flushedIn, watchNode, type Node, type NodeWatch } from "./node.ts"
import { openPool } from "./pool.ts"
import type { Source } from "./snapshot.ts"
import { ensureStandbyAnchor } from "./standby-anchor.ts"
import { adviseSlot, IS_WITHOUT_SLOT, RECEIVES } from "./standby-slot.ts"

/** A standby that is named to be read from; it may be promoted. */
export interface FollowedNode extends Node {
  /** Makes sure that the process can begin to read there. Throws if that takes too long. */
  ensureAnchor(): Promise<void>
  /** Whether it answers and keeps up. */
  isUsable(): boolean
}

/** The servers of one cluster: which of them is read from now, and which may take its place. */
export interface Nodes extends Source {
  readonly followed: readonly FollowedNode[]
  /** All of them, in the order in which they should be tried. */
  inOrder(): readonly Node[]
  /** From now on this one is read from. */
  use(node: Node, lineage: Lineage): void
  /** How much of this log `count` of the followed servers have on disk. */
  confirmed(lineage: Lineage, count: number): bigint
  /** Asks the followed servers at once what they have. */
  checkNow(): void
  /** How far the primary's log is on its disk; null while it does not answer. */
  askPrimary(): Promise<bigint | null>
  close(): Promise<void>
}

export interface NodesOptions {
  readonly databaseUrl: string
  readonly followUrls: readonly string[]
  readonly primary: ConnectionPool
  readonly anchor: Anchor
  readonly connections: number
  readonly log: Log
  readonly metrics: Metrics
  /** A standby that is further behind than this is passed over. ms. */
  readonly lagMs: number
  /** How long a standby must have been healthy to be returned to. ms. */
  readonly settleMs: number
  /** The reader should begin again: elsewhere, or here in another timeline. */
  readonly move: () => void
  /** Another server than before is read from now on. */
  readonly switched: () => void
  /** A followed server has answered. */
  readonly answered: () => void
}

const WATCH_MS = 500
const PRIMARY_ANSWER_MS = 1500
/** A standby that hangs keeps a connection for this long. */
const STANDBY_TIMEOUT_MS = 15_000

interface Sample {
  readonly at: number
  readonly lsn: bigint
  readonly timeline: number
}

export function openNodes(options: NodesOptions): Nodes {
  const { primary, anchor, log, metrics } = options
  const { databaseUrl } = options
  const fallback: Node = { url: databaseUrl, name: "the primary", pool: primary, isFollowed: false }
  const followed = options.followUrls.map((url): FollowedNode => {
    const pool = openPool(url, options.connections, { clientTimeout: STANDBY_TIMEOUT_MS })
    const node: FollowedNode = {
      url,
      name: nameOfServers(url),
      pool,
      isFollowed: true,
      ensureAnchor: () => ensureOn(node),
      isUsable: () => problemOf(node) === null,
    }
    return node
  })
  const watches = new Map<Node, NodeWatch>()
  const healthySince = new Map<Node, number>()
  const troubled = new Set<Node>()
  /** Oldest first; the first is older than the lag that is allowed, if there is such a one. */
  let samples: Sample[] = []
  let sampling = false
  let used: { node: Node; lineage: Lineage } | null = null
  let isMoving = false
  const warned = new Set<string>()
  const timer = followed.length > 0 ? setInterval(() => void sample(), WATCH_MS) : undefined
  for (const node of followed)
    watches.set(node, watchNode(node, { intervalMs: WATCH_MS, changed: () => answered() }))
  metrics.gauge("reads_standby", () => (used?.node.isFollowed ? 1 : 0))

  return {
    followed,
    get pool() {
      return used?.node.pool ?? primary
    },
    get isStandby() {
      return used?.node.isFollowed ?? false
    },
    inOrder() {
      return [...followed, fallback].toSorted((one, other) => rank(one) - rank(other))
    },
    use(node, lineage) {
      isMoving = false
      if (used && node !== used.node) options.switched()
      if (node !== used?.node && followed.length > 0)
        log.info(
          { node: node.name, timeline: lineage.timeline },
          "the change stream is read from this server",
        )
      used = { node, lineage }
    },
    confirmed(lineage, count) {
      const all = followed.map((node) => {
        const state = watches.get(node)?.state()
        return state ? flushedIn(state, lineage) : 0n
      })
      return all.toSorted((one, other) => (one > other ? -1 : 1))[count - 1] ?? 0n
    },
    checkNow() {
      for (const watch of watches.values()) watch.checkNow()
    },
    askPrimary: async () => (await askPrimary())?.lsn ?? null,
    async close() {
      clearInterval(timer)
      await Promise.all([...watches.values()].map((watch) => watch.stop()))
      await Promise.all(followed.map(({ pool }) => pool.close()))
    },
  }

  /** Standbys before primaries, and those with a problem last. */
  function rank(node: Node): number {
    if (!node.isFollowed) return 2
    if (problemOf(node) !== null) return 3
    if (watches.get(node)?.state()?.isStandby !== true) return 1
    return node === used?.node ? -1 : 0
  }

  function answered(): void {
    for (const node of followed) notice(node, problemOf(node))
    options.answered()
    if (!used || isMoving) return
    const reason = reasonToMove(used)
    if (reason === null) return
    isMoving = true
    metrics.count("moves")
    log.info({ node: used.node.name, reason }, "the change stream begins again")
    options.move()
  }

  function notice(node: Node, problem: string | null): void {
    if (problem === null) {
      if (!healthySince.has(node)) healthySince.set(node, performance.now())
      if (troubled.delete(node)) log.info({ node: node.name }, "the followed server can be read again")
      return
    }
    healthySince.delete(node)
    if (troubled.has(node)) return
    troubled.add(node)
    log.warn({ node: node.name, problem }, "a followed server is passed over")
  }

  function reasonToMove({ node, lineage }: { node: Node; lineage: Lineage }): string | null {
    const isSettled = (each: Node) =>
      (healthySince.get(each) ?? Infinity) < performance.now() - options.settleMs &&
      watches.get(each)?.state()?.isStandby === true
    const other = followed.some((each) => each !== node && isSettled(each))
    if (!node.isFollowed) return other ? "A standby can be read again." : null
    const problem = problemOf(node)
    if (problem !== null) return other || isPrimaryThere() ? problem : null
    const state = watches.get(node)?.state()
    if (state && state.lineage.timeline !== lineage.timeline) return "It is in another timeline."
    if (state && !state.isStandby && other) return "It is the primary now, and a standby can be read."
    return null
  }

  /** Why a followed server should not be read from; null if it may be. */
  function problemOf(node: Node): string | null {
    const state = watches.get(node)?.state()
    if (!state) return "It does not answer."
    const due = samples[0]
    if (!due || !state.isStandby || !isPrimaryThere()) return null
    if (due.at > performance.now() - options.lagMs) return null
    const isBehind = state.replayed < due.lsn || !isInLineage(state.lineage, due.timeline, due.lsn)
    return isBehind ? "It lags behind." : null
  }

  function isPrimaryThere(): boolean {
    const last = samples.at(-1)
    return last !== undefined && last.at > performance.now() - WATCH_MS - PRIMARY_ANSWER_MS
  }

  async function sample(): Promise<void> {
    if (sampling) return
    sampling = true
    const at = performance.now()
    const answer = await askPrimary()
    sampling = false
    if (!answer) return
    samples.push({ at, ...answer })
    const due = samples.findLastIndex((each) => each.at <= at - options.lagMs)
    if (due > 0) samples = samples.slice(due)
    answered()
  }

  async function askPrimary(): Promise<Omit<Sample, "at"> | null> {
    const late = Promise.withResolvers<null>()
    const stopTimer = startAnswerTimer(PRIMARY_ANSWER_MS, () => late.resolve(null))
    const asked = primary
      .useClient(
        (sql) => sql`
          select pg_current_wal_flush_lsn()::text as lsn, pg_walfile_name(pg_current_wal_flush_lsn()) as file`,
      )
      .then(([row]) => ({
        lsn: lsnFromSql(String(row?.["lsn"])),
        timeline: Number.parseInt(String(row?.["file"]).slice(0, 8), 16),
      }))
      .catch(() => null)
    const answer = await Promise.race([asked, late.promise])
    stopTimer()
    return answer
  }

  async function ensureOn(node: Node): Promise<void> {
    const { name, pool, url } = node
    const [row] = await pool.useClient((sql) => sql.unsafe(READ_STANDBY))
    if (row?.["standby"] !== true) return ensureAnchor(pool, anchor)
    if (row["bare"] === true) warnOnce(name, adviseSlot(url))
    if (await ensureStandbyAnchor(node, primary, anchor)) return
    warnOnce(
      name,
      "This role may not ask for a slot on a standby to be ready at once, so that takes longer. " +
        "Run on the primary, as a superuser: GRANT EXECUTE ON FUNCTION pg_log_standby_snapshot() TO the role.",
    )
  }

  function warnOnce(name: string, message: string): void {
    if (warned.has(message)) return
    warned.add(message)
    log.warn({ node: name }, message)
  }
}

const READ_STANDBY = `
  select pg_is_in_recovery() as standby, ${RECEIVES} and ${IS_WITHOUT_SLOT} as bare`
