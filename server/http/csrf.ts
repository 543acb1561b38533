import type { Session } from "#server/ports/identity.ts"

const SAFE_METHODS = new Set(["GET", "HEAD", "OPTIONS"])

/**
 * Whether another site may have made the browser send this request. A caller who proved themselves by a header cannot be
 * forged: only a cookie travels by itself. `SameSite=Lax` on the cookie is not enough, for it admits neighbours on one domain.
 */
export function isForged(request: Request, session: Session | null, origin: string): boolean {
  if (SAFE_METHODS.has(request.method)) return false
  if (session && session.via !== "cookie") return false

  const from = request.headers.get("origin")
  if (from !== null) return from !== origin
  const site = request.headers.get("sec-fetch-site")
  if (site !== null) return site !== "same-origin"
  // No browser of the last years leaves both out, and a script that sends no cookie has nothing to forge.
  return request.headers.has("cookie")
}
