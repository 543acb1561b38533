import * as v from "valibot"
import { reason } from "#server/reason-contract.ts"
import type { OperatorChange } from "#db/schema/operator.ts"
import { isStorable } from "#live/contract"
import { ClerkId } from "#server/users/contract.ts"
import { JoinWaitlist } from "#server/waitlist/contract.ts"

export type { OperatorChange }

const Id = v.pipe(v.string(), v.uuid(reason("not-found")))

export const PersonAct = v.variant("intent", [
  v.object({ intent: v.literal("change-plan"), userId: ClerkId, plan: v.picklist(["free", "pro"]) }),
  v.object({ intent: v.literal("sign-out"), userId: ClerkId }),
  v.object({ intent: v.literal("suspend"), userId: ClerkId }),
  v.object({ intent: v.literal("allow"), userId: ClerkId }),
  v.object({ intent: v.literal("make-password-link"), userId: ClerkId }),
  v.object({ intent: v.literal("remove-factors"), userId: ClerkId }),
])

export const WaitlistAct = v.variant("intent", [
  v.object({ intent: v.literal("invite"), ...JoinWaitlist.entries }),
])

export const EmailAct = v.variant("intent", [
  v.object({ intent: v.literal("retry"), emailId: Id }),
  v.object({ intent: v.literal("retry-all") }),
  v.object({ intent: v.literal("drop"), emailId: Id }),
])

export const ReplyAction = v.variant("intent", [v.object({ intent: v.literal("stop"), answerId: Id })])

/** The position in a list and the search. An invalid id starts at the beginning. */
export const ListPlace = v.object({
  before: v.fallback(v.optional(Id), undefined),
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
