import * as v from "valibot"
import { idParameter, record, refusal, SIGNED_IN } from "./parts.ts"

// Shared by the descriptions of files.

/** A file as it is sent. */
export const File = v.strictObject({
  ...record,
  fileName: v.string(),
  mimeType: v.string(),
  size: v.pipe(v.number(), v.integer(), v.minValue(0), v.description("Bytes.")),
})

export const ofFiles = { tags: ["Files"], security: SIGNED_IN }
export const fileId = idParameter("fileId")
export const binary = { type: "string", format: "binary" }
export const unauthorized = refusal("Nobody is signed in.")
export const notFound = refusal("There is no such file, or it is not yours.")
