import postgres from "postgres"

/** One connection for one use at a time. */
export type Lane = postgres.Sql

export interface Lanes {
  /** Waits for a free connection. One that is lost during its use is replaced. */
  use<Value>(work: (lane: Lane) => Promise<Value>): Promise<Value>
  end(): Promise<void>
}

/**
 * A few connections, each a client of its own. Not one pool with `begin`: when a connection is lost, postgres 3.4.9 sends the rollback into a
 * socket that is gone, which ends the process, and a connection that was lost in mid-write never connects again.
 *
 * With `pooled`, the address may be a pooler's that gives each transaction another session: nothing is prepared. Nor is a session's state
 * relied on without it.
 */
export function openLanes(
  databaseUrl: string,
  count: number,
  { pooled = false, patienceMs = 40_000 }: { pooled?: boolean; patienceMs?: number } = {},
): Lanes {
  const open = new Set<Lane>()
  const free: Lane[] = []
  const waiting: ((lane: Lane) => void)[] = []
  for (let index = 0; index < count; index++) free.push(openLane())

  return {
    async use(work) {
      const lane = free.pop() ?? (await new Promise<Lane>((resolve) => waiting.push(resolve)))
      let kept = lane
      // In a transaction the server ends a statement after 30 s, so mostly a network that swallows what is sent takes longer.
      const silence = setTimeout(() => void lane.end({ timeout: 0 }), patienceMs)
      try {
        return await work(lane)
      } catch (error) {
        if (isLost(error)) kept = replace(lane)
        throw error
      } finally {
        clearTimeout(silence)
        const next = waiting.shift()
        if (next) next(kept)
        else free.push(kept)
      }
    },
    async end() {
      await Promise.all([...open].map((lane) => lane.end({ timeout: 1 }).catch(() => {})))
    },
  }

  function openLane(): Lane {
    const lane = postgres(databaseUrl, {
      max: 1,
      fetch_types: false,
      idle_timeout: 0,
      max_lifetime: null, // a connection that ends by itself between two statements takes a transaction with it
      connect_timeout: 10,
      onnotice() {},
      prepare: !pooled,
      connection: { application_name: "realtime" },
    })
    open.add(lane)
    return lane
  }

  function replace(lane: Lane): Lane {
    open.delete(lane)
    lane.end({ timeout: 0 }).catch(() => {})
    return openLane()
  }
}

/** Milliseconds. */
const STATEMENT_TIMEOUT = 30_000

/** Runs the work between `begin` and `commit`. The first statement of the work shares a round trip with `begin`. */
export async function inTransaction<Value>(
  lane: Lane,
  mode: string,
  work: () => Promise<Value>,
): Promise<Value> {
  const begun = lane.unsafe(`begin ${mode}; set local statement_timeout = ${STATEMENT_TIMEOUT}`).execute()
  try {
    const [, value] = await Promise.all([begun, work()])
    await lane.unsafe("commit")
    return value
  } catch (error) {
    if (!isLost(error)) await lane.unsafe("rollback")
    throw error
  }
}

/** Whether the connection is gone, or the server about to end it. */
function isLost(error: unknown): boolean {
  if (!(error instanceof Error) || !("code" in error) || typeof error.code !== "string") return false
  return /^(E[A-Z]+|CONNECT_[A-Z]+|CONNECTION_[A-Z]+|08\d{3}|57P0\d|53300)$/.test(error.code)
}
