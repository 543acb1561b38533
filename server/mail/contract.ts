import * as v from "valibot"

const words = v.pipe(v.string(), v.nonEmpty())

export const WelcomeEmail = v.object({ template: v.literal("welcome"), name: words })

export const PlanChangedEmail = v.object({
  template: v.literal("plan-changed"),
  name: words,
  previousPlan: words,
  newPlan: words,
})

/** The body of POST /api/email. It names no recipient: a letter goes to the caller's own address. */
export const EmailRequest = v.variant("template", [WelcomeEmail, PlanChangedEmail])

export type EmailRequest = v.InferOutput<typeof EmailRequest>

export const EMAIL_TEMPLATES = EmailRequest.options.map((option) => option.entries.template.literal)

/** Null for anything that is not one of the templates with all its fields. */
export function parseEmailRequest(body: unknown): EmailRequest | null {
  const parsed = v.safeParse(EmailRequest, body)
  return parsed.success ? parsed.output : null
}
