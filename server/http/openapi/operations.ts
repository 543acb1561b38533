import * as v from "valibot"
import { endpoints, methodOf, namesIn, type Endpoint } from "#server/http/operations.ts"
import { isRead, refusesOf, sentencesOf, type Operation } from "#server/operations/implement.ts"
import type { ErrorCode } from "#server/realtime/contract.ts"
import {
  idParameter,
  IN_A_BROWSER,
  jsonAnswer,
  jsonBody,
  refusal,
  SIGNED_IN,
  type Answer,
  type Operation as Described,
  type PathItem,
} from "./parts.ts"

const STATUSES: Readonly<Partial<Record<ErrorCode, number>>> = {
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  rate_limited: 429,
}

/** Every declared operation. */
export const operationPaths: Record<string, PathItem> = Object.fromEntries(
  endpoints.map((endpoint) => [endpoint.path.replaceAll(/:(\w+)/g, "{$1}"), itemOf(endpoint)]),
)

function itemOf({ path, methods }: Endpoint): PathItem {
  const item: Record<string, Described> = {}
  for (const { operation, body } of methods.values()) {
    const described = describe(path, operation, body)
    item[methodOf(operation).toLowerCase()] = described
    if (isRead(operation)) item["head"] = headOf(described)
  }
  return item
}

function describe(path: string, operation: Operation, body: v.GenericSchema | null): Described {
  const names = namesIn(path)
  const { about, http, tag } = operation
  const [summary = "", ...rest] = about.split(/(?<=\.) /)
  return {
    tags: [tag],
    security: operation.may === "session" ? IN_A_BROWSER : SIGNED_IN,
    operationId: http?.id ?? "",
    summary: summary.replace(/\.$/, ""),
    ...(rest.length > 0 && { description: rest.join(" ") }),
    ...(names.length > 0 || isRead(operation) ? { parameters: names.map(idParameter) } : {}),
    ...(body && { requestBody: jsonBody(body) }),
    responses: {
      ...successOf(operation),
      "401": refusal("Nobody is signed in."),
      ...(body && {
        "400": refusal("The body is not JSON, or a field does not fit."),
        "413": refusal("The body is larger than 256 KB."),
      }),
      ...refusalsOf(operation),
    },
  }
}

function successOf({ output, http: { field, creates } = { at: "GET /api/", id: "" } }: Operation) {
  if (!output) return { "204": { description: "It is done." } }
  const schema = field === undefined ? output : v.strictObject({ [field]: output })
  return { [creates ? "201" : "200"]: jsonAnswer(field ? `The ${field}.` : "It is done.", schema) }
}

function refusalsOf(operation: Operation): Record<string, Answer> {
  return Object.fromEntries(
    Object.entries(sentencesOf(refusesOf(operation))).map(([code, sentence]) => {
      const status = STATUSES[code as ErrorCode]
      if (status === undefined)
        throw new Error(`${operation.name} refuses with ${code}, which has no status.`)
      return [String(status), refusal(sentence)]
    }),
  )
}

/** The same without the body. */
function headOf({ responses, operationId, ...rest }: Described): Described {
  const withoutBody = Object.entries(responses).map(([status, answer]): [string, Answer] => [
    status,
    status === "200" ? { description: answer.description } : answer,
  ])
  return {
    ...rest,
    operationId: operationId.replace(/^read/, "probe"),
    responses: Object.fromEntries(withoutBody),
  }
}
