import * as v from "valibot"
import { reason } from "./reason-contract.ts"

const MOST = 100
const UNFIT = reason("limit-unfit", { most: MOST })

/** The query parameter that says how many rows a page of a list has at most. */
export const PageLength = v.optional(
  v.pipe(
    v.string(),
    v.regex(/^[1-9]\d*$/, UNFIT),
    v.toNumber(),
    v.maxValue(MOST, UNFIT),
    v.metadata({ parameter: { type: "integer", minimum: 1, maximum: MOST, default: 50 } }),
  ),
  "50",
)

/** The query parameter that says where a page begins, as the page before it said. */
export const PageCursor = v.optional(
  v.pipe(
    v.string(),
    v.maxLength(2000, reason("cursor-foreign")),
    v.description("From the page before."),
    v.metadata({ parameter: { type: "string" } }),
  ),
)

/** The same where it is the id of a row. */
export const RowCursor = v.optional(
  v.pipe(
    v.string(),
    v.uuid(reason("cursor-foreign")),
    v.description("From the page before."),
    v.metadata({ parameter: { type: "string" } }),
  ),
)
