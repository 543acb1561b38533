import { clientKey } from "#server/http/client-key.ts"
import { json } from "#server/transport/json.ts"
import { allowMethods, ANY_QUERY } from "#server/http/methods.ts"
import { rateLimitHeaders } from "#server/transport/rate-limit.ts"
import { servicesOf } from "#server/http/scope.ts"
import type { Route } from "./+types/health.ts"

export const handle = { credential: "none" }

export const middleware: Route.MiddlewareFunction[] = [allowMethods({ GET: ANY_QUERY, HEAD: ANY_QUERY })]

export function loader({ context, request }: Route.LoaderArgs) {
  const limit = servicesOf(context).limiters.health.check(clientKey(request))
  const headers = { ...rateLimitHeaders(limit), "Cache-Control": "no-store" }
  if (!limit.success) return json({ status: "error", message: "Too many requests" }, { status: 429, headers })
  return json({ status: "ok", timestamp: new Date().toISOString(), uptime: process.uptime() }, { headers })
}
