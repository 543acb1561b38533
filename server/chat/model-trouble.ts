import { randomUUID } from "node:crypto"
import { APICallError } from "ai"
import { dataOfReason } from "#server/errors.ts"
import type { Log } from "#server/log.ts"
import type { RefusalData } from "#server/refusal-contract.ts"

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

/** What this process knows about problems with its model server. */
export interface ModelTrouble {
  /**
   * The problem behind an error; null if it may pass without the operator. Each problem is logged
   * once, until a different one occurs.
   */
  report(error: unknown): Trouble | null
  /** The model has replied. */
  end(): void
  current(): Trouble | null
}

export function createModelTrouble(log: Log): ModelTrouble {
  let current: Trouble | null = null
  return {
    report(error) {
      const status = APICallError.isInstance(error) ? error.statusCode : undefined
      if (status === undefined || !isOperators(status)) return null
      if (current?.status === status) return current
      current = { status, what: describe(status), since: Date.now(), reference: randomUUID().slice(0, 8) }
      log.error({ ...describeModelError(error), reference: current.reference }, current.what.message)
      return current
    },
    end() {
      if (!current) return
      log.info({ reference: current.reference }, "the model server replies again")
      current = null
    },
    current: () => current,
  }
}

/** A redirect, or a refusal that waiting does not change. */
function isOperators(status: number): boolean {
  return status >= 300 && status < 500 && ![408, 409, 425, 429].includes(status)
}

function describe(status: number): RefusalData {
  if (status < 400) return dataOfReason("model-redirects", { status })
  if (status === 401 || status === 403) return dataOfReason("model-key-refused", { status })
  if (status === 402) return dataOfReason("model-unpaid", { status })
  if (status === 404) return dataOfReason("model-unknown", { status })
  return dataOfReason("model-request-refused", { status })
}

/** The SDK's errors carry the whole conversation, which does not belong in a log. */
export function describeModelError(error: unknown) {
  if (!APICallError.isInstance(error)) return { err: error }
  const { message, statusCode, url, responseBody } = error
  return { error: message, statusCode, url, responseBody: responseBody?.slice(0, 500) }
}
