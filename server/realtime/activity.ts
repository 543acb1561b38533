import type { Client } from "./client.ts"
import type { ResetEvent } from "./contract.ts"

type ResetReason = ResetEvent["reason"]

export interface QueryActivity {
  query: string
  /** Subscriptions at this moment. */
  subscriptions: number
  /** Subscriptions that began with rows read from the database. */
  read: number
  /** Subscriptions that continued from the rows the client had. */
  resumed: number
  refused: number
  /** Reads of its rows, for subscriptions, pages and single calls. */
  reads: number
  readMs: number
  rows: number
  /** Row changes sent, counted once for each subscription that received them. */
  changes: number
  resets: number
}

/** The slowest read of a query within one minute. */
export interface SlowRead {
  query: string
  ms: number
  rows: number
  /** ms since 1970. */
  at: number
}

export interface ActivityReport {
  /** Connections at this moment, and the people they belong to. */
  connections: number
  people: number
  /** Those with subscriptions or activity, by name. */
  queries: QueryActivity[]
  /** Slowest first. */
  slowest: SlowRead[]
  resets: Record<ResetReason, number>
}

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
      const queries = new Map<string, QueryActivity>()
      const sumOf = (query: string) => {
        const sum = queries.get(query) ?? nothing(query)
        queries.set(query, sum)
        return sum
      }
      const resets = noResets()
      for (const each of minutes) {
        for (const counts of each.queries.values()) addTo(sumOf(counts.query), counts, COUNTS)
        addTo(resets, each.resets, REASONS)
      }
      const connected = [...clients].filter(isSocket)
      for (const client of connected) {
        for (const { query } of client.subscriptions.values()) sumOf(query.name).subscriptions += 1
      }
      return {
        connections: connected.length,
        people: new Set(connected.map(({ userId }) => userId)).size,
        queries: [...queries.values()].toSorted((a, b) => (a.query < b.query ? -1 : 1)),
        slowest: minutes
          .flatMap((each) => [...each.slowest.values()])
          .toSorted((a, b) => b.ms - a.ms)
          .slice(0, SLOWEST),
        resets,
      }
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

/** Followers inside the process belong to no user. */
function isSocket({ userId }: Client): boolean {
  return userId !== ""
}

const COUNTS = ["read", "resumed", "refused", "reads", "readMs", "rows", "changes", "resets"] as const
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
