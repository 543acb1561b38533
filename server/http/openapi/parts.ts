import { toJsonSchema } from "@valibot/to-json-schema"
import * as v from "valibot"
import { Refused } from "#server/http/contract.ts"
import type { FieldsSchema } from "#server/http/query.ts"

/** The parts of an OpenAPI 3.1 document that we write. */
export interface Operation {
  operationId: string
  tags: string[]
  summary: string
  description?: string
  security: Record<string, string[]>[]
  parameters?: object[]
  requestBody?: object
  /** By status. Responses that every request can get are added to all. */
  responses: Record<string, Answer>
}

export interface Answer {
  description: string
  headers?: Record<string, object>
  content?: Record<string, { schema: object; example?: unknown }>
}

/** Methods in lower case, as the format requires. */
export type PathItem = Partial<
  Record<"get" | "head" | "post" | "put" | "patch" | "delete" | "options", Operation>
>

/** Either of the two credentials. */
export const SIGNED_IN = [{ bearer: [] }, { session: [] }]

/** A bearer credential is not accepted. */
export const IN_A_BROWSER = [{ session: [] }]

/** No credential is needed. */
export const PUBLIC = [{}]

export function jsonAnswer(
  description: string,
  schema: v.GenericSchema,
  headers?: Answer["headers"],
): Answer {
  return {
    description,
    ...(headers && { headers }),
    content: { "application/json": { schema: schemaOf(schema) } },
  }
}

export function refusal(description: string, headers?: Answer["headers"]): Answer {
  return jsonAnswer(description, Refused, headers)
}

export function jsonBody(schema: v.GenericSchema) {
  return { required: true, content: { "application/json": { schema: schemaOf(schema) } } }
}

/**
 * Without the dialect, which the document states once, and without the rules that JSON Schema
 * cannot express.
 */
export function schemaOf(schema: v.GenericSchema): object {
  const { $schema: _dialect, ...rest } = toJsonSchema(schema, {
    target: "draft-2020-12",
    typeMode: "input",
    ignoreActions: ["trim", "check", "metadata"],
  })
  return rest
}

/** The responses to HEAD: without bodies. */
export function withoutContent(responses: Record<string, Answer>): Record<string, Answer> {
  return Object.fromEntries(
    Object.entries(responses).map(([status, { content: _none, ...answer }]) => [status, answer]),
  )
}

/** The schema of bytes. */
export const binary = { type: "string", format: "binary" }

export function idParameter(name: string) {
  return { name, in: "path", required: true, schema: { type: "string", format: "uuid" } }
}

/**
 * The parameters of a query, by its schema. One that is parsed from text to something else says how it
 * is written, in its `parameter` metadata.
 */
export function parametersOf({ entries }: FieldsSchema) {
  return Object.entries(entries).map(([name, entry]) => {
    const { description, ...schema } = schemaOf(entry) as { description?: string }
    const { parameter = schema } = v.getMetadata("wrapped" in entry ? entry.wrapped : entry)
    return {
      name,
      in: "query",
      required: entry.type !== "optional" || undefined,
      description,
      schema: parameter,
    }
  })
}

const count = { type: "string", pattern: "^\\d+$" }

export const RATE_LIMIT_HEADERS: NonNullable<Answer["headers"]> = {
  "X-RateLimit-Remaining": {
    required: true,
    description: "How many more requests are accepted now.",
    schema: count,
  },
  "X-RateLimit-Reset": {
    required: true,
    description: "When the oldest request leaves the window, in milliseconds since the epoch.",
    schema: count,
  },
}

export const TOO_MANY_HEADERS: NonNullable<Answer["headers"]> = {
  ...RATE_LIMIT_HEADERS,
  "Retry-After": { required: true, description: "Whole seconds until the reset, rounded up.", schema: count },
}
