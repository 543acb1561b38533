import { json } from "#server/transport/json.ts"
import { allowMethods } from "#server/http/methods.ts"
import { servicesOf, sessionOf } from "#server/http/scope.ts"
import type { Route } from "./+types/realtime-token.ts"

export const handle = { credential: "key" }

export const middleware: Route.MiddlewareFunction[] = [allowMethods("GET", "HEAD")]

/**
 * What the caller shows when they open the live connection. The guard has answered 401 to anyone
 * who is not signed in.
 */
export async function loader(args: Route.LoaderArgs) {
  const token = await servicesOf(args.context).identity.issueRealtimeToken(args)
  if (!token) {
    return json({ error: "This credential opens no live connection. Use a session." }, { status: 403 })
  }
  return json(
    { ...token, userId: sessionOf(args.context)?.userId },
    { headers: { "cache-control": "no-store" } },
  )
}
