import * as v from "valibot"

/** The start of a page of a list, as opaque text for URLs. `place` is JSON. */
export function writeCursor(place: unknown): string {
  return Buffer.from(JSON.stringify(place)).toString("base64url")
}

/** The place in a cursor; undefined if the text is not a cursor of such a list. */
export function readCursor<Schema extends v.GenericSchema>(
  schema: Schema,
  text: string,
): v.InferOutput<Schema> | undefined {
  try {
    return v.parse(schema, JSON.parse(Buffer.from(text, "base64url").toString()))
  } catch {
    return undefined
  }
}
