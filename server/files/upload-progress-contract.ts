import * as v from "valibot"
import type { ChannelType } from "#live/contract"
import { FILE_NAME_LIMIT } from "./contract.ts"

const Bytes = v.pipe(v.number(), v.safeInteger(), v.minValue(0))

/** How far an upload into a space is. */
export const Uploading = v.strictObject({
  uploadId: v.pipe(v.string(), v.uuid()),
  userId: v.pipe(v.string(), v.uuid(), v.description("Who is uploading.")),
  fileName: v.pipe(v.string(), v.maxLength(FILE_NAME_LIMIT)),
  received: v.pipe(Bytes, v.description("Bytes that the server has received.")),
  size: v.pipe(v.nullable(Bytes), v.description("Bytes of the whole file. Null if the sender has not said.")),
  isOver: v.pipe(v.boolean(), v.description("The file is stored, or the upload was cancelled or broke off.")),
})
export type Uploading = v.InferOutput<typeof Uploading>

export const fileUploadsChannel: ChannelType<"files.uploads", Uploading> = { name: "files.uploads" }

/** Milliseconds between two messages about an upload. */
export const UPLOAD_SAID_EVERY = 1000

/** Milliseconds after which an upload of which nothing is heard is no longer shown. */
export const UPLOAD_LOST_AFTER = 5000
