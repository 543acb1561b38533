import { applyNotice } from "#server/accounts/apply-notice.ts"
import { readBytes } from "#server/transport/body.ts"
import { bodyTooLarge, json } from "#server/transport/json.ts"
import { allowMethods, ANY_QUERY } from "#server/http/methods.ts"
import { answerRefusals } from "#server/transport/refusals.ts"
import { servicesOf } from "#server/http/scope.ts"
import type { Route } from "./+types/clerk-webhook.ts"

export const handle = { credential: "none" }

export const middleware: Route.MiddlewareFunction[] = [allowMethods({ POST: ANY_QUERY })]

/** Bytes. Clerk's largest requests are about ten kilobytes. */
const LIMIT = 256 * 1024

/** Clerk sends an event again unless the response is 200. */
export async function action({ context, request }: Route.ActionArgs) {
  const services = servicesOf(context)
  const { readNotice } = services.identity
  if (!readNotice)
    return json({ error: "There are no webhooks here: set CLERK_WEBHOOK_SIGNING_SECRET." }, { status: 404 })
  return answerRefusals(async () => {
    const body = await readBytes(request, LIMIT)
    if (!body) return bodyTooLarge({}, LIMIT)
    const notice = await readNotice(
      new Request(request.url, { method: "POST", headers: request.headers, body }),
    )
    if (notice) await applyNotice(services, notice)
    return json({ received: true })
  })
}
