import * as v from "valibot"
import { badInput } from "#server/errors.ts"
import { bodyTooLarge, json, readJson } from "#server/transport/json.ts"

export const NOT_KEPT = { "Cache-Control": "private, no-store" }

/** A body that fits the schema, or the response to one that is no JSON. Throws `BadRequest`. */
export async function parseBody<Schema extends v.GenericSchema>(
  request: Request,
  schema: Schema,
): Promise<v.InferOutput<Schema> | Response> {
  const body = await readJson(request)
  if (!body.ok)
    return body.status === 413 ? bodyTooLarge() : json({ error: "Invalid JSON body" }, { status: 400 })
  const input = v.safeParse(schema, body.value, { abortEarly: true })
  if (!input.success) throw badInput(input.issues)
  return input.output
}
