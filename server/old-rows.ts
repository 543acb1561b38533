import { and, asc, eq, getTableColumns, inArray, lt } from "drizzle-orm"
import type { PgColumn, PgTable } from "drizzle-orm/pg-core"
import { ownerships } from "#db/ownerships.ts"
import { keyOf } from "#db/schema/ownership.ts"
import { startRecurring, type Recurring } from "./recurring.ts"
import type { Scope } from "./scope.ts"

/** Milliseconds between two checks. */
const INTERVAL = 10 * 60 * 1000

/** Rows that one statement deletes, if the table does not say. A conversation takes its messages with it. */
const MOST = 1000

/**
 * Every ten minutes deletes the rows of all tables that are no longer kept. Any number of processes
 * may do it concurrently.
 */
export function startDeletingOldRows({ db, log }: Scope<"db" | "log">): Recurring {
  return startRecurring(async (stopping) => {
    for (const [table, { kept }] of ownerships) {
      if (!kept) continue
      await deleteOldRows({ db }, table, Date.now(), stopping).catch((error: unknown) =>
        log.warn({ err: error }, "could not delete expired rows; will retry in ten minutes"),
      )
    }
  }, INTERVAL)
}

/** Deletes the rows of one table that are kept no longer, as it declares it. */
export async function deleteOldRows(
  { db }: Scope<"db">,
  table: PgTable,
  now = Date.now(),
  stopping?: AbortSignal,
): Promise<void> {
  const kept = ownerships.get(table)?.kept
  const columns: Record<string, PgColumn> = getTableColumns(table)
  const until = columns[kept?.until ?? ""]
  if (!kept || !until) throw new Error("The table does not declare how long its rows are kept.")
  const key = keyOf(table)
  // An index may hold the rows in the trash alone.
  const isOld = and(lt(until, now - (kept.for ?? 0)), columns["trashed"] && eq(columns["trashed"], true))
  const most = kept.atOnce ?? MOST
  for (let removed = most; removed === most && !stopping?.aborted;) {
    // `isOld` again: somebody may restore one in the meantime.
    const old = db.select({ key }).from(table).where(isOld).orderBy(asc(until)).limit(most)
    removed = (
      await db
        .delete(table)
        .where(and(isOld, inArray(key, old)))
        .returning({ key })
    ).length
  }
}
