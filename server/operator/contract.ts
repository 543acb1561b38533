import * as v from "valibot"
export type { OperatorChange } from "#db/schema/operator.ts"
import { isStorable } from "#live/contract"

/** The position in a list and the search. An invalid id starts at the beginning. */
export const ListPlace = v.object({
  before: v.fallback(v.optional(v.pipe(v.string(), v.uuid())), undefined),
  q: v.fallback(
    v.optional(
      v.pipe(
        v.string(),
        v.trim(),
        v.maxLength(254),
        v.check((q) => isStorable(q)),
      ),
      "",
    ),
    "",
  ),
})

export const EMAIL_STATES = ["queued", "parked", "sent"] as const
export type EmailState = (typeof EMAIL_STATES)[number]
export const EmailFilter = v.fallback(v.picklist(EMAIL_STATES), "parked")
