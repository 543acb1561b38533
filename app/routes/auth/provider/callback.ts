import { redirect } from "react-router"
import { SECRET_ADDRESS } from "#server/http/secret-address.ts"
import { servicesOf } from "#server/http/scope.ts"
import { visitOf } from "#server/http/visit.ts"
import { backToSignIn } from "#app/routes/auth/back-to-sign-in.ts"
import type { Route } from "./+types/callback.ts"

export const handle = { credential: "none" }

/** The redirect URI: the provider sends the browser back here. */
export async function loader({ context, params, request }: Route.LoaderArgs) {
  const { identity } = servicesOf(context)
  const entered = await identity.singleSignOn?.finish(visitOf({ request, context }), params.provider)
  if (!entered || "problem" in entered) throw backToSignIn(entered?.problem ?? "unknown-provider")
  for (const [name, value] of Object.entries(SECRET_ADDRESS)) entered.headers.set(name, value)
  return redirect(entered.target, { headers: entered.headers })
}
