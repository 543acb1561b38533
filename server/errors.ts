import type * as v from "valibot"
import { fillIn, REFUSAL } from "#live/contract"
import { findUnknownField, listed } from "#live/check"
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

/** The refusals of one status. */
function refusals(status: number, code: string) {
  return class<R extends Reason> extends Refusal<R> {
    /** The log names an error by its class. */
    static readonly name = code

    constructor(reason: R, ...values: ValuesArgument<R>) {
      super(status, code, reason, ...values)
    }
  }
}

export const BadRequest = refusals(400, "BadRequest")
export const Unauthorized = refusals(401, "Unauthorized")
export const Forbidden = refusals(403, "Forbidden")
/** The sender stopped sending. */
export const RequestTimeout = refusals(408, "RequestTimeout")
export const Conflict = refusals(409, "Conflict")
/** It existed once. */
export const Gone = refusals(410, "Gone")
/** The sender's condition for the request, such as `If-Match`, does not hold. */
export const PreconditionFailed = refusals(412, "PreconditionFailed")
export const TooLarge = refusals(413, "TooLarge")
export const UnsupportedType = refusals(415, "UnsupportedType")
/** It is understood, and contradicts what was said before. */
export const Unprocessable = refusals(422, "Unprocessable")
/** Another request is working on it. */
export const Locked = refusals(423, "Locked")
export const TooMany = refusals(429, "TooMany")
/** Not now, but perhaps in a moment. */
export const Unavailable = refusals(503, "Unavailable")
/** The store is full, or the user's share of it. */
export const OutOfSpace = refusals(507, "OutOfSpace")

/** Also for what exists but belongs to another user. */
export class NotFound extends Refusal<`no-such-${Missing}`> {
  constructor(what: Missing) {
    super(404, "NotFound", `no-such-${what}`)
  }
}

/** The row that a statement was to find. Throws `NotFound` if it found none. */
export async function requireRow<Row>(
  rows: PromiseLike<readonly Row[]>,
  what: Missing = "record",
): Promise<Row> {
  const [row] = await rows
  if (!row) throw new NotFound(what)
  return row
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
): Refusal {
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
export function refuseUnknownField(schema: v.GenericSchema, input: unknown): Refusal | null {
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
