import { sql, type SQL } from "drizzle-orm"
import type { AnyPgColumn } from "drizzle-orm/pg-core"

/**
 * Milliseconds after a reply's time limit until a turn that is still running counts as lost with
 * its process.
 */
export const ENDING_TIME = 6000

/** Milliseconds that a reply of an earlier version, which stored no deadline, may take. */
const EARLIER_LIFETIME = 35_000

/**
 * When a turn that is still running counts as lost with its process, in milliseconds since the
 * epoch.
 */
export function deadlineOf(turn: { deadline: AnyPgColumn; _creationTime: AnyPgColumn }): SQL<number> {
  return sql<number>`coalesce(${turn.deadline}, ${turn._creationTime} + ${EARLIER_LIFETIME}::bigint)`.mapWith(
    Number,
  )
}
