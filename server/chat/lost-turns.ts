import { and, eq, lt, type SQL } from "drizzle-orm"
import type { Database } from "#db/client.ts"
import { chatTurns } from "#db/schema/chat.ts"
import type { Scope } from "../scope.ts"
import { TURN_LIFETIME } from "./contract.ts"

/** Milliseconds. */
const INTERVAL = 10_000

/** Every ten seconds, so that whoever watches an answer whose process died is told. Any number of processes may do it at once. */
export function startEndingLostTurns({ db, log }: Scope<"db" | "log">) {
  const end = () =>
    endLostTurns(db).catch((error: unknown) => {
      log.warn({ err: error }, "lost answers could not be ended; the next look tries again")
    })
  let running = end()
  const timer = setInterval(() => {
    running = running.then(end)
  }, INTERVAL)
  timer.unref()
  return {
    stop() {
      clearInterval(timer)
      return running
    },
  }
}

/** A turn whose process died keeps what it said, and makes room for the next. */
export async function endLostTurns(
  db: Pick<Database, "update">,
  { among, now = Date.now() }: { among?: SQL; now?: number } = {},
): Promise<void> {
  await db
    .update(chatTurns)
    .set({ status: "interrupted", endedAt: now })
    .where(and(eq(chatTurns.status, "running"), lt(chatTurns._creationTime, now - TURN_LIFETIME), among))
}
