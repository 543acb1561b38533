import * as v from "valibot"
import { reason } from "#server/reason-contract.ts"

export const JoinWaitlist = v.object({
  email: v.pipe(
    v.string(reason("email-missing")),
    v.trim(),
    v.nonEmpty(reason("email-missing")),
    v.maxLength(254, reason("email-too-long")),
    v.email(reason("email-malformed")),
  ),
})

export type JoinWaitlist = v.InferOutput<typeof JoinWaitlist>
