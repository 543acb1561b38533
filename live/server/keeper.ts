import { createFailureLog, type FailureLog } from "./failure-log.ts"
import { advanceAnchor, ensureAnchor, inspectAnchor, type Anchor } from "./anchor.ts"
import { inspectTables } from "./inspect.ts"
import type { ConnectionPool } from "../postgres/connections.ts"
import type { Inspection } from "./layout.ts"
import type { Log } from "./log.ts"
import { lsnFromSql } from "./lsn.ts"
import type { Metrics } from "./metrics.ts"
import type { FollowedNode } from "./nodes.ts"
import type { Ring } from "./ring.ts"
import type { Source } from "./snapshot.ts"
import { findUnpublished, forgetMutations } from "./setup.ts"
import type { WatchedTable } from "./tables.ts"
import { readVisibility } from "./visibility.ts"

export interface KeeperOptions {
  /** The primary. */
  readonly pool: ConnectionPool
  /** The server that snapshots are read from. */
  readonly source: Source
  /** Servers besides the primary whose log may be needed. */
  readonly followed: readonly FollowedNode[]
  readonly anchor: Anchor
  readonly ring: Ring
  readonly watched: readonly WatchedTable[]
  readonly log: Log
  readonly metrics: Metrics
  readonly anchorMs: number
  readonly windowMs: number
  readonly unpublished: (tables: readonly WatchedTable[]) => void
  readonly inspected: (inspection: Inspection) => void
}

const POLL_MS = 1000

/**
 * The housekeeping of one process: which transactions snapshots see, how far the anchor may
 * advance, and whether all tables are still published and in the expected form.
 */
export class Keeper {
  readonly #options: KeeperOptions
  readonly #pool: ConnectionPool
  readonly #anchor: Anchor
  readonly #ring: Ring
  readonly #metrics: Metrics
  #recentXid = 0n
  #nudging = false
  #health = { retained: 0, safe: -1 }
  /** Positions that were safe to start from, oldest first. */
  #places: { at: number; lsn: bigint }[] = []
  #polling: Promise<void> = Promise.resolve()
  #keeping: Promise<void> = Promise.resolve()
  /** The server that is being polled: one that hangs must not keep another from being polled. */
  #busy: ConnectionPool | null = null
  #inspecting: Promise<void> | null = null
  #underWay = 0
  #isGivenUp = false
  readonly #failures: FailureLog
  readonly #timers: NodeJS.Timeout[]

