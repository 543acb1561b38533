import { randomUUID } from "node:crypto"
import { APICallError } from "ai"
import { dataOfReason } from "#server/errors.ts"
import type { Log } from "#server/log.ts"
import type { RefusalData } from "#server/refusal-contract.ts"
import type { Cause, Refusal } from "./model-refusal.ts"

/** A problem that only the operator can fix: the model server refuses this process. */
export interface Trouble {
  /** The HTTP status of the refusal. */
  status: number
  /** What the problem is, and which setting to check. */
  what: RefusalData
  /** Milliseconds since the epoch. */
  since: number
  /** The reference in the log and in what users see. */
  reference: string
}

/** Problems that are told apart at one time. */
const PROBLEMS = 50

export type ModelTrouble = ReturnType<typeof createModelTrouble>

/** What this process knows about problems with its model server. */
export function createModelTrouble(log: Log) {
  const known = new Map<string, Trouble>()
  let current: Trouble | null = null
  return {
    /**
     * The problem behind a refusal; null if it may pass without the operator. Each problem is logged
     * once under a reference of its own, until the model replies.
     */
    report(error: unknown, { cause, status = 0 }: Refusal): Trouble | null {
      const reason = REASONS[cause]
      if (!reason) return null
      const told = describeModelError(error)
      const key = `${status} ${(told.responseBody ?? told.error ?? "").replaceAll(/\d+/g, "0")}`
      current = known.get(key) ?? null
      if (current) return current
      const what = dataOfReason(reason, { status })
      current = { status, what, since: Date.now(), reference: randomUUID().slice(0, 8) }
      if (known.size >= PROBLEMS) known.clear()
      known.set(key, current)
      log.error({ ...told, reference: current.reference }, what.message)
      return current
    },
    /** The model has replied. */
    end() {
      if (!current) return
      log.info({ reference: current.reference }, "the model server replies again")
      current = null
      known.clear()
    },
    /** The latest. */
    current: () => current,
  }
}

const REASONS = {
  redirect: "model-redirects",
  key: "model-key-refused",
  unpaid: "model-unpaid",
  model: "model-unknown",
  request: "model-request-refused",
} as const satisfies { [Reason in Cause]?: string } as { [Reason in Cause]?: ProblemReason }

type ProblemReason =
  | "model-redirects"
  | "model-key-refused"
  | "model-unpaid"
  | "model-unknown"
  | "model-request-refused"

interface ModelError {
  err?: unknown
  error?: string
  statusCode?: number | undefined
  url?: string
  responseBody?: string | undefined
}

/** The SDK's errors carry the whole conversation, which does not belong in a log. */
export function describeModelError(error: unknown): ModelError {
  if (!APICallError.isInstance(error)) return { err: error }
  const { message, statusCode, url, responseBody } = error
  return { error: message, statusCode, url, responseBody: responseBody?.slice(0, 500) }
}
