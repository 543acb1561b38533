import type { Session } from "#server/ports/session.ts"
import type { KeyScope } from "#server/ports/identity-contract.ts"
import type { Access } from "./credentials.ts"

/** The scope that a route needs and the session's key lacks; null if the request may proceed. */
export function missingScope(
  { keyScopes }: Pick<Session, "keyScopes">,
  access: Access,
  method: string,
): KeyScope | null {
  if (!keyScopes || access.credential !== "key" || access.scope === "any") return null
  const needed = access.scope === "files" ? scopeForFiles(method) : access.scope
  return keyScopes.includes(needed) ? null : needed
}

function scopeForFiles(method: string): KeyScope {
  return method === "GET" || method === "HEAD" ? "files:read" : "files:write"
}
