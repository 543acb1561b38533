import * as v from "valibot"
import { badInput } from "#server/errors.ts"
import { bodyTooLarge, json, readJson } from "#server/transport/json.ts"
import type { InputSchema } from "./query.ts"

/**
 * A body that fits the schema, or the response to one that is no JSON. Throws `BadRequest`, also for a
 * field that the schema does not have: a misspelt limit would otherwise be no limit.
 */
export async function parseBody<Schema extends InputSchema>(
  request: Request,
  schema: Schema,
  { cleansTexts = false } = {},
): Promise<v.InferOutput<Schema> | Response> {
  const body = await readJson(request, { cleansTexts })
  if (!body.ok)
    return body.status === 413 ? bodyTooLarge() : json({ error: "Invalid JSON body" }, { status: 400 })
  return fitting(schema, body.value)
}

/** Throws `BadRequest`. */
export function fitting<Schema extends InputSchema>(schema: Schema, value: unknown): v.InferOutput<Schema> {
  const input = v.safeParse(schema, value, { abortEarly: true })
  if (!input.success) throw badInput(input.issues, schema, value)
  return input.output
}