  constructor(options: KeeperOptions) {
    this.#options = options
    this.#pool = options.pool
    this.#anchor = options.anchor
    this.#ring = options.ring
    this.#metrics = options.metrics
    this.#failures = createFailureLog(options.log, "The anchor slot can be advanced again.")
    this.#timers = [
      setInterval(() => {
        if (this.#busy !== options.source.pool) this.#polling = this.#poll().catch(() => {})
      }, POLL_MS),
      setInterval(() => {
        if (this.#underWay === 0) this.#begin(() => this.#keep())
      }, options.anchorMs),
    ]
    this.#metrics.gauge("anchor_retained_bytes", () => this.#health.retained)
    this.#metrics.gauge("anchor_safe_bytes", () => this.#health.safe)
  }

  /** A recent full transaction id. */
  recentXid(): bigint {
    return this.#recentXid
  }

  /** Advances the log, so that waiters for a place in it are released. */
  nudge(): void {
    if (this.#nudging) return
    this.#nudging = true
    this.#metrics.count("nudges")
    void this.#pool
      .useClient((sql) => sql`select pg_logical_emit_message(true, 'realtime', 'nudge')`)
      .catch(() => {})
      .then(() => {
        this.#nudging = false
      })
  }

  /** Schedules another inspection of the watched tables in the catalogue. */
  inspect(): void {
    if (this.#inspecting) return
    this.#inspecting = this.#inspect()
      .catch(() => {}) // the next round asks again
      .then(() => {
        this.#inspecting = null
      })
  }

  /** Lets PostgreSQL discard the log before a position immediately. */
  forgetBefore(lsn: bigint): void {
    this.#begin(() => advanceAnchor(this.#pool, this.#anchor, lsn))
  }

  async stop(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer)
    await Promise.all([this.#polling, this.#keeping, this.#inspecting])
  }

  #begin(work: () => Promise<void>): void {
    this.#underWay += 1
    this.#keeping = this.#keeping
      .then(work)
      .then(this.#failures.succeeded, (error: unknown) => {
        this.#failures.failed("warn", error, "Could not advance the anchor slot; will try again.")
      })
      .finally(() => (this.#underWay -= 1))
  }

  /** A server that is read from was at this transaction id. */
  sawXid(xid: bigint): void {
    if (xid > this.#recentXid) this.#recentXid = xid
  }

  async #poll(): Promise<void> {
    const { pool: polled } = this.#options.source
    this.#busy = polled
    const ticket = this.#ring.beginSnapshot()
    try {
      const [row] = await polled.useClient(
        (sql) => sql`
          select pg_current_snapshot()::text as visibility,
            case when pg_is_in_recovery() then pg_last_wal_replay_lsn() end::text as replayed`,
      )
      const visibility = readVisibility(String(row?.["visibility"]))
      this.sawXid(visibility.xmax)
      // Every later snapshot of a standby sees what it has replayed by now.
      const replayed = typeof row?.["replayed"] === "string" ? lsnFromSql(row["replayed"]) : null
      this.#ring.learn(ticket, replayed === null ? visibility : { surely: replayed, atMost: replayed })
    } finally {
      this.#ring.endSnapshot(ticket)
      if (this.#busy === polled) this.#busy = null
    }
    this.#ring.prune()
    this.#places.push({ at: performance.now(), lsn: this.#ring.settled })
  }

  async #keep(): Promise<void> {
    const horizon = performance.now() - this.#options.windowMs
    const old = this.#places.findLast((place) => place.at <= horizon)
    if (old && old.lsn > 0n) {
      this.#places = this.#places.filter((place) => place.at >= old.at)
      await advanceAnchor(this.#pool, this.#anchor, old.lsn)
    }
    const failed = this.#options.followed.length > 0 ? await this.#keepOnAll(old?.lsn ?? 0n) : []
    const state = await inspectAnchor(this.#pool, this.#anchor)
    this.#health = { retained: state?.retainedBytes ?? 0, safe: state?.safeBytes ?? -1 }
    const givesUp = state && state.status !== "reserved" && state.status !== "extended"
    if (givesUp && !this.#isGivenUp) {
      this.#options.log.error(
        { ...state },
        "PostgreSQL is about to drop the anchor slot; raise max_slot_wal_keep_size",
      )
    }
    this.#isGivenUp = givesUp ?? false
    this.#options.unpublished(
      await this.#pool.useClient((sql) =>
        findUnpublished(sql, this.#anchor.publication, this.#options.watched),
      ),
    )
    await this.#inspect()
    await this.#pool.useClient((sql) => forgetMutations(sql))
    for (const each of failed) throw each.reason
  }

  /**
   * A process may have to go on at any of them, in place of the one that it reads from. Resolves with
   * what failed: it must not keep the others from what they need.
   */
  async #keepOnAll(lsn: bigint): Promise<PromiseRejectedResult[]> {
    await ensureAnchor(this.#pool, this.#anchor)
    const kept = await Promise.allSettled(
      this.#options.followed
        .filter((each) => each.isUsable())
        .map(async (node) => {
          await node.ensureAnchor()
          if (lsn > 0n) await advanceAnchor(node.pool, this.#anchor, lsn)
        }),
    )
    return kept.filter((each) => each.status === "rejected")
  }

  async #inspect(): Promise<void> {
    this.#options.inspected(await this.#pool.useClient((sql) => inspectTables(sql, this.#options.watched)))
  }
}
