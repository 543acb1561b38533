import type { Scope } from "../scope.ts"
import { purgeOldTrash } from "./trash.ts"

/** Milliseconds. */
const INTERVAL = 60 * 60 * 1000

/** Purges, every hour, what has been in the trash for too long. Any number of processes may do it at once. */
export function startPurgingTrash(scope: Scope<"db" | "blobs" | "log" | "config">) {
  let running = purgeOnce(scope)
  const timer = setInterval(() => {
    running = running.then(() => purgeOnce(scope))
  }, INTERVAL)
  timer.unref()
  return {
    stop() {
      clearInterval(timer)
      return running
    },
  }
}

async function purgeOnce(scope: Scope<"db" | "blobs" | "log" | "config">) {
  try {
    await purgeOldTrash(scope)
  } catch (error) {
    scope.log.error({ err: error }, "the trash could not be purged of what is old; the next hour tries again")
  }
}
