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
 * Looks again and again for answers whose process died, so that pages that show them learn of it
 * within seconds. Any number of processes may look at once; where nothing runs, a look reads one
 * empty index.
 */
export function startEndingLostTurns(scope: Scope<"db" | "log" | "turns">): Recurring {
  let suspects = new Set<string>()
  const failures = createFailureLog(scope.log, "lost answers are ended again")
  return startRecurring(async () => {
    try {
      suspects = await endLostTurns(scope, suspects)
      failures.succeeded()
    } catch (error) {
      failures.failed("warn", error, "lost answers could not be ended; the next look tries again")
    }
  }, INTERVAL)
}

/**
 * Ends the turns whose process is gone, and tells this process's own what it may not have heard:
 * that they have to stop. A process without its lock is only suspected at first, because after a
 * restart of PostgreSQL everybody has to take theirs again. Resolves with the suspects, for the
 * next look.
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
