import * as v from "valibot"
import { endpoints, methodOf, namesIn, type Asked, type Endpoint } from "#server/http/operations.ts"
import { isRead, refusesOf, sentenceOf, type Operation } from "#server/operations/implement.ts"
import type { ErrorCode } from "#live/contract"
import type { Reason } from "#server/refusal-contract.ts"
import { idempotencyKey } from "./files.ts"
import {
  idParameter,
  IN_A_BROWSER,
  jsonAnswer,
  jsonBody,
  parametersOf,
  refusal,
  SIGNED_IN,
  type Answer,
  type Operation as Described,
  type PathItem,
} from "./parts.ts"

const STATUSES: Readonly<Partial<Record<ErrorCode, number>>> = {
  invalid: 400,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  rate_limited: 429,
  unavailable: 503,
  too_large: 507,
}

type Said = readonly [status: number, sentence: string]

const OF_BODY: readonly Said[] = [
  [400, "The body is not JSON, or a field does not fit."],
  [413, "The body is larger than 256 KB."],
]
const OF_KEY: readonly Said[] = [
  [409, sentenceOf("idempotency-key-in-progress")],
  [422, sentenceOf("idempotency-key-used")],
]

/** Every declared operation. */
export const operationPaths: Record<string, PathItem> = Object.fromEntries(
  endpoints.map((endpoint) => [endpoint.path.replaceAll(/:(\w+)/g, "{$1}"), itemOf(endpoint)]),
)

function itemOf({ path, methods }: Endpoint): PathItem {
  const item: Record<string, Described> = {}
  for (const asked of methods.values()) {
    const { operation } = asked
    const described = describe(path, asked)
    item[methodOf(operation).toLowerCase()] = described
    const probe = probeOf(operation)
    if (isRead(operation) && probe) item["head"] = headOf(described, probe)
  }
  return item
}

function probeOf({ http: { id, probe } = { id: "", at: "GET /api/" } }: Operation): string | undefined {
  return probe ?? (id.startsWith("read") ? id.replace("read", "probe") : undefined)
}

function describe(path: string, { operation, query, body }: Asked): Described {
  const parameters = [
    ...namesIn(path).map(idParameter),
    ...(query ? parametersOf(query) : []),
    ...(operation.http?.once ? [idempotencyKey] : []),
  ]
  const { about, http, tag } = operation
  const [summary = "", ...rest] = about.split(/(?<=\.) /)
  return {
    tags: [tag],
    security: operation.may === "session" ? IN_A_BROWSER : SIGNED_IN,
    operationId: http?.id ?? "",
    summary: summary.replace(/\.$/, ""),
    ...(rest.length > 0 && { description: rest.join(" ") }),
    ...((parameters.length > 0 || isRead(operation)) && { parameters }),
    ...(body && { requestBody: jsonBody(body) }),
    responses: { ...successOf(operation), ...refusalsOf(operation, body !== null) },
  }
}

function successOf({ output, http: { field, creates } = { at: "GET /api/", id: "" } }: Operation) {
  if (!output) return { "204": { description: "It is done." } }
  const schema = field === undefined ? output : v.strictObject({ [field]: output })
  return { [creates ? "201" : "200"]: jsonAnswer(field ? `The ${field}.` : "It is done.", schema) }
}

function refusalsOf(operation: Operation, hasBody: boolean): Record<string, Answer> {
  const own = Object.entries(refusesOf(operation)).flatMap(([code, reasons]) =>
    reasons.map((reason): Said => [statusOf(operation, code as ErrorCode, reason), sentenceOf(reason)]),
  )
  const said = [
    [401, "Nobody is signed in."] as const,
    ...(hasBody ? OF_BODY : []),
    ...own,
    ...(operation.http?.once ? OF_KEY : []),
  ]
  return Object.fromEntries(
    [...Map.groupBy(said, ([status]) => status)].map(([status, some]) => [
      status,
      refusal(some.map(([, sentence]) => sentence).join(" ")),
    ]),
  )
}

function statusOf({ name }: Operation, code: ErrorCode, reason: Reason): number {
  // The others of its code are about the space that is left.
  const status = reason === "file-too-large" ? 413 : STATUSES[code]
  if (status === undefined) throw new Error(`${name} refuses with ${code}, which has no status.`)
  return status
}

/** The same without the body. */
function headOf({ responses, ...rest }: Described, operationId: string): Described {
  const withoutBody = Object.entries(responses).map(([status, answer]): [string, Answer] => [
    status,
    status === "200" ? { description: answer.description } : answer,
  ])
  return {
    ...rest,
    operationId,
    responses: Object.fromEntries(withoutBody),
  }
}
