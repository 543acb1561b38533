import * as v from "valibot"

export const JoinWaitlist = v.object({
  email: v.pipe(
    v.string("Enter your e-mail address."),
    v.trim(),
    v.nonEmpty("Enter your e-mail address."),
    v.maxLength(254, "An e-mail address has at most 254 characters."),
    v.email("Enter an e-mail address such as ada@example.org."),
  ),
})

export type JoinWaitlist = v.InferOutput<typeof JoinWaitlist>
