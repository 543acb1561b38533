import { setTimeout as delay } from "node:timers/promises"
import type { Log } from "#server/log.ts"

/** Milliseconds. */
const AFTER_RESPONSE = 100

/** Runs work that a response must not wait for. */
export function openBackground(log: Log) {
  const running = new Set<Promise<unknown>>()
  return {
    /**
     * Begins once the response has been sent: otherwise the work would delay it, and the delay would
     * reveal that there was work.
     */
    run(begin: () => Promise<unknown>) {
      const settled = delay(AFTER_RESPONSE)
        .then(begin)
        .catch((error: unknown) =>
          log.error({ err: error }, "could not queue an account email or record a failed sign-in"),
        )
        .finally(() => running.delete(settled))
      running.add(settled)
    },
    async settle() {
      await Promise.all(running)
    },
  }
}
