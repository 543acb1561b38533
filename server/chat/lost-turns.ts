import { and, eq, lt, or, sql, type SQL } from "drizzle-orm"
import type { Database } from "#db/client.ts"
import { livingProcesses } from "#db/process-lock.ts"
import { chatTurns } from "#db/schema/chat.ts"
import { createFailureLog } from "#server/log.ts"
import { startRecurring, type Recurring } from "#server/recurring.ts"
import type { Scope } from "#server/scope.ts"
import { deadlineOf } from "./deadline.ts"
import { endAbandonedTurn } from "./end-turn.ts"

/** Milliseconds. */
const INTERVAL = 2500

/**
 * Regularly looks for replies whose process has died, so that open pages show it within seconds.
 * Any number of processes may look concurrently; if nothing is running, a look reads one empty
 * index.
 */
export function startEndingLostTurns(scope: Scope<"db" | "log" | "turns">): Recurring {
  let suspects = new Set<string>()
  const failures = createFailureLog(scope.log, "interrupted replies can be ended again")
  return startRecurring(async () => {
    try {
      suspects = await endLostTurns(scope, suspects)
      failures.succeeded()
    } catch (error) {
      failures.failed("warn", error, "could not end interrupted replies; the next sweep will try again")
    }
  }, INTERVAL)
}

/**
 * Ends the turns of processes that have ended, and tells this process to stop its own turns that
 * were ended elsewhere, in case it missed the announcement. A process without its lock is only a
 * suspect at first, because after a restart of PostgreSQL all processes have to take their locks
 * again. Resolves with the suspects, for the next call.
 */
export async function endLostTurns(
  { db, turns }: Scope<"db" | "turns">,
  suspects: ReadonlySet<string>,
): Promise<Set<string>> {
  const suspected = new Set<string>()
  for (const turn of await findDoubtful(db, turns.process)) {
    if (turns.has(turn._id)) {
      if (turn.stopRequestedAt !== null) void turns.stop(turn._id)
    } else if (turn.isOld || suspects.has(turn._id)) {
      await db.transaction((tx) => endAbandonedTurn(tx, turn._id))
    } else if (!turn.isAlive) suspected.add(turn._id)
  }
  return suspected
}

function findDoubtful(db: Database, process: number) {
  const isAlive = sql<boolean>`coalesce(${chatTurns.process} in (${livingProcesses}), true)`
  return db
    .select({
      _id: chatTurns._id,
      stopRequestedAt: chatTurns.stopRequestedAt,
      isAlive,
      isOld: sql<boolean>`${isOld()}`,
    })
    .from(chatTurns)
    .where(
      and(eq(chatTurns.status, "running"), or(eq(chatTurns.process, process), isOld(), sql`not ${isAlive}`)),
    )
}

function isOld(): SQL {
  return lt(deadlineOf(chatTurns), Date.now())
}
