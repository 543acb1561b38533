import { allowMethods } from "#server/http/methods.ts"
import { servicesOf } from "#server/http/scope.ts"
import type { Route } from "./+types/security-contact.ts"

export const handle = { credential: "none" }

/** Milliseconds. The `Expires` field lies this far after the request. */
const VALIDITY = 90 * 24 * 60 * 60 * 1000

export const middleware: Route.MiddlewareFunction[] = [allowMethods("GET", "HEAD")]

/** Where to report a vulnerability, in the format of RFC 9116. */
export function loader({ context }: Route.LoaderArgs) {
  const { origin, securityContact } = servicesOf(context).config
  const headers = { "Content-Type": "text/plain; charset=utf-8" }
  if (securityContact === null) return new Response("Nobody is named here.\n", { status: 404, headers })
  const fields = [
    `Contact: ${securityContact}`,
    `Expires: ${new Date(Date.now() + VALIDITY).toISOString().slice(0, 10)}T00:00:00Z`,
    "Preferred-Languages: en",
    `Canonical: ${origin}/.well-known/security.txt`,
  ]
  return new Response(`${fields.join("\n")}\n`, {
    headers: { ...headers, "Cache-Control": "public, max-age=3600" },
  })
}
