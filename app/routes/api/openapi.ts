import { json } from "#server/transport/json.ts"
import { allowMethods } from "#server/http/methods.ts"
import { describeApi } from "#server/http/openapi/document.ts"
import { servicesOf } from "#server/http/scope.ts"
import type { Route } from "./+types/openapi.ts"

export const handle = { credential: "none" }

export const middleware: Route.MiddlewareFunction[] = [allowMethods("GET", "HEAD")]

export function loader({ context }: Route.LoaderArgs) {
  return json(describeApi(servicesOf(context).config), {
    headers: { "Cache-Control": "public, max-age=300" },
  })
}
