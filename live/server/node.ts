import { startAnswerTimer } from "../postgres/servers.ts"
import type { ConnectionPool } from "../postgres/connections.ts"
import type { Lineage } from "./lineage.ts"
import { lsnFromSql } from "./lsn.ts"
import { openReplication, type ReplicationConnection } from "./replication.ts"

/** A server that the log and snapshots can be read from. */
export interface Node {
  readonly url: string
  /** Its address, without credentials. */
  readonly name: string
  readonly pool: ConnectionPool
  /** Whether it was named to be read from; otherwise only while it is the primary. */
  readonly isFollowed: boolean
}

/** What a server last said about itself. */
export interface NodeState {
  readonly lineage: Lineage
  readonly isStandby: boolean
  /** How far it has the log of its timeline on disk, and how far its snapshots show it. */
  readonly flushed: bigint
  readonly replayed: bigint
  /** ms of `performance.now()`. */
  readonly at: number
}

/** How far a server has on disk what is also in the log of `lineage`. */
export function flushedIn({ lineage: own, flushed }: NodeState, lineage: Lineage): bigint {
  if (own.system !== lineage.system) return 0n
  if (own.timeline === lineage.timeline) return flushed
  const end = lineage.ends.get(own.timeline) ?? own.ends.get(lineage.timeline) ?? 0n
  return end < flushed ? end : flushed
}

/** Two answers that a healthy server gives in well under a millisecond. */
const ANSWER_MS = 1500

/** Asks one server about itself, again and again, over a connection of its own. */
export interface NodeWatch {
  /** Null before the first answer, and while there is none. */
  state(): NodeState | null
  /** Asks now, or as soon as the answer under way has arrived. */
  checkNow(): void
  stop(): Promise<void>
}

export function watchNode(
  { url }: Pick<Node, "url">,
  { intervalMs, changed }: { intervalMs: number; changed: () => void },
): NodeWatch {
  let state: NodeState | null = null
  let connection: ReplicationConnection | null = null
  let stopping = false
  let wake: (() => void) | null = null
  let isHurried = false
  const finished = run()

  return {
    state: () => state,
    checkNow() {
      isHurried = true
      wake?.()
    },
    async stop() {
      stopping = true
      wake?.()
      await connection?.end()
      await finished
    },
  }

  async function run(): Promise<void> {
    while (!stopping) {
      isHurried = false
      try {
        state = await ask()
      } catch {
        state = null
        const lost = connection
        connection = null
        await lost?.end()
      }
      changed()
      if (!stopping && !isHurried) await rest()
    }
    await connection?.end()
  }

  async function ask(): Promise<NodeState> {
    connection ??= openReplication(url, "realtime watch")
    const asked = connection
    const stopTimer = startAnswerTimer(ANSWER_MS, () => void asked.end())
    try {
      const at = performance.now()
      // In this order, as in begin-stream.ts: no timeline of a standby is taken for a primary's.
      const replayed = asked.sql.unsafe(REPLAYED).simple().execute()
      const [[row], { lineage, flushed }] = await Promise.all([
        replayed,
        asked.locate(state?.lineage ?? null),
      ])
      const isStandby = row?.["standby"] === true
      return {
        lineage,
        flushed,
        isStandby,
        replayed: isStandby ? lsnFromSql(String(row["lsn"])) : flushed,
        at,
      }
    } finally {
      stopTimer()
    }
  }

  function rest(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, intervalMs)
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}

const REPLAYED = "select pg_is_in_recovery() as standby, pg_last_wal_replay_lsn()::text as lsn"
