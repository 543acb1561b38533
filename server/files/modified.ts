import * as v from "valibot"
import { BadRequest } from "#server/errors.ts"

/** Milliseconds since the epoch, as `File.lastModified` has them; the limits are those of `Date`. */
export const ModifiedText = v.pipe(
  v.string(),
  v.regex(/^-?\d{1,16}$/),
  v.toNumber(),
  v.minValue(-8.64e15),
  v.maxValue(8.64e15),
)

/** What a sender says of when a file was modified. Throws `BadRequest` for what is no time. */
export function readModified(text: string | null): number | undefined {
  if (text === null) return undefined
  const read = v.safeParse(ModifiedText, text)
  if (!read.success) throw new BadRequest("file-modified-unfit")
  return read.output
}
