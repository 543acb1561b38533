import * as v from "valibot"

export const JoinWaitlist = v.object({
  email: v.pipe(
    v.string("Enter your email address."),
    v.trim(),
    v.nonEmpty("Enter your email address."),
    v.maxLength(254, "An email address can have up to 254 characters."),
    v.email("Enter an email address such as ada@example.org."),
  ),
})

export type JoinWaitlist = v.InferOutput<typeof JoinWaitlist>
