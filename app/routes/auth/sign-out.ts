import { redirectDocument } from "react-router"
import { servicesOf } from "#server/http/scope.ts"
import { visitOf } from "#server/http/visit.ts"
import type { Route } from "./+types/sign-out.ts"

/** A link cannot sign anybody out, or every page that shows a picture from here could. */
export function loader() {
  return redirectDocument("/dashboard")
}

export async function action({ context, request }: Route.ActionArgs) {
  const headers = await servicesOf(context).identity.signOut({ ...visitOf({ request, context }), context })
  return redirectDocument("/", { status: 303, headers })
}
