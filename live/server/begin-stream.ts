import { randomBytes } from "node:crypto"

import { startAnswerTimer } from "../postgres/servers.ts"
import { copyAnchor, type Anchor } from "./anchor.ts"
import type { Lineage } from "./lineage.ts"
import { lsnFromSql } from "./lsn.ts"
import type { Node } from "./node.ts"
import { openReplication, type Location, type ReplicationConnection } from "./replication.ts"

/** The receiver's place in the log. */
export interface Place {
  /** Its position; null before the first start. */
  position(): bigint | null
  /** The timeline of its position; null before the first start. */
  lineage(): Lineage | null
  /** Whether its position is one in this log. Another cluster's is not comparable. */
  isIn(lineage: Lineage): boolean
}

/** A server that is connected, with a slot to read its log from. */
export interface Opened extends Location {
  readonly node: Node
  readonly connection: ReplicationConnection
  readonly slot: string
  /** The earliest position that the slot can be read from. */
  readonly copied: bigint
  readonly isStandby: boolean
  /** How far its log can be read. */
  readonly reach: bigint
  /** The next transaction id. */
  readonly xid: bigint
  /** Identifies the running server, by whatever address: another one after each of its starts. */
  readonly incarnation: string
}

export interface BeginOptions {
  readonly nodes: readonly Node[]
  readonly anchor: Anchor
  readonly place: Place
  /** The running server that the position was read from; null before the first start. */
  readonly readFrom: string | null
  /** How long the stream has been lost, in ms. */
  readonly lostMs: number
  /** The longest that one server may take. ms. */
  readonly connectMs: number
  /** The connection that is being tried, to be ended from outside. */
  readonly trying: (connection: ReplicationConnection) => void
  readonly failed: (node: Node, error: unknown) => void
}

/**
 * `continues`: the position can be gone on from. `behind`: a standby that does not have it yet.
 * `elsewhere`: the position is not in this server's log, and never will be.
 */
type Fit = "continues" | "behind" | "elsewhere"

/** How long to look for a server that continues, when there is one that does not. ms. */
const WAIT_MS = 3000
/** The same if it is in an earlier timeline: an old primary that nobody has stopped. */
const LONG_WAIT_MS = 10_000

/** No server that can be read from now. */
export class NowhereToRead extends Error {}

/**
 * Connects to the first server that has the place in its log. If none has, and it is certain that
 * the place is gone, to one where everything is read again. Throws the last server's error if there is
 * neither.
 */
export async function openStart(options: BeginOptions): Promise<Opened & { continues: boolean }> {
  let last: unknown = new NowhereToRead("No server can be read from.")
  let other: Opened | null = null
  let isAwaited = false
  try {
    for (const node of options.nodes) {
      try {
        const opened = await open(node, options)
        const fit = fitOf(opened, options)
        if (fit === "continues") return { ...opened, continues: true }
        if (fit === "elsewhere" && !other) other = opened
        else {
          if (fit === "behind") isAwaited = true
          await opened.connection.end()
        }
      } catch (error) {
        options.failed(node, error)
        last = error
      }
    }
    if (other && mayBegin(other, options, isAwaited)) {
      const begun = other
      other = null
      return { ...begun, continues: false }
    }
    throw other || isAwaited ? new NowhereToRead("No server has caught up with what was read before.") : last
  } finally {
    await other?.connection.end()
  }
}

async function open(node: Node, { anchor, connectMs, trying }: BeginOptions): Promise<Opened> {
  const connection = openReplication(node.url, "realtime stream")
  trying(connection)
  const stopTimer = startAnswerTimer(connectMs, () => void connection.end())
  try {
    // Before the timeline: a standby that is being promoted would otherwise be taken for a primary
    // whose log ends early.
    const [row] = await connection.sql
      .unsafe(
        `select pg_is_in_recovery() as standby, pg_last_wal_replay_lsn()::text as lsn,
          pg_snapshot_xmax(pg_current_snapshot())::text as xid,
          pg_postmaster_start_time()::text || ' at ' || current_setting('port') as started`,
      )
      .simple()
    const { lineage, flushed } = await connection.locate(null)
    const isStandby = row?.["standby"] === true
    if (isStandby && !node.isFollowed) throw new NowhereToRead(`${node.name} is a standby.`)
    const slot = `${anchor.name}_${process.pid}_${randomBytes(4).toString("hex")}`
    const copied = await copyAnchor(connection.sql, anchor, slot)
    // Without its address: a promoted server is also found under the primary's.
    const incarnation = String(row?.["started"])
    const reach = isStandby ? lsnFromSql(String(row["lsn"])) : flushed
    return {
      node,
      connection,
      slot,
      copied,
      lineage,
      flushed,
      isStandby,
      reach,
      xid: BigInt(String(row?.["xid"])),
      incarnation,
    }
  } catch (error) {
    await connection.end()
    throw error
  } finally {
    stopTimer()
  }
}

/**
 * PostgreSQL silently skips what a slot no longer holds, so the copy's position is compared with
 * ours before starting.
 */
function fitOf(opened: Opened, { place, readFrom }: BeginOptions): Fit {
  const { lineage, copied, reach, isStandby } = opened
  const position = place.position()
  const own = place.lineage()
  if (position === null || own === null) return "continues"
  // A server that was promoted while it was read sent some of the next timeline as well.
  const isItsOwn = opened.incarnation === readFrom && lineage.system === own.system
  if (!isItsOwn && !place.isIn(lineage))
    return isStandby && lineage.system === own.system && lineage.timeline < own.timeline
      ? "behind"
      : "elsewhere"
  if (position > reach) return isStandby ? "behind" : "elsewhere"
  return copied <= position ? "continues" : "elsewhere"
}

/** Whether to give up looking for a server that continues. */
function mayBegin(
  { lineage, isStandby }: Opened,
  { place, lostMs }: BeginOptions,
  isAwaited: boolean,
): boolean {
  const own = place.lineage()
  if (own?.system === lineage.system && lineage.timeline < own.timeline) return lostMs > LONG_WAIT_MS
  return (!isStandby && !isAwaited) || (!isStandby && own?.timeline !== lineage.timeline) || lostMs > WAIT_MS
}
