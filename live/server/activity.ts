import * as v from "valibot"
import type { Client } from "./client.ts"
import type { ResetEvent } from "../protocol/contract.ts"

type ResetReason = ResetEvent["reason"]

const Count = v.pipe(v.number(), v.minValue(0))

const QueryActivity = v.object({
  query: v.string(),
  /** Subscriptions at this moment. */
  subscriptions: Count,
  /** Subscriptions that began with rows read from the database. */
  read: Count,
  /** Subscriptions that continued from the rows the client had. */
  resumed: Count,
  refused: Count,
  /** Reads of its rows, for subscriptions, pages and single calls. */
  reads: Count,
  readMs: Count,
  rows: Count,
  /** Row changes sent, counted once for each subscription that received them. */
  changes: Count,
  resets: Count,
})
export type QueryActivity = v.InferOutput<typeof QueryActivity>

/** The slowest read of a query within one minute. */
const SlowRead = v.object({
  query: v.string(),
  ms: Count,
  rows: Count,
  /** ms since 1970. */
  at: Count,
})
type SlowRead = v.InferOutput<typeof SlowRead>

export const ActivityReport = v.object({
  /** At this moment. */
  connections: Count,
  /** Those with subscriptions or activity, by name. */
  queries: v.array(QueryActivity),
  /** Slowest first. */
  slowest: v.array(SlowRead),
  resets: v.object({ truncate: Count, schema: Count, large: Count, slow: Count, gap: Count }),
})
export type ActivityReport = v.InferOutput<typeof ActivityReport>

/** What this process has done for each query within the last hour, never for whom. */
export interface Activity {
  subscribed(query: string, how: "read" | "resumed" | "refused"): void
  rowsRead(query: string, ms: number, rows: number): void
  changesSent(query: string, count: number): void
  reset(query: string, reason: ResetReason): void
  report(clients: ReadonlySet<Client>): ActivityReport
}

interface Minute {
  readonly number: number
  readonly queries: Map<string, QueryActivity>
  readonly slowest: Map<string, SlowRead>
  readonly resets: Record<ResetReason, number>
}

const MINUTES = 60
const SLOWEST = 10

/** Counts by the minute, so that what is older than an hour can be dropped. */
export function createActivity(now: () => number = Date.now): Activity {
  let minutes: Minute[] = []

  return {
    subscribed(query, how) {
      countsOf(query)[how] += 1
    },
    rowsRead(query, ms, rows) {
      const counts = countsOf(query)
      counts.reads += 1
      counts.readMs += ms
      counts.rows += rows
      const { slowest } = minute()
      const before = slowest.get(query)
      if (!before || before.ms < ms) slowest.set(query, { query, ms, rows, at: now() })
    },
    changesSent(query, count) {
      countsOf(query).changes += count
    },
    reset(query, reason) {
      countsOf(query).resets += 1
      minute().resets[reason] += 1
    },
    report(clients) {
      minute()
      const connected = [...clients].filter(isSocket)
      const subscribed = connected
        .flatMap(({ subscriptions }) => [...subscriptions.values()])
        .map(({ query }) => Object.assign(nothing(query.name), { subscriptions: 1 }))
      return sumReports([
        { connections: connected.length, queries: subscribed, slowest: [], resets: noResets() },
        ...minutes.map(({ queries, slowest, resets }) => ({
          connections: 0,
          queries: [...queries.values()],
          slowest: [...slowest.values()],
          resets,
        })),
      ])
    },
  }

  /** The present minute, after dropping those that are over an hour old. */
  function minute(): Minute {
    const number = Math.floor(now() / 60_000)
    const last = minutes.at(-1)
    if (last?.number === number) return last
    const next = { number, queries: new Map(), slowest: new Map(), resets: noResets() }
    minutes = [...minutes.filter((each) => each.number > number - MINUTES), next]
    return next
  }

  function countsOf(query: string): QueryActivity {
    const { queries } = minute()
    const found = queries.get(query)
    if (found) return found
    const counts = nothing(query)
    queries.set(query, counts)
    return counts
  }
}

/** One report of several: of the parts of an hour, or of several processes. */
export function sumReports(reports: readonly ActivityReport[]): ActivityReport {
  const queries = new Map<string, QueryActivity>()
  const resets = noResets()
  let connections = 0
  for (const report of reports) {
    connections += report.connections
    addTo(resets, report.resets, REASONS)
    for (const counts of report.queries) {
      const sum = queries.get(counts.query) ?? nothing(counts.query)
      queries.set(counts.query, sum)
      addTo(sum, counts, COUNTS)
    }
  }
  return {
    connections,
    queries: [...queries.values()].toSorted((a, b) => (a.query < b.query ? -1 : 1)),
    slowest: reports
      .flatMap(({ slowest }) => slowest)
      .toSorted((a, b) => b.ms - a.ms)
      .slice(0, SLOWEST),
    resets,
  }
}

/** Followers inside the process belong to no user. */
function isSocket({ userId }: Client): boolean {
  return userId !== ""
}

const COUNTS = [
  "subscriptions",
  "read",
  "resumed",
  "refused",
  "reads",
  "readMs",
  "rows",
  "changes",
  "resets",
] as const
const REASONS = ["truncate", "schema", "large", "slow", "gap"] as const

function nothing(query: string): QueryActivity {
  const counts = { read: 0, resumed: 0, refused: 0, reads: 0, readMs: 0, rows: 0, changes: 0, resets: 0 }
  return { query, subscriptions: 0, ...counts }
}

function noResets(): Record<ResetReason, number> {
  return { truncate: 0, schema: 0, large: 0, slow: 0, gap: 0 }
}

function addTo<Name extends string>(
  sum: Record<Name, number>,
  counts: Readonly<Record<Name, number>>,
  names: readonly Name[],
): void {
  for (const name of names) sum[name] += counts[name]
}
