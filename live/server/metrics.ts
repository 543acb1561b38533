/** Counts, levels and distributions of one process, read as one plain object. */
export interface Metrics {
  count(name: string, by?: number): void
  /** A level, read when asked for. */
  gauge(name: string, read: () => number): void
  observe(name: string, ms: number): void
  read(): Record<string, number | Distribution>
  list(): Measured[]
}

/** Names are as in `read`; a distribution's are in ms. */
export type Measured =
  | { kind: "counter" | "gauge"; name: string; value: number }
  | { kind: "distribution"; name: string; value: Distribution }

/**
 * `buckets[i]` counts the observations of at most `BOUNDS[i]` ms and above the bound before; the
 * last has no bound.
 */
export interface Distribution {
  count: number
  sum: number
  max: number
  buckets: readonly number[]
}

export const BOUNDS = [0.25, 0.5, 1, 2, 5, 10, 20, 50, 100, 250, 500, 1000, 5000] as const

/** Counters that exist from the start: one that appears with its first count shows no increase. */
const FROM_THE_START = [
  "transactions",
  "changes",
  "commits_sent",
  "mutations",
  "snapshots",
  "resumed",
  "moves",
  "read_whole",
  "reads_moved_to_primary",
  "revoked",
  "broadcast_pauses",
  "stream_reconnects",
  "stream_gaps",
  "channel_messages",
  "channel_messages_sent",
  "channel_messages_dropped",
  "channel_publishes",
  "channel_publishes_failed",
  "channel_publishes_ignored",
  ...["truncate", "schema", "large", "slow", "gap"].map((reason) => `resets_${reason}`),
  ...["draining", "slow", "flooding", "expired", "signed_out"].map((reason) => `goodbyes_${reason}`),
  ...["origin", "address", "full", "unauthorized", "rate_limited", "unavailable"].map(
    (reason) => `refused_${reason}`,
  ),
]

const OBSERVED_FROM_THE_START = ["commit_to_sent_ms", "snapshot_ms"]

type Counted = { count: number; sum: number; max: number; buckets: number[] }

const nothingObserved = (): Counted => ({
  count: 0,
  sum: 0,
  max: 0,
  buckets: Array.from({ length: BOUNDS.length + 1 }, () => 0),
})

export function createMetrics(): Metrics {
  const counts = new Map(FROM_THE_START.map((name) => [name, 0]))
  const gauges = new Map<string, () => number>()
  const distributions = new Map(OBSERVED_FROM_THE_START.map((name) => [name, nothingObserved()]))
  return {
    count(name, by = 1) {
      counts.set(name, (counts.get(name) ?? 0) + by)
    },
    gauge(name, read) {
      gauges.set(name, read)
    },
    observe(name, ms) {
      const distribution = distributions.get(name) ?? nothingObserved()
      distributions.set(name, distribution)
      distribution.count += 1
      distribution.sum += ms
      distribution.max = Math.max(distribution.max, ms)
      const found = BOUNDS.findIndex((bound) => ms <= bound)
      const bucket = found === -1 ? BOUNDS.length : found
      distribution.buckets[bucket] = (distribution.buckets[bucket] ?? 0) + 1
    },
    read: () => Object.fromEntries(list().map(({ name, value }) => [name, value])),
    list,
  }

  function list(): Measured[] {
    return [
      ...[...counts].map(([name, value]) => ({ kind: "counter" as const, name, value })),
      ...[...gauges].map(([name, read]) => ({ kind: "gauge" as const, name, value: read() })),
      ...[...distributions].map(([name, each]) => ({
        kind: "distribution" as const,
        name,
        value: { ...each, buckets: [...each.buckets] },
      })),
    ]
  }
}
