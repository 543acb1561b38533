import { LogoutForm } from "#server/accounts/contract.ts"
import { readForm } from "#server/http/form.ts"
import { allowMethods, ANY_QUERY } from "#server/http/methods.ts"
import { servicesOf } from "#server/http/scope.ts"
import { networkIn } from "#server/http/visit.ts"
import { json } from "#server/transport/json.ts"
import type { Route } from "./+types/back-channel-logout.ts"

/** The token in the form proves who sent it. */
export const handle = { credential: "none" }

export const middleware: Route.MiddlewareFunction[] = [allowMethods({ POST: ANY_QUERY })]

/**
 * Per minute and network: a provider that signs everybody out sends one request for each session.
 */
const MOST = 600

/** OpenID Connect Back-Channel Logout 1.0, section 2.5. */
export async function action({ context, params, request }: Route.ActionArgs) {
  const { identity, limiters } = servicesOf(context)
  const headers = { "Cache-Control": "no-store" }
  if (!limiters.singleSignOn.check(`logout ${networkIn(context)}`, MOST).success)
    return json({ error: "Too many requests" }, { status: 429, headers: { ...headers, "Retry-After": "60" } })
  const form = await readForm(request, LogoutForm)
  const isGood =
    form.ok && (await identity.singleSignOn?.endByLogoutToken(params.provider, form.value.logout_token))
  if (isGood) return new Response(null, { status: 200, headers })
  return json({ error: "invalid_request" }, { status: form.ok ? 400 : form.status, headers })
}
