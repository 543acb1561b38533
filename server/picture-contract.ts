import * as v from "valibot"
import { reason } from "./reason-contract.ts"

/** Bytes: the size of a photo from a phone. */
export const LARGEST_PICTURE = 10_000_000

/** The picture of a person or a space, before it is cropped. */
export const Picture = v.pipe(
  v.file(reason("picture-missing")),
  v.maxSize(LARGEST_PICTURE, reason("picture-too-large")),
)
