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

export class Nodes implements Source {
  readonly #options: NodesOptions
  readonly #primary: ConnectionPool
  readonly #log: Log
  readonly #fallback: Node
  readonly followed: FollowedNode[]
  readonly #watches = new Map<Node, NodeWatch>()
  readonly #healthySince = new Map<Node, number>()
  readonly #troubled = new Set<Node>()
  /** Oldest first; the first is older than the lag that is allowed, if there is such a one. */
  #samples: Sample[] = []
  #sampling = false
  #used: { node: Node; lineage: Lineage } | null = null
  #isMoving = false
  readonly #warned = new Set<string>()
  readonly #timer: NodeJS.Timeout | undefined

  constructor(options: NodesOptions) {
    this.#options = options
    this.#primary = options.primary
    this.#log = options.log
    this.#fallback = {
      url: options.databaseUrl,
      name: "the primary",
      pool: this.#primary,
      isFollowed: false,
    }
    this.followed = options.followUrls.map((url): FollowedNode => {
      const pool = openPool(url, options.connections, { clientTimeout: STANDBY_TIMEOUT_MS })
      const node: FollowedNode = {
        url,
        name: nameOfServers(url),
        pool,
        isFollowed: true,
        ensureAnchor: () => this.#ensureOn(node),
        isUsable: () => this.#problemOf(node) === null,
      }
      return node
    })
    this.#timer = this.followed.length > 0 ? setInterval(() => void this.#sample(), WATCH_MS) : undefined
    for (const node of this.followed)
      this.#watches.set(node, watchNode(node, { intervalMs: WATCH_MS, changed: () => this.#answered() }))
    options.metrics.gauge("reads_standby", () => (this.#used?.node.isFollowed ? 1 : 0))
  }

  get pool() {
    return this.#used?.node.pool ?? this.#primary
  }

  get isStandby() {
    return this.#used?.node.isFollowed ?? false
  }

  /** All of them, in the order in which they should be tried. */
  inOrder(): readonly Node[] {
    return [...this.followed, this.#fallback].toSorted((one, other) => this.#rank(one) - this.#rank(other))
  }

  /** From now on this one is read from. */
  use(node: Node, lineage: Lineage): void {
    this.#isMoving = false
    if (this.#used && node !== this.#used.node) this.#options.switched()
    if (node !== this.#used?.node && this.followed.length > 0)
      this.#log.info(
        { node: node.name, timeline: lineage.timeline },
        "the change stream is read from this server",
      )
    this.#used = { node, lineage }
  }

  /** How much of this log `count` of the followed servers have on disk. */
  confirmed(lineage: Lineage, count: number): bigint {
    const all = this.followed.map((node) => {
      const state = this.#watches.get(node)?.state()
      return state ? flushedIn(state, lineage) : 0n
    })
    return all.toSorted((one, other) => (one > other ? -1 : 1))[count - 1] ?? 0n
  }

  /** Asks the followed servers at once what they have. */
  checkNow(): void {
    for (const watch of this.#watches.values()) watch.checkNow()
  }

  /** How far the primary's log is on its disk; null while it does not answer. */
  async askPrimary(): Promise<bigint | null> {
    return (await this.#askPrimary())?.lsn ?? null
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await Promise.all([...this.#watches.values()].map((watch) => watch.stop()))
    await Promise.all(this.followed.map(({ pool }) => pool.close()))
  }

  /** Standbys before primaries, and those with a problem last. */
  #rank(node: Node): number {
    if (!node.isFollowed) return 2
    if (this.#problemOf(node) !== null) return 3
    if (this.#watches.get(node)?.state()?.isStandby !== true) return 1
    return node === this.#used?.node ? -1 : 0
  }

  #answered(): void {
    for (const node of this.followed) this.#notice(node, this.#problemOf(node))
    this.#options.answered()
    if (!this.#used || this.#isMoving) return
    const reason = this.#reasonToMove(this.#used)
    if (reason === null) return
    this.#isMoving = true
    this.#options.metrics.count("moves")
    this.#log.info({ node: this.#used.node.name, reason }, "the change stream begins again")
    this.#options.move()
  }

  #notice(node: Node, problem: string | null): void {
    if (problem === null) {
      if (!this.#healthySince.has(node)) this.#healthySince.set(node, performance.now())
      if (this.#troubled.delete(node))
        this.#log.info({ node: node.name }, "the followed server can be read again")
      return
    }
    this.#healthySince.delete(node)
    if (this.#troubled.has(node)) return
    this.#troubled.add(node)
    this.#log.warn({ node: node.name, problem }, "a followed server is passed over")
  }

  #reasonToMove({ node, lineage }: { node: Node; lineage: Lineage }): string | null {
    const isSettled = (each: Node) =>
      (this.#healthySince.get(each) ?? Infinity) < performance.now() - this.#options.settleMs &&
      this.#watches.get(each)?.state()?.isStandby === true
    const other = this.followed.some((each) => each !== node && isSettled(each))
    if (!node.isFollowed) return other ? "A standby can be read again." : null
    const problem = this.#problemOf(node)
    if (problem !== null) return other || this.#isPrimaryThere() ? problem : null
    const state = this.#watches.get(node)?.state()
    if (state && state.lineage.timeline !== lineage.timeline) return "It is in another timeline."
    if (state && !state.isStandby && other) return "It is the primary now, and a standby can be read."
    return null
  }

  /** Why a followed server should not be read from; null if it may be. */
  #problemOf(node: Node): string | null {
    const state = this.#watches.get(node)?.state()
    if (!state) return "It does not answer."
    const due = this.#samples[0]
    if (!due || !state.isStandby || !this.#isPrimaryThere()) return null
    if (due.at > performance.now() - this.#options.lagMs) return null
    const isBehind = state.replayed < due.lsn || !isInLineage(state.lineage, due.timeline, due.lsn)
    return isBehind ? "It lags behind." : null
  }

  #isPrimaryThere(): boolean {
    const last = this.#samples.at(-1)
    return last !== undefined && last.at > performance.now() - WATCH_MS - PRIMARY_ANSWER_MS
  }

  async #sample(): Promise<void> {
    if (this.#sampling) return
    this.#sampling = true
    const at = performance.now()
    const answer = await this.#askPrimary()
    this.#sampling = false
    if (!answer) return
    this.#samples.push({ at, ...answer })
    const due = this.#samples.findLastIndex((each) => each.at <= at - this.#options.lagMs)
    if (due > 0) this.#samples = this.#samples.slice(due)
    this.#answered()
  }

  async #askPrimary(): Promise<Omit<Sample, "at"> | null> {
    const late = Promise.withResolvers<null>()
    const stopTimer = startAnswerTimer(PRIMARY_ANSWER_MS, () => late.resolve(null))
    const asked = this.#primary
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

  async #ensureOn(node: Node): Promise<void> {
    const { name, pool, url } = node
    const [row] = await pool.useClient((sql) => sql.unsafe(READ_STANDBY))
    if (row?.["standby"] !== true) return ensureAnchor(pool, this.#options.anchor)
    if (row["bare"] === true) this.#warnOnce(name, adviseSlot(url))
    if (await ensureStandbyAnchor(node, this.#primary, this.#options.anchor)) return
    this.#warnOnce(
      name,
      "This role may not ask for a slot on a standby to be ready at once, so that takes longer. " +
        "Run on the primary, as a superuser: GRANT EXECUTE ON FUNCTION pg_log_standby_snapshot() TO the role.",
    )
  }

  #warnOnce(name: string, message: string): void {
    if (this.#warned.has(message)) return
    this.#warned.add(message)
    this.#log.warn({ node: name }, message)
  }
}

const READ_STANDBY = `
  select pg_is_in_recovery() as standby, ${RECEIVES} and ${IS_WITHOUT_SLOT} as bare`
