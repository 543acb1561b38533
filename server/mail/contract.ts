import * as v from "valibot"

const nonEmptyText = v.pipe(v.string(), v.nonEmpty())

export const WelcomeEmail = v.object({ template: v.literal("welcome"), name: nonEmptyText })

export const PlanChangedEmail = v.object({
  template: v.literal("plan-changed"),
  name: nonEmptyText,
  previousPlan: nonEmptyText,
  newPlan: nonEmptyText,
})

/**
 * The body of POST /api/email. It names no recipient: the email goes to the caller's own address.
 */
export const EmailRequest = v.variant("template", [WelcomeEmail, PlanChangedEmail])

export type EmailRequest = v.InferOutput<typeof EmailRequest>

export const EMAIL_TEMPLATES = EmailRequest.options.map((option) => option.entries.template.literal)

export const EmailSent = v.strictObject({
  status: v.literal("sent"),
  id: v.pipe(v.string(), v.nonEmpty(), v.description("The mail provider's id of the message.")),
})

export const EmailRefused = v.strictObject({
  error: v.pipe(v.string(), v.nonEmpty()),
  supported_templates: v.pipe(v.array(v.picklist(EMAIL_TEMPLATES)), v.length(EMAIL_TEMPLATES.length)),
})

export const EmailUnconfirmed = v.strictObject({
  error: v.pipe(v.string(), v.nonEmpty()),
  code: v.literal("AddressUnconfirmed"),
})

export const EmailFailed = v.strictObject({
  error: v.literal("Failed to send email"),
  details: v.pipe(v.string(), v.nonEmpty(), v.description("What the mail provider said.")),
})

/** Null for anything that is not one of the templates with all its fields. */
export function parseEmailRequest(body: unknown): EmailRequest | null {
  const parsed = v.safeParse(EmailRequest, body)
  return parsed.success ? parsed.output : null
}
