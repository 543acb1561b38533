import type { Session } from "#server/ports/session.ts"

const SAFE_METHODS = new Set(["GET", "HEAD", "OPTIONS"])

/**
 * A request to a page that another site made, said in the other way that browsers have. For a
 * foreign `Origin` React Router has a refusal of its own, which comes before the guard's, shows no
 * page, and counts as an error of the program.
 */
export function withoutForeignOrigin(request: Request, origin: string): Request {
  if (!request.headers.has("origin") || !isForged(request, null, origin)) return request
  const headers = new Headers(request.headers)
  headers.delete("origin")
  headers.set("sec-fetch-site", "cross-site")
  return new Request(request, { headers })
}

/**
 * Whether another site may have made the browser send this request. A caller who proved themselves
 * by a header cannot be forged: only a cookie travels by itself. `SameSite=Lax` on the cookie is
 * not enough, for it admits neighbours on one domain.
 */
export function isForged(request: Request, session: Session | null, origin: string): boolean {
  if (SAFE_METHODS.has(request.method)) return false
  if (session && session.via !== "cookie") return false

  const from = request.headers.get("origin")
  if (from !== null) return from !== origin
  // Every browser that can be made to send a cookie says one of the two. What says neither is a
  // script, and nobody forges those.
  const site = request.headers.get("sec-fetch-site")
  return site !== null && site !== "same-origin"
}
