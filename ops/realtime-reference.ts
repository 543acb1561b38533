import { writeFileSync } from "node:fs"
import { resolve } from "node:path"
import { describeRealtime } from "#server/http/asyncapi/document.ts"
import {
  publishedChannels,
  publishedMutations,
  publishedQueries,
  type PublishedChannel,
  type PublishedMutation,
  type PublishedQuery,
} from "#server/http/asyncapi/functions.ts"
import { PUBLISHED_LIMITS } from "#server/http/asyncapi/limits.ts"
import { CLIENT_MESSAGES, ERROR_MEANINGS, SERVER_EVENTS } from "#server/http/asyncapi/messages.ts"
import { schemaOf } from "#server/http/openapi/parts.ts"

export const referenceFile = resolve(import.meta.dirname, "../docs/realtime-reference.md")

/** The part of JSON Schema that our schemas use. */
interface Schema {
  type?: string
  format?: string
  description?: string
  const?: unknown
  enum?: unknown[]
  anyOf?: Schema[]
  oneOf?: Schema[]
  items?: Schema | false
  prefixItems?: Schema[]
  properties?: Record<string, Schema>
  required?: string[]
  maxLength?: number
}

/** `/api/realtime.json` as a page of the documentation. */
export function writeReference(): string {
  const { info } = describeRealtime({ origin: "https://tideline.example" })
  const parts = [
    "# Realtime reference",
    `Every live query, mutation, channel, message, error and limit of version ${info.version} of [the realtime protocol](./realtime-protocol.md). \`GET /api/realtime.json\` publishes the same as AsyncAPI 3 with JSON Schema, and \`npm run live -- --list\` prints the functions of a running server. This page is generated from the server's declarations: \`npm run reference\` writes it.`,
    "Fields marked optional can be left out; all others are always present. Ids are version 7 UUIDs, and times are in milliseconds since the epoch.",
    "## Queries",
    "Subscribe to them with `subscribe`, or run one once with `query`. A query can be refused with `unknown`, `invalid`, `rate_limited`, `unavailable` and `internal`; other refusals are listed with it.",
    ...publishedQueries().map(queryText),
    "## Mutations",
    "Call them with `mutate`. A mutation can be refused with the same codes, and with `conflict` if its `mutationId` was used for another change.",
    ...publishedMutations().map(mutationText),
    "## Channels",
    "Subscribe to the channel's query first, then `join` with the id of that subscription. Messages are not stored.",
    ...publishedChannels().map(channelText),
    "## Messages from the client",
    ...Object.entries(CLIENT_MESSAGES).map(([name, { summary, schema, answer }]) =>
      [
        `### \`${name}\``,
        summary,
        fieldList(schemaOf(schema)),
        answer ? `Response: ${typeOf(schemaOf(answer))}.` : "No response.",
      ].join("\n\n"),
    ),
    "## Events from the server",
    ...Object.entries(SERVER_EVENTS).map(([name, { summary, schema }]) =>
      [`### \`${name}\``, summary, fieldList(schemaOf(schema))].join("\n\n"),
    ),
    "## Error codes",
    Object.entries(ERROR_MEANINGS)
      .map(([code, meaning]) => `- \`${code}\`: ${meaning}`)
      .join("\n"),
    "## Limits in numbers",
    PUBLISHED_LIMITS.map(
      ({ name, value, unit, description, beyond }) =>
        `- \`${name}\`, ${value.toLocaleString("en-GB")}${unit === "count" ? "" : ` ${unit}`}: ${description} Beyond it: ${ended(beyond)}`,
    ).join("\n"),
  ]
  return `${parts.join("\n\n")}\n`
}

function queryText(query: PublishedQuery): string {
  const { name, description, order, page, answer } = query
  const sorted = order
    .map(([field, direction]) => `\`${field}\` ${direction === "asc" ? "ascending" : "descending"}`)
    .join(", then ")
  return [
    `### \`${name}\``,
    description,
    argumentsText(query.arguments),
    answer === "row" ? "One row, or none before it exists:" : "Rows:",
    fieldList(query.row),
    [
      sorted ? `Order: ${sorted}.` : "The rows have no order.",
      page
        ? `Pages of ${page.size}: pass a page's \`end\` as \`${page.argument}\` for the next one.`
        : "No pages.",
      `\`query\` returns ${answer === "row" ? "the row or null" : "a list of rows"}.`,
      scopeText(query),
    ]
      .filter(Boolean)
      .join(" "),
    refusalsText(query),
  ]
    .filter(Boolean)
    .join("\n\n")
}

function mutationText(mutation: PublishedMutation): string {
  return [
    `### \`${mutation.name}\``,
    mutation.description,
    argumentsText(mutation.arguments),
    `Value: ${typeOf(mutation.value)}.`,
    scopeText(mutation),
    refusalsText(mutation),
  ]
    .filter(Boolean)
    .join("\n\n")
}

function channelText({ name, description, query, sentBy, message }: PublishedChannel): string {
  const sent = sentBy === "server" ? "Message, sent by the server alone:" : "Message:"
  return [`### \`${name}\``, description, `Beside \`${query}\`. ${sent}`, fieldList(message)].join("\n\n")
}

function argumentsText(schema: object): string {
  const fields = fieldList(schema)
  return fields ? `Arguments:\n\n${fields}` : "No arguments, `{}`."
}

function scopeText({ scope }: Pick<PublishedQuery, "scope">): string {
  if (scope === "unlimited") return "A limited API key cannot call it."
  return scope ? `A limited API key needs the scope \`${scope}\`.` : ""
}

const SHARED = new Set(["invalid", "unknown", "rate_limited", "unavailable", "internal"])

function refusalsText({ refusals }: Pick<PublishedQuery, "refusals">): string {
  const own = Object.entries(refusals).filter(
    ([code, when]) => !SHARED.has(code) && when !== "The mutationId was used for another change.",
  )
  if (own.length === 0) return ""
  return `Refusals:\n\n${own.map(([code, when]) => `- \`${code}\`: ${when}`).join("\n")}`
}

function fieldList(schema: Schema): string {
  return Object.entries(schema.properties ?? {})
    .map(([name, field]) => {
      const optional = schema.required?.includes(name) ? "" : ", optional"
      const length = field.maxLength === undefined ? "" : `, at most ${field.maxLength} characters`
      const about = field.description ? `: ${field.description}` : ""
      return `- \`${name}\`, ${typeOf(field)}${length}${optional}${about}`
    })
    .join("\n")
}

function typeOf(schema: Schema): string {
  const { type, format, items, properties } = schema
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``
  if (schema.enum) return schema.enum.map((value) => `\`${JSON.stringify(value)}\``).join(" or ")
  const variants = schema.anyOf ?? schema.oneOf
  if (variants) return variants.map(typeOf).join(" or ")
  if (schema.prefixItems) return `[${schema.prefixItems.map(typeOf).join(", ")}]`
  if (type === "array") return items ? `list of ${typeOf(items)}` : "list"
  if (type === "object" && properties) {
    const fields = Object.keys(properties).map((name) =>
      schema.required?.includes(name) ? name : `${name}?`,
    )
    return `\`{ ${fields.join(", ")} }\``
  }
  if (format === "uuid") return "id"
  return type ?? "any JSON"
}

function ended(sentence: string): string {
  return sentence.endsWith(".") ? sentence : `${sentence}.`
}

if (import.meta.main) writeFileSync(referenceFile, writeReference())
