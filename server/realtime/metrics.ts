/** Counts, levels and distributions of one process, read as one plain object. */
export interface Metrics {
  count(name: string, by?: number): void
  /** A level, read when asked for. */
  gauge(name: string, read: () => number): void
  observe(name: string, ms: number): void
  read(): Record<string, number | Distribution>
}

/** `buckets[i]` counts the observations of at most `BOUNDS[i]` ms and above the bound before; the last has no bound. */
export interface Distribution {
  count: number
  sum: number
  max: number
  buckets: readonly number[]
}

export const BOUNDS = [0.25, 0.5, 1, 2, 5, 10, 20, 50, 100, 250, 500, 1000, 5000] as const

export function createMetrics(): Metrics {
  const counts = new Map<string, number>()
  const gauges = new Map<string, () => number>()
  const distributions = new Map<string, { count: number; sum: number; max: number; buckets: number[] }>()
  return {
    count(name, by = 1) {
      counts.set(name, (counts.get(name) ?? 0) + by)
    },
    gauge(name, read) {
      gauges.set(name, read)
    },
    observe(name, ms) {
      let distribution = distributions.get(name)
      if (!distribution) {
        distribution = {
          count: 0,
          sum: 0,
          max: 0,
          buckets: Array.from({ length: BOUNDS.length + 1 }, () => 0),
        }
        distributions.set(name, distribution)
      }
      distribution.count += 1
      distribution.sum += ms
      distribution.max = Math.max(distribution.max, ms)
      const found = BOUNDS.findIndex((bound) => ms <= bound)
      const bucket = found === -1 ? BOUNDS.length : found
      distribution.buckets[bucket] = (distribution.buckets[bucket] ?? 0) + 1
    },
    read() {
      const levels = [...gauges].map(([name, read]) => [name, read()] as const)
      const spread = [...distributions].map(
        ([name, each]) => [name, { ...each, buckets: [...each.buckets] }] as const,
      )
      return Object.fromEntries([...counts, ...levels, ...spread])
    },
  }
}
