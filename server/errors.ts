import { formatBytes } from "./files/contract.ts"
import { REFUSAL } from "./realtime/refusal-brand.ts"
import {
  allRefusalTexts,
  isReason,
  type Missing,
  type Reason,
  type RefusalData,
  type RefusalValues,
  type ValuesOf,
} from "./refusal-contract.ts"

/** The values that the text of a reason names; none for most. */
type Said<R extends string> = R extends Reason
  ? keyof ValuesOf<R> extends never
    ? []
    : [values: ValuesOf<R>]
  : []

/**
 * An outcome that a user can cause: its reason and values are put into words in the reader's
 * language, its message is in English. Recognise it with `isRefusal`, not with `instanceof`.
 */
export class Refusal<R extends string = string> extends Error {
  readonly [REFUSAL] = true
  readonly status: number
  readonly code: string
  readonly reason: Reason | undefined
  readonly values: RefusalValues | undefined

  constructor(status: number, code: string, reason: R, ...said: Said<R>) {
    const [values] = said as readonly RefusalValues[]
    super(isReason(reason) ? inEnglish(reason, values) : reason)
    this.name = code
    this.status = status
    this.code = code
    if (isReason(reason)) {
      this.reason = reason
      this.values = values
    }
  }
}

export class BadRequest<R extends string> extends Refusal<R> {
  constructor(reason: R, ...said: Said<R>) {
    super(400, "BadRequest", reason, ...said)
  }
}

export class Unauthorized<R extends string> extends Refusal<R> {
  constructor(reason: R, ...said: Said<R>) {
    super(401, "Unauthorized", reason, ...said)
  }
}

export class Forbidden<R extends string> extends Refusal<R> {
  constructor(reason: R, ...said: Said<R>) {
    super(403, "Forbidden", reason, ...said)
  }
}

/** Also for what exists but belongs to another user. */
export class NotFound extends Refusal<`no-such-${Missing}`> {
  constructor(what: Missing) {
    super(404, "NotFound", `no-such-${what}`)
  }
}

/** The sender stopped sending. */
export class RequestTimeout<R extends string> extends Refusal<R> {
  constructor(reason: R, ...said: Said<R>) {
    super(408, "RequestTimeout", reason, ...said)
  }
}

export class Conflict<R extends string> extends Refusal<R> {
  constructor(reason: R, ...said: Said<R>) {
    super(409, "Conflict", reason, ...said)
  }
}

/** It existed once. */
export class Gone<R extends string> extends Refusal<R> {
  constructor(reason: R, ...said: Said<R>) {
    super(410, "Gone", reason, ...said)
  }
}

export class TooLarge<R extends string> extends Refusal<R> {
  constructor(reason: R, ...said: Said<R>) {
    super(413, "TooLarge", reason, ...said)
  }
}

export class UnsupportedType<R extends string> extends Refusal<R> {
  constructor(reason: R, ...said: Said<R>) {
    super(415, "UnsupportedType", reason, ...said)
  }
}

/** Another request is working on it. */
export class Locked<R extends string> extends Refusal<R> {
  constructor(reason: R, ...said: Said<R>) {
    super(423, "Locked", reason, ...said)
  }
}

export class TooMany<R extends string> extends Refusal<R> {
  constructor(reason: R, ...said: Said<R>) {
    super(429, "TooMany", reason, ...said)
  }
}

/** Not now, but perhaps in a moment. */
export class Unavailable<R extends string> extends Refusal<R> {
  constructor(reason: R, ...said: Said<R>) {
    super(503, "Unavailable", reason, ...said)
  }
}

/** The store is full, or the user's share of it. */
export class OutOfSpace<R extends string> extends Refusal<R> {
  constructor(reason: R, ...said: Said<R>) {
    super(507, "OutOfSpace", reason, ...said)
  }
}

export function isRefusal(error: unknown): error is Refusal {
  return error instanceof Error && REFUSAL in error
}

/** What a page needs to show a refusal in its language. */
export function dataOf({ message, reason, values }: Refusal): RefusalData {
  return { message, reason, values }
}

/** What a schema found wrong, if its message is a `reason`; other messages are for programs. */
export function dataOfIssue({ message }: { message: string }): RefusalData {
  const [name = "", ...rest] = message.split(" ")
  if (!isReason(name)) return { message }
  const values = rest.length > 0 ? (JSON.parse(rest.join(" ")) as RefusalValues) : undefined
  return { message: inEnglish(name, values), reason: name, values }
}

/** The refusal of input that a schema did not accept. */
export function badInput([issue]: readonly [{ message: string }, ...unknown[]]): BadRequest<Reason> {
  const { message, reason, values } = dataOfIssue(issue)
  const [name, said] = isReason(reason ?? "") ? [reason, values] : ["input-invalid", { problem: message }]
  return new BadRequest(name as Reason, ...([said] as never))
}

function inEnglish(reason: Reason, values: RefusalValues = {}): string {
  return allRefusalTexts[reason].replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name]
    return typeof value === "object" ? formatBytes(value.bytes) : String(value)
  })
}
