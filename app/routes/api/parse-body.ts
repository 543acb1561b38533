import * as v from "valibot"
import { badInput } from "#server/errors.ts"
import type { FieldsSchema, InputSchema } from "#server/http/query.ts"
import { bodyTooLarge, json, readJson } from "#server/transport/json.ts"

export const NOT_KEPT = { "Cache-Control": "private, no-store" }

/**
 * What a body of the API may be parsed with: a field that the schema does not have is refused,
 * because a misspelt limit would otherwise be no limit.
 */
type BodySchema =
  | InputSchema
  | v.SchemaWithPipe<
      readonly [
        FieldsSchema,
        ...v.PipeItem<Record<string, unknown>, Record<string, unknown>, v.BaseIssue<unknown>>[],
      ]
    >

/** A body that fits the schema, or the response to one that is no JSON. Throws `BadRequest`. */
export async function parseBody<Schema extends BodySchema>(
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
export function fitting<Schema extends BodySchema>(schema: Schema, value: unknown): v.InferOutput<Schema> {
  const input = v.safeParse(schema, value, { abortEarly: true })
  if (!input.success) throw badInput(input.issues, schema, value)
  return input.output
}
