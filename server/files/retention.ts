import { startRecurring, type Recurring } from "#server/recurring.ts"
import type { Scope } from "#server/scope.ts"
import { purgeOldTrash } from "./trash.ts"

/** Milliseconds. */
const INTERVAL = 60 * 60 * 1000

/**
 * Purges, every hour, what has been in the trash for too long. Any number of processes may do it at
 * once.
 */
export function startPurgingTrash(scope: Scope<"db" | "blobs" | "log" | "config">): Recurring {
  return startRecurring(async (stopping) => {
    try {
      await purgeOldTrash(scope, Date.now(), stopping)
    } catch (error) {
      scope.log.error({ err: error }, "could not purge expired files from the trash; will retry in an hour")
    }
  }, INTERVAL)
}
