import type { Session } from "#server/ports/session.ts"

const SAFE_METHODS = new Set(["GET", "HEAD", "OPTIONS"])

/**
 * A cross-site request to a page, described in the browser's other header. For a foreign `Origin`
 * React Router has a refusal of its own, which comes before the guard's, shows no page, and counts
 * as an error of the program.
 */
export function withoutForeignOrigin(request: Request, origin: string): Request {
  if (!request.headers.has("origin") || !isForged(request, null, origin)) return request
  const headers = new Headers(request.headers)
  headers.delete("origin")
  headers.set("sec-fetch-site", "cross-site")
  return new Request(request, { headers })
}

/**
 * Whether another site may have made the browser send this request. A caller with a credential in a
 * header cannot be forged: only cookies are sent automatically. `SameSite=Lax` on the cookie is not
 * enough, because it allows sibling domains.
 */
export function isForged(request: Request, session: Session | null, origin: string): boolean {
  if (SAFE_METHODS.has(request.method)) return false
  if (session && session.via !== "cookie") return false

  const from = request.headers.get("origin")
  if (from !== null) return from !== origin
  // Every browser that can be made to send a cookie sends one of the two headers. A client that
  // sends neither is a script, and nobody can forge its requests.
  const site = request.headers.get("sec-fetch-site")
  return site !== null && site !== "same-origin"
}
