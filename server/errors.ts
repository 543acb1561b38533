import type * as v from "valibot"
import { REFUSAL } from "./realtime/refusal-brand.ts"
import { fillIn } from "./realtime/refusal-text-contract.ts"
import { findUnknownField, listed } from "./realtime/unknown-field.ts"
import {
  allRefusalTexts,
  isReason,
  type Missing,
  type Reason,
  type RefusalData,
  type RefusalValues,
  type ValuesArgument,
} from "./refusal-contract.ts"
import { formatBytes } from "./text-contract.ts"

/**
 * An outcome that a user can cause: its reason and values are put into words in the reader's
 * language, its message is in English. Recognise it with `isRefusal`, not with `instanceof`.
 */
export class Refusal<R extends Reason = Reason> extends Error {
  readonly [REFUSAL] = true
  readonly status: number
  readonly code: string
  readonly reason: Reason
  readonly values: RefusalValues | undefined

  constructor(status: number, code: string, reason: R, ...[values]: ValuesArgument<R>) {
    super(inEnglish(reason, values))
    this.name = code
    this.status = status
    this.code = code
    this.reason = reason
    this.values = values
  }
}

export class BadRequest<R extends Reason> extends Refusal<R> {
  constructor(reason: R, ...values: ValuesArgument<R>) {
    super(400, "BadRequest", reason, ...values)
  }
}

export class Unauthorized<R extends Reason> extends Refusal<R> {
  constructor(reason: R, ...values: ValuesArgument<R>) {
    super(401, "Unauthorized", reason, ...values)
  }
}

export class Forbidden<R extends Reason> extends Refusal<R> {
  constructor(reason: R, ...values: ValuesArgument<R>) {
    super(403, "Forbidden", reason, ...values)
  }
}

/** Also for what exists but belongs to another user. */
export class NotFound extends Refusal<`no-such-${Missing}`> {
  constructor(what: Missing) {
    super(404, "NotFound", `no-such-${what}`)
  }
}

/** The sender stopped sending. */
export class RequestTimeout<R extends Reason> extends Refusal<R> {
  constructor(reason: R, ...values: ValuesArgument<R>) {
    super(408, "RequestTimeout", reason, ...values)
  }
}

export class Conflict<R extends Reason> extends Refusal<R> {
  constructor(reason: R, ...values: ValuesArgument<R>) {
    super(409, "Conflict", reason, ...values)
  }
}

/** It existed once. */
export class Gone<R extends Reason> extends Refusal<R> {
  constructor(reason: R, ...values: ValuesArgument<R>) {
    super(410, "Gone", reason, ...values)
  }
}

/** The sender's condition for the request, such as `If-Match`, does not hold. */
export class PreconditionFailed<R extends Reason> extends Refusal<R> {
  constructor(reason: R, ...values: ValuesArgument<R>) {
    super(412, "PreconditionFailed", reason, ...values)
  }
}

export class TooLarge<R extends Reason> extends Refusal<R> {
  constructor(reason: R, ...values: ValuesArgument<R>) {
    super(413, "TooLarge", reason, ...values)
  }
}

export class UnsupportedType<R extends Reason> extends Refusal<R> {
  constructor(reason: R, ...values: ValuesArgument<R>) {
    super(415, "UnsupportedType", reason, ...values)
  }
}

/** It is understood, and contradicts what was said before. */
export class Unprocessable<R extends Reason> extends Refusal<R> {
  constructor(reason: R, ...values: ValuesArgument<R>) {
    super(422, "Unprocessable", reason, ...values)
  }
}

/** Another request is working on it. */
export class Locked<R extends Reason> extends Refusal<R> {
  constructor(reason: R, ...values: ValuesArgument<R>) {
    super(423, "Locked", reason, ...values)
  }
}

export class TooMany<R extends Reason> extends Refusal<R> {
  constructor(reason: R, ...values: ValuesArgument<R>) {
    super(429, "TooMany", reason, ...values)
  }
}

/** Not now, but perhaps in a moment. */
export class Unavailable<R extends Reason> extends Refusal<R> {
  constructor(reason: R, ...values: ValuesArgument<R>) {
    super(503, "Unavailable", reason, ...values)
  }
}

/** The store is full, or the user's share of it. */
export class OutOfSpace<R extends Reason> extends Refusal<R> {
  constructor(reason: R, ...values: ValuesArgument<R>) {
    super(507, "OutOfSpace", reason, ...values)
  }
}

export function isRefusal(error: unknown): error is Refusal {
  return error instanceof Error && REFUSAL in error
}

/** What a page needs to show a refusal in its language. */
export function dataOf({ message, reason, values }: Refusal): RefusalData {
  return { message, reason, values }
}

/** The same for what nothing throws. */
export function dataOfReason<R extends Reason>(reason: R, ...[values]: ValuesArgument<R>): RefusalData {
  return { message: inEnglish(reason, values), reason, values }
}

/** What a schema found wrong, if its message is a `reason`; other messages are for programs. */
export function dataOfIssue({ message }: { message: string }): RefusalData {
  const [name = "", ...rest] = message.split(" ")
  if (!isReason(name)) return { message }
  const values = rest.length > 0 ? (JSON.parse(rest.join(" ")) as RefusalValues) : undefined
  return { message: inEnglish(name, values), reason: name, values }
}

interface Issue {
  message: string
  path?: { key: unknown }[] | undefined
}

/** The refusal of `input` that a schema did not accept. A field that it does not have is named. */
export function badInput(
  [issue]: readonly [Issue, ...unknown[]],
  schema?: v.GenericSchema,
  input?: unknown,
): BadRequest<Reason> {
  const unknown = schema && refuseUnknownField(schema, input)
  if (unknown) return unknown
  const { message, reason, values } = dataOfIssue(issue)
  if (reason === undefined) {
    const path = issue.path?.map(({ key }) => String(key)).join(".")
    return new BadRequest("input-invalid", { problem: path ? `${path}: ${message}` : message })
  }
  // The types of the values were checked where the schema named the reason.
  return new BadRequest(reason as Reason, ...([values] as never as []))
}

/** Null if `input` has no field that the schema does not have. */
export function refuseUnknownField(schema: v.GenericSchema, input: unknown): BadRequest<Reason> | null {
  const unknown = findUnknownField(schema, input)
  if (!unknown) return null
  const { field, meant, known } = unknown
  return meant === undefined
    ? new BadRequest("field-unknown", { field, known: listed(known) })
    : new BadRequest("field-misspelt", { field, meant })
}

function inEnglish(reason: Reason, values: RefusalValues = {}): string {
  return fillIn(allRefusalTexts[reason], values, (value) =>
    typeof value === "object" ? formatBytes(value.bytes) : String(value),
  )
}
