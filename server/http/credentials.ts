import type { ServerBuild } from "react-router"

/**
 * What opens a route. `session` is a browser's cookie and nothing else, `key` is that or any bearer
 * credential, and with `none` a caller needs neither and a bearer credential counts for nothing.
 */
export type Credential = "none" | "session" | "key"

const CREDENTIALS: ReadonlySet<unknown> = new Set<Credential>(["none", "session", "key"])

type Routes = ServerBuild["routes"]

/**
 * Reads what the routes declare as `handle = { credential }`, for themselves and for the routes in
 * them, and resolves a route's pattern to it. Where nothing is declared it is `session`. Throws for
 * a declaration that it does not know.
 */
export function readCredentials({ routes }: Pick<ServerBuild, "routes">): (pattern: string) => Credential {
  const declared = new Map<string, Credential>()
  for (const route of Object.values(routes)) {
    if (!route || (route.path === undefined && !route.index)) continue
    declared.set(normalize(patternOf(routes, route.id)), credentialOf(routes, route.id))
  }
  return (pattern) => declared.get(normalize(pattern)) ?? "session"
}

function credentialOf(routes: Routes, id: string | undefined): Credential {
  const route = id === undefined ? undefined : routes[id]
  if (!route) return "session"
  const handle: unknown = route.module.handle
  if (typeof handle !== "object" || handle === null || !("credential" in handle))
    return credentialOf(routes, route.parentId)
  const { credential } = handle
  if (!isCredential(credential))
    throw new Error(`The route ${route.id} declares a credential that there is not: ${String(credential)}.`)
  return credential
}

function isCredential(value: unknown): value is Credential {
  return CREDENTIALS.has(value)
}

function patternOf(routes: Routes, id: string | undefined): string {
  const route = id === undefined ? undefined : routes[id]
  return route ? `${patternOf(routes, route.parentId)}/${route.path ?? ""}` : ""
}

function normalize(pattern: string): string {
  return `/${pattern.split("/").filter(Boolean).join("/")}`
}
