import { isBusy, isOutage } from "../postgres/outage.ts"

import type { ErrorCode, Refusal, RefusalText } from "../protocol/contract.ts"
import type { Log } from "./log.ts"
import { InvalidRange, UnknownPage } from "./range.ts"
import { REFUSAL } from "../protocol/refusal-brand.ts"
import { fillIn, realtimeTexts } from "../protocol/refusal-text-contract.ts"
import { TooManyRows } from "./snapshot.ts"

const STATUSES: Readonly<Record<ErrorCode, number>> = {
  invalid: 400,
  unknown: 404,
  version: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  too_large: 413,
  rate_limited: 429,
  unavailable: 503,
  internal: 500,
}

/**
 * A refusal as an error. A socket receives its `refusal`; a loader recognizes it by the mark, like
 * the product's own.
 */
export class Refused extends Error {
  readonly [REFUSAL] = true
  readonly refusal: Refusal

  constructor(code: ErrorCode, message: string, retryAfter?: number) {
    super(message)
    this.refusal = retryAfter === undefined ? { code, message } : { code, message, retryAfter }
  }

  get status(): number {
    return STATUSES[this.refusal.code]
  }
  get code(): ErrorCode {
    return this.refusal.code
  }
  get reason(): string | undefined {
    return this.refusal.reason
  }
  get values(): Refusal["values"] {
    return this.refusal.values
  }
}

/** A refusal that pages can put into the words of their language. */
export function createRefusal(
  code: ErrorCode,
  reason: keyof typeof realtimeTexts,
  retryAfter?: number,
): Refused {
  const refused = new Refused(code, realtimeTexts[reason], retryAfter)
  refused.refusal.reason = reason
  return refused
}

/** What is wrong, in English and as a reason with values. */
export function tell(
  reason: keyof typeof realtimeTexts,
  values: NonNullable<RefusalText["values"]> = {},
): RefusalText {
  return { message: fillIn(realtimeTexts[reason], values), reason, values }
}

export function unstorable(): Refused {
  return new Refused("invalid", "The arguments hold a character that cannot be stored.")
}

export function tookTooLong(): Refused {
  return createRefusal("unavailable", "answer-late", 1000)
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
  507: "too_large",
}

/**
 * The refusal that a client receives for an error. Errors marked with `REFUSAL` have an HTTP
 * `status` and a message for the user; a database that cannot be reached is temporary; anything
 * else is a fault, which is logged and not described.
 */
export function refusalFor(error: unknown, log: Log, doing: string): Refusal {
  if (error instanceof Refused) return error.refusal
  if (error instanceof UnknownPage) return createRefusal("invalid", "page-of-list-unknown").refusal
  if (error instanceof InvalidRange) return { code: "invalid", message: error.message }
  if (error instanceof TooManyRows) return { code: "too_large", message: error.message }
  if (error instanceof Error) {
    const marked = isMarked(error) ? describeMarked(error) : undefined
    if (marked) return marked
    if (isBusy(error)) return createRefusal("unavailable", "record-busy", 1000).refusal
    if (isTemporary(error)) return createRefusal("unavailable", "database-unreachable", 1000).refusal
  }
  if (isUnacceptable(error)) {
    // A value that PostgreSQL does not accept came from the client: no schema has refused it, and
    // it is no fault of the server.
    log.warn({ err: error }, `A value was not accepted while ${doing}.`)
    return { code: "invalid", message: "The arguments hold a value that is not accepted." }
  }
  log.error({ err: error }, `Failed while ${doing}.`)
  return createRefusal("internal", "server-failed").refusal
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
