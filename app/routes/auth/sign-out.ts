import { href, redirectDocument } from "react-router"
import { SIGN_IN } from "#app/features/identity/addresses.ts"
import { servicesOf, sessionOf } from "#server/http/scope.ts"
import { visitOf } from "#server/http/visit.ts"
import type { Route } from "./+types/sign-out.ts"

/** Signing out must work before the second factor was entered. */
export const handle = { credential: "password" }

/** A GET must not sign anyone out, or any page could do so with an image of this URL. */
export function loader() {
  return redirectDocument(href("/dashboard"))
}

export async function action({ context, request }: Route.ActionArgs) {
  const { identity, live } = servicesOf(context)
  const session = sessionOf(context)
  const provider = session && (await identity.singleSignOn?.findProviderOf(session))
  const headers = await identity.signOut({ ...visitOf({ request, context }), context })
  if (session) await live.revokeUser(session.userId)
  const next = provider ? `${SIGN_IN}?${new URLSearchParams({ signed_out: provider })}` : "/"
  return redirectDocument(next, { status: 303, headers })
}
