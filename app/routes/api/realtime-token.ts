import { json } from "#server/transport/json.ts"
import { allowMethods } from "#server/http/methods.ts"
import { servicesOf, sessionOf } from "#server/http/scope.ts"
import { visitOf } from "#server/http/visit.ts"
import type { Route } from "./+types/realtime-token.ts"

export const handle = { credential: "key", scope: "any" }

export const middleware: Route.MiddlewareFunction[] = [allowMethods("GET", "HEAD")]

/**
 * Issues the token that opens a live connection. The guard has already answered 401 to anyone who
 * is not signed in.
 */
export async function loader({ context, request }: Route.LoaderArgs) {
  const visit = visitOf({ request, context })
  const token = await servicesOf(context).identity.issueRealtimeToken({ ...visit, context })
  if (!token) {
    return json({ error: "This credential opens no live connection. Use a session." }, { status: 403 })
  }
  return json({ ...token, userId: sessionOf(context)?.userId }, { headers: { "cache-control": "no-store" } })
}
