import { clientKey } from "#server/http/client-key.ts"
import { bodyTooLarge, json, readJson } from "#server/transport/json.ts"
import { allowMethods, ANY_QUERY } from "#server/http/methods.ts"
import { rateLimitHeaders } from "#server/transport/rate-limit.ts"
import { servicesOf, sessionOf } from "#server/http/scope.ts"
import { MOST_EMAILS } from "#server/mail/email-limit.ts"
import { unauthorized } from "#server/http/unauthorized.ts"
import { networkIn } from "#server/http/visit.ts"
import { EMAIL_TEMPLATES, parseEmailRequest } from "#server/mail/contract.ts"
import { sendEmail } from "#server/mail/mail.ts"
import type { Route } from "./+types/email.ts"

export const handle = { credential: "key", scope: "email" }

export const middleware: Route.MiddlewareFunction[] = [allowMethods({ POST: ANY_QUERY })]

/** The checks run in the order of docs/http-api.md; the first that fails ends the request. */
export async function action({ context, request }: Route.ActionArgs) {
  const services = servicesOf(context)
  const limit = services.limiters.email.check(clientKey(request))
  const headers = rateLimitHeaders(limit)
  if (!limit.success) return json({ error: "Too many requests" }, { status: 429, headers })

  const session = sessionOf(context)
  if (!session) return unauthorized(headers)

  const user = await services.identity.getUser(session.userId)
  if (!user?.email) return json({ error: "No email address found for user" }, { status: 400, headers })

  const body = await readJson(request, { cleansTexts: true })
  if (!body.ok && body.status === 413) return bodyTooLarge(headers)
  if (!body.ok) return refuse("Invalid JSON body", headers)

  const email = parseEmailRequest(body.value)
  if (!email) return refuse(EXPECTED, headers)

  if (!user.emailVerified && services.config.mail.apiRecipients === "confirmed")
    return json({ error: UNCONFIRMED, code: "AddressUnconfirmed" }, { status: 403, headers })

  const spender = { userId: session.userId, network: networkIn(context) }
  const spent = services.limiters.emails.check(spender, MOST_EMAILS)
  if (!spent.success)
    return json({ error: "Too many requests" }, { status: 429, headers: rateLimitHeaders(spent) })

  try {
    const { id } = await sendEmail(services, user.email, email)
    return json({ status: "sent", id }, { headers })
  } catch (error) {
    services.log.error({ error, template: email.template }, "an email could not be sent")
    const details = error instanceof Error ? error.message : String(error)
    return json({ error: "Failed to send email", details }, { status: 502, headers })
  }
}

const EXPECTED =
  'Expected a valid template with its fields, all non-empty strings: "welcome" takes name; "plan-changed" takes name, previousPlan and newPlan'

const UNCONFIRMED =
  "Your email address is not confirmed, so nothing is sent to it. Follow the link in the email that you got when you signed up, and try again."

function refuse(error: string, headers: HeadersInit) {
  return json({ error, supported_templates: EMAIL_TEMPLATES }, { status: 400, headers })
}
