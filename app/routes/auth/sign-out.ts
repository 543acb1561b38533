import { redirectDocument } from "react-router"
import { servicesOf, sessionOf } from "#server/http/scope.ts"
import { visitOf } from "#server/http/visit.ts"
import type { Route } from "./+types/sign-out.ts"

/** Also before a second factor is shown. */
export const handle = { credential: "password" }

/** A link cannot sign anybody out, or every page that shows a picture from here could. */
export function loader() {
  return redirectDocument("/dashboard")
}

export async function action({ context, request }: Route.ActionArgs) {
  const { identity, live } = servicesOf(context)
  const session = sessionOf(context)
  const provider = session && (await identity.singleSignOn?.findProviderOf(session))
  const headers = await identity.signOut({ ...visitOf({ request, context }), context })
  if (session) await live.revokeUser(session.userId)
  const next = provider ? `/sign-in?${new URLSearchParams({ signed_out: provider })}` : "/"
  return redirectDocument(next, { status: 303, headers })
}
