import { redirect } from "react-router"
import { SIGN_IN } from "#app/features/identity/addresses.ts"
import { servicesOf } from "#server/http/scope.ts"
import type { Route } from "./+types/sign-out.ts"

export const handle = { credential: "none" }

/** Redirects to the provider's own sign-out page, which asks for confirmation. */
export async function loader({ context, params }: Route.LoaderArgs) {
  const { identity } = servicesOf(context)
  const address = await identity.singleSignOn?.signOutAddress(params.provider)
  return redirect(address ?? SIGN_IN, { headers: { "cache-control": "private, no-store" } })
}
