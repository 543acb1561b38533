import { lsnFromSql } from "./lsn.ts"

/**
 * What a server's log is made of. PostgreSQL numbers its timelines: a promotion begins a new one
 * where the promoted server's log ended, and what the old primary wrote after that is in no later
 * timeline. https://www.postgresql.org/docs/current/continuous-archiving.html
 */
export interface Lineage {
  /** The cluster's identity, which a copy and a standby share. */
  readonly system: string
  readonly timeline: number
  /** Where each earlier timeline was left. */
  readonly ends: ReadonlyMap<number, bigint>
}

/** A timeline's history file: a line for each earlier timeline, with the position of its end. */
export function readHistory(content: string): Map<number, bigint> {
  const ends = new Map<number, bigint>()
  for (const line of content.split("\n")) {
    const [, timeline, lsn] = /^\s*(\d+)\s+([0-9A-F]+\/[0-9A-F]+)/i.exec(line) ?? []
    if (timeline !== undefined && lsn !== undefined) ends.set(Number(timeline), lsnFromSql(lsn))
  }
  return ends
}

/** Whether the log up to this position of a timeline is also this server's. */
export function isInLineage({ timeline, ends }: Lineage, of: number, lsn: bigint): boolean {
  if (of === timeline) return true
  const end = ends.get(of)
  return end !== undefined && lsn <= end
}

/** What LSNs are compared within; its name is opaque to clients. */
export interface Epoch {
  readonly name: string
  /** Whether a position of that epoch is one of this epoch too. */
  includes(name: string, lsn: bigint): boolean
}

/** Characters of an epoch's name before its timeline. */
const FAMILY = 12

/**
 * `family` identifies everything but the timeline: positions of another family are not comparable.
 */
export function epochOf(family: string, lineage: Lineage): Epoch {
  const prefix = family.slice(0, FAMILY)
  return {
    name: `${prefix}${lineage.timeline}`,
    includes(name, lsn) {
      if (name.slice(0, FAMILY) !== prefix || !/^\d+$/.test(name.slice(FAMILY))) return false
      return isInLineage(lineage, Number(name.slice(FAMILY)), lsn)
    },
  }
}
