import { isBusy, isOutage } from "#db/outage.ts"

import type { ErrorCode, Refusal } from "./contract.ts"
import type { Log } from "./log.ts"
import { InvalidRange } from "./range.ts"
import { REFUSAL } from "./refusal-brand.ts"
import { TooManyRows } from "./snapshot.ts"

/** A refusal as an error. The client receives its `refusal`. */
export class Refused extends Error {
  readonly refusal: Refusal

  constructor(code: ErrorCode, message: string, retryAfter?: number) {
    super(message)
    this.refusal = retryAfter === undefined ? { code, message } : { code, message, retryAfter }
  }
}

export function unstorable(): Refused {
  return new Refused("invalid", "The arguments hold a character that cannot be stored.")
}

export function tookTooLong(): Refused {
  return new Refused("unavailable", "That took too long. Send the same again.", 1000)
}

const CODES: Readonly<Record<number, ErrorCode>> = {
  400: "invalid",
  401: "unauthorized",
  403: "forbidden",
  404: "not_found",
  409: "conflict",
  413: "too_large",
  422: "invalid",
  429: "rate_limited",
}

/**
 * The refusal that a client receives for an error. Errors marked with `REFUSAL` have an HTTP
 * `status` and a message for the user; a database that cannot be reached is temporary; anything
 * else is a fault, which is logged and not described.
 */
export function refusalFor(error: unknown, log: Log, doing: string): Refusal {
  if (error instanceof Refused) return error.refusal
  if (error instanceof InvalidRange) return { code: "invalid", message: error.message }
  if (error instanceof TooManyRows) return { code: "too_large", message: error.message }
  if (error instanceof Error) {
    const marked = isMarked(error) ? describeMarked(error) : undefined
    if (marked) return marked
    if (isBusy(error)) {
      return {
        code: "unavailable",
        message: "Somebody else is changing this, or too much is under way for you. Try again.",
        retryAfter: 1000,
      }
    }
    if (isTemporary(error)) {
      return { code: "unavailable", message: "The database can't be reached.", retryAfter: 1000 }
    }
  }
  if (isUnacceptable(error)) {
    // A value that PostgreSQL does not accept came from the client: no schema has refused it, and
    // it is no fault of the server.
    log.warn({ err: error }, `A value was not accepted while ${doing}.`)
    return { code: "invalid", message: "The arguments hold a value that is not accepted." }
  }
  log.error({ err: error }, `Failed while ${doing}.`)
  return { code: "internal", message: "Something went wrong. It has been logged." }
}

interface Marked extends Error, Pick<Refusal, "reason" | "values"> {
  status: number
}

function isMarked(error: Error): error is Marked {
  return REFUSAL in error && "status" in error
}

function describeMarked({ status, message, reason, values }: Marked): Refusal | undefined {
  const code = CODES[status]
  return code && { code, message, ...(reason !== undefined && { reason }), ...(values && { values }) }
}

/** Whether trying again later may work: the database is unreachable, or locked by others. */
export function isTemporary(error: unknown): boolean {
  return error instanceof Refused ? error.refusal.retryAfter !== undefined : isOutage(error)
}

/** Whether PostgreSQL did not accept a value, directly or as the error's cause. */
function isUnacceptable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if ("code" in error && typeof error.code === "string" && /^22...$/.test(error.code)) return true
  return isUnacceptable(error.cause)
}
