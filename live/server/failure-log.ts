import { isLost } from "../postgres/outage.ts"
import type { Log } from "./log.ts"

export interface FailureLog {
  /**
   * Logs the failure unless this one, with the same reason, was logged since the last success;
   * counts it in any case.
   */
  failed(level: "warn" | "error", error: unknown, message: string, details?: object): void
  /** After failures, logs their number and duration. */
  succeeded(): void
}

/**
 * For work that is retried automatically: an outage of an hour produces two lines, not thousands.
 * `recovered` is the message of the second.
 */
export function createFailureLog(log: Log, recovered: string): FailureLog {
  let said = new Set<string>()
  let failures = 0
  let since = 0
  return {
    failed(level, error, message, details = {}) {
      if (failures++ === 0) since = performance.now()
      const reason = `${message} ${kindOf(error)}`
      if (said.has(reason)) return
      said.add(reason)
      // It returns, is restarted or is replaced by a standby, and everything is tried again.
      log[isLost(error) ? "warn" : level]({ err: error, ...details }, message)
    },
    succeeded() {
      if (failures === 0) return
      log.info({ failures, milliseconds: Math.round(performance.now() - since) }, recovered)
      said = new Set()
      failures = 0
    },
  }
}

/**
 * The error code if there is one: a message may contain varying values, such as a name or a number.
 */
function kindOf(error: unknown): string {
  return codeOf(error) ?? (error instanceof Error ? error.message : String(error))
}

function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  return "code" in error && typeof error.code === "string" ? error.code : codeOf(error.cause)
}
