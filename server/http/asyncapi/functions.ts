import * as v from "valibot"
import { schemaOf } from "#server/http/openapi/parts.ts"
import {
  liveChannels,
  liveMutations,
  liveQueries,
  neededScope,
  type FunctionScope,
} from "#server/live-functions.ts"
import type { ErrorCode } from "#live/contract"
import { LIMITS } from "#live/check"
import { type LiveQuery, type Mutation, type NamedCall, rowEntries } from "#live/open"

/** By code: when it occurs. */
type Refusals = { [Code in ErrorCode]?: string }

/** A live query as the document publishes it. */
export interface PublishedQuery {
  name: string
  description: string
  /** JSON Schema, here and below. */
  arguments: object
  row: object
  /** The most significant field first; empty if the rows have no order. */
  order: [field: string, direction: "asc" | "desc"][]
  page: { argument: string; size: number } | null
  /** What a one-shot `query` returns: a list of rows, or a row or null. */
  answer: "rows" | "row"
  /** Of an API key that is limited to scopes: null if any key will do. */
  scope: FunctionScope | null
  refusals: Refusals
}

export interface PublishedMutation {
  name: string
  description: string
  arguments: object
  value: object
  scope: FunctionScope | null
  refusals: Refusals
}

export interface PublishedChannel {
  name: string
  description: string
  /** The query that a client subscribes to before it joins. */
  query: string
  /** Who may send: those who have joined, or the server alone. */
  sentBy: "members" | "server"
  message: object
}

const EVERY_CALL: Refusals = {
  invalid: "The message or its arguments are malformed.",
  rate_limited: "The connection exceeds a limit.",
  unavailable: "The server cannot answer now.",
  internal: "An error in the server.",
}

export function publishedQueries(): PublishedQuery[] {
  return liveQueries.map((query) => publishQuery(query as unknown as LiveQuery))
}

export function publishedMutations(): PublishedMutation[] {
  return liveMutations.map((mutation) => publishMutation(mutation as unknown as Mutation))
}

export function publishedChannels(): PublishedChannel[] {
  return liveChannels.map(({ name, description, query, sentBy, schema }) => ({
    name,
    description,
    query: query.name,
    sentBy,
    message: schemaOf(schema),
  }))
}

function publishQuery(query: LiveQuery): PublishedQuery {
  const { name, description, schema, order, page, answer, authorize } = query
  const scope = publishedScope({ kind: "query", name })
  return {
    name,
    description,
    arguments: schemaOf(schema),
    row: schemaOf(query.row ?? v.strictObject(rowEntries(query.table, query.fields))),
    order: orderOf(order),
    page: page ?? null,
    answer,
    scope,
    refusals: {
      ...EVERY_CALL,
      ...(authorize && { not_found: "It does not exist, or it is not the caller's." }),
      ...(!page && answer === "rows" && { too_large: `There are more than ${LIMITS.maxRows} rows.` }),
      ...forbiddenWithout(scope),
    },
  }
}

function publishMutation({ name, description, schema, value, refusals }: Mutation): PublishedMutation {
  const scope = publishedScope({ kind: "mutation", name })
  return {
    name,
    description,
    arguments: schemaOf(schema),
    value: schemaOf(value ?? v.null()),
    scope,
    refusals: {
      ...EVERY_CALL,
      conflict: "The mutationId was used for another change.",
      ...forbiddenWithout(scope),
      ...refusals,
      ...(refusals?.conflict && {
        conflict: `${refusals.conflict} Or the mutationId was used for another change.`,
      }),
    },
  }
}

function publishedScope(call: NamedCall): FunctionScope | null {
  const scope = neededScope(call)
  return scope === "any" ? null : scope
}

function forbiddenWithout(scope: FunctionScope | null): Refusals {
  if (scope === null) return {}
  if (scope === "unlimited") return { forbidden: "The caller's API key is limited to scopes." }
  return { forbidden: `The caller's API key does not have the scope ${scope}.` }
}

/** As the engine sends it: rows that are equal in the field are ordered by `_id`. */
function orderOf(order: LiveQuery["order"]): PublishedQuery["order"] {
  if (!order) return []
  const { field, direction } = order
  return field === "_id"
    ? [[field, direction]]
    : [
        [field, direction],
        ["_id", direction],
      ]
}
