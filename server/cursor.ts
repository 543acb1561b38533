import * as v from "valibot"
import { BadRequest } from "./errors.ts"

/** The start of a page of a list, as opaque text for URLs. `place` is JSON. */
export function writeCursor(place: unknown): string {
  return Buffer.from(JSON.stringify(place)).toString("base64url")
}

/** The place in a cursor, if there is one. Throws `BadRequest` for a text that such a list did not give. */
export function requirePlace<Schema extends v.GenericSchema>(
  schema: Schema,
  cursor: string | undefined,
): v.InferOutput<Schema> | undefined {
  if (cursor === undefined) return undefined
  try {
    return v.parse(schema, JSON.parse(Buffer.from(cursor, "base64url").toString()))
  } catch {
    throw new BadRequest("cursor-foreign")
  }
}
