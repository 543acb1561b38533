import { json } from "#server/transport/json.ts"
import { allowMethods } from "#server/http/methods.ts"
import { describeRealtime } from "#server/http/asyncapi/document.ts"
import { servicesOf } from "#server/http/scope.ts"
import type { Route } from "./+types/realtime-document.ts"

export const handle = { credential: "none" }

export const middleware: Route.MiddlewareFunction[] = [allowMethods("GET", "HEAD")]

export function loader({ context }: Route.LoaderArgs) {
  return json(describeRealtime(servicesOf(context).config), {
    headers: { "Cache-Control": "public, max-age=300" },
  })
}
