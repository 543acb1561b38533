import { redirect } from "react-router"
import { safeTarget } from "#server/http/redirects.ts"
import { servicesOf } from "#server/http/scope.ts"
import { networkIn, visitOf } from "#server/http/visit.ts"
import { backToSignIn } from "#app/routes/auth/back-to-sign-in.ts"
import type { Route } from "./+types/begin.ts"

export const handle = { credential: "none" }

/**
 * A link instead of a form, because the form-action policy would block the redirect to the
 * provider.
 */
export async function loader({ context, params, request }: Route.LoaderArgs) {
  const { config, identity, limiters } = servicesOf(context)
  if (!limiters.singleSignOn.check(networkIn(context)).success) throw backToSignIn("too-many-attempts")
  const wanted = new URL(request.url).searchParams.get("redirect_url")
  const target = safeTarget(wanted, config.origin)
  const begun = await identity.singleSignOn?.begin(visitOf({ request, context }), params.provider, target)
  if (!begun || "problem" in begun) throw backToSignIn(begun?.problem ?? "unknown-provider")
  begun.headers.set("cache-control", "private, no-store")
  return redirect(begun.location, { headers: begun.headers })
}
