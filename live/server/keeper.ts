import { createFailureLog } from "./failure-log.ts"
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

export interface Keeper {
  /** A recent full transaction id. */
  recentXid(): bigint
  /** A server that is read from was at this transaction id. */
  sawXid(xid: bigint): void
  /** Advances the log, so that waiters for a place in it are released. */
  nudge(): void
  /** Schedules another inspection of the watched tables in the catalogue. */
  inspect(): void
  /** Lets PostgreSQL discard the log before a position immediately. */
  forgetBefore(lsn: bigint): void
  stop(): Promise<void>
}

const POLL_MS = 1000

/**
 * The housekeeping of one process: which transactions snapshots see, how far the anchor may
 * advance, and whether all tables are still published and in the expected form.
 */
export function startKeeper(options: KeeperOptions): Keeper {
  const { pool, anchor, ring, log, metrics } = options
  let recentXid = 0n
  let nudging = false
  let health = { retained: 0, safe: -1 }
  /** Positions that were safe to start from, oldest first. */
  let places: { at: number; lsn: bigint }[] = []
  let polling: Promise<void> = Promise.resolve()
  let keeping: Promise<void> = Promise.resolve()
  /** The server that is being polled: one that hangs must not keep another from being polled. */
  let busy: ConnectionPool | null = null
  let inspecting: Promise<void> | null = null
  let underWay = 0
  let isGivenUp = false
  const failures = createFailureLog(log, "The anchor slot can be advanced again.")
  const timers = [
    setInterval(() => {
      if (busy !== options.source.pool) polling = poll().catch(() => {})
    }, POLL_MS),
    setInterval(() => {
      if (underWay === 0) begin(keep)
    }, options.anchorMs),
  ]
  metrics.gauge("anchor_retained_bytes", () => health.retained)
  metrics.gauge("anchor_safe_bytes", () => health.safe)

  return {
    recentXid: () => recentXid,
    sawXid,
    nudge() {
      if (nudging) return
      nudging = true
      metrics.count("nudges")
      void pool
        .useClient((sql) => sql`select pg_logical_emit_message(true, 'realtime', 'nudge')`)
        .catch(() => {})
        .then(() => {
          nudging = false
        })
    },
    inspect() {
      if (inspecting) return
      inspecting = inspect()
        .catch(() => {}) // the next round asks again
        .then(() => {
          inspecting = null
        })
    },
    forgetBefore(lsn) {
      begin(() => advanceAnchor(pool, anchor, lsn))
    },
    async stop() {
      for (const timer of timers) clearInterval(timer)
      await Promise.all([polling, keeping, inspecting])
    },
  }

  function begin(work: () => Promise<void>): void {
    underWay += 1
    keeping = keeping
      .then(work)
      .then(failures.succeeded, (error: unknown) => {
        failures.failed("warn", error, "Could not advance the anchor slot; will try again.")
      })
      .finally(() => (underWay -= 1))
  }

  function sawXid(xid: bigint): void {
    if (xid > recentXid) recentXid = xid
  }

  async function poll(): Promise<void> {
    const { pool: polled } = options.source
    busy = polled
    const ticket = ring.beginSnapshot()
    try {
      const [row] = await polled.useClient(
        (sql) => sql`
          select pg_current_snapshot()::text as visibility,
            case when pg_is_in_recovery() then pg_last_wal_replay_lsn() end::text as replayed`,
      )
      const visibility = readVisibility(String(row?.["visibility"]))
      sawXid(visibility.xmax)
      // Every later snapshot of a standby sees what it has replayed by now.
      const replayed = typeof row?.["replayed"] === "string" ? lsnFromSql(row["replayed"]) : null
      ring.learn(ticket, replayed === null ? visibility : { surely: replayed, atMost: replayed })
    } finally {
      ring.endSnapshot(ticket)
      if (busy === polled) busy = null
    }
    ring.prune()
    places.push({ at: performance.now(), lsn: ring.settled })
  }

  async function keep(): Promise<void> {
    const horizon = performance.now() - options.windowMs
    const old = places.findLast((place) => place.at <= horizon)
    if (old && old.lsn > 0n) {
      places = places.filter((place) => place.at >= old.at)
      await advanceAnchor(pool, anchor, old.lsn)
    }
    const failed = options.followed.length > 0 ? await keepOnAll(old?.lsn ?? 0n) : []
    const state = await inspectAnchor(pool, anchor)
    health = { retained: state?.retainedBytes ?? 0, safe: state?.safeBytes ?? -1 }
    const givesUp = state && state.status !== "reserved" && state.status !== "extended"
    if (givesUp && !isGivenUp) {
      log.error({ ...state }, "PostgreSQL is about to drop the anchor slot; raise max_slot_wal_keep_size")
    }
    isGivenUp = givesUp ?? false
    options.unpublished(
      await pool.useClient((sql) => findUnpublished(sql, anchor.publication, options.watched)),
    )
    await inspect()
    await pool.useClient((sql) => forgetMutations(sql))
    for (const each of failed) throw each.reason
  }

  /**
   * A process may have to go on at any of them, in place of the one that it reads from. Resolves with
   * what failed: it must not keep the others from what they need.
   */
  async function keepOnAll(lsn: bigint): Promise<PromiseRejectedResult[]> {
    await ensureAnchor(pool, anchor)
    const kept = await Promise.allSettled(
      options.followed
        .filter((each) => each.isUsable())
        .map(async (node) => {
          await node.ensureAnchor()
          if (lsn > 0n) await advanceAnchor(node.pool, anchor, lsn)
        }),
    )
    return kept.filter((each) => each.status === "rejected")
  }

  async function inspect(): Promise<void> {
    options.inspected(await pool.useClient((sql) => inspectTables(sql, options.watched)))
  }
}
