import { allowMethods } from "#server/http/methods.ts"
import { servicesOf } from "#server/http/scope.ts"
import type { Route } from "./+types/robots.ts"

export const handle = { credential: "none" }

export const middleware: Route.MiddlewareFunction[] = [allowMethods("GET", "HEAD")]

export function loader({ context }: Route.LoaderArgs) {
  const { origin } = servicesOf(context).config
  const rules = `User-agent: *
Allow: /
Disallow: /dashboard/
Disallow: /onboarding/

Sitemap: ${origin}/sitemap.xml
`
  return new Response(rules, {
    headers: { "Content-Type": "text/plain; charset=utf-8", "Cache-Control": "public, max-age=3600" },
  })
}
