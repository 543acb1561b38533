import { isLost } from "../postgres/outage.ts"
import type { ConnectionPool } from "../postgres/connections.ts"
import type { Hub } from "./hub.ts"
import type { Metrics } from "./metrics.ts"
import type { Nodes } from "./nodes.ts"
import { createRefusal } from "./refusal.ts"
import type { Snapshot, SnapshotReader, Snapshots } from "./snapshot.ts"

export interface FreshOptions {
  readonly snapshots: Snapshots
  readonly nodes: Pick<Nodes, "isStandby" | "askPrimary">
  readonly primary: ConnectionPool
  readonly hub: Hub
  readonly metrics: Metrics
  /** How long a reader waits for a standby to have what was committed before. ms. */
  readonly waitMs: number
  /** Whether rows may be shown only after the stream has passed them. */
  readonly isHeldBack: boolean
}

/**
 * Snapshots for pages, which show everything that was committed before they were asked for, by
 * whichever process: the primary is asked for its position, and the standby is read once it is
 * there. If that takes too long, the primary is read.
 */
export function openFreshSnapshots(options: FreshOptions): Pick<Snapshots, "take"> {
  const { snapshots, nodes, primary, hub, metrics } = options

  return {
    async take(work) {
      if (!nodes.isStandby) return confirmed(await snapshots.take(work))
      const position = await nodes.askPrimary()
      // Without a primary nothing newer can be read anywhere.
      if (position !== null && !(await hub.reached(position, options.waitMs))) return fromPrimary(work)
      try {
        return await confirmed(await snapshots.take(work))
      } catch (error) {
        if (!isLost(error) && !isCancelledByReplay(error)) throw error
        return fromPrimary(work)
      }
    },
  }

  async function fromPrimary<Value>(work: (reader: SnapshotReader) => Promise<Value>) {
    metrics.count("reads_moved_to_primary")
    return confirmed(await snapshots.takeFrom(primary, work))
  }

  async function confirmed<Value>(snapshot: Snapshot<Value>): Promise<Snapshot<Value>> {
    if (!options.isHeldBack || (await hub.reached(snapshot.lsn, 5000))) return snapshot
    snapshot.release()
    throw createRefusal("unavailable", "server-behind", 1000)
  }
}

/** A standby's replay had to remove what the statement read. */
function isCancelledByReplay(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "40001"
}
