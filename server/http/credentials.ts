import { createContext, matchPath, parsePath, type ServerBuild } from "react-router"
import { endpoints } from "./operations.ts"
import { KEY_SCOPES, type KeyScope } from "#server/ports/identity-contract.ts"

/**
 * The credential that opens a route. `session` is a browser's cookie and nothing else, `password`
 * is the cookie before a second factor is shown, `key` is a cookie or any bearer credential, and
 * with `none` a caller needs neither and a bearer credential is ignored.
 */
export type Credential = "none" | "password" | "session" | "key"

const CREDENTIALS: ReadonlySet<unknown> = new Set<Credential>(["none", "password", "session", "key"])

/**
 * The scope that a limited key needs for a route that accepts keys. `files` is `files:read` for GET
 * and HEAD and `files:write` for the rest; `any` is open to every key.
 */
export type RouteScope = KeyScope | "files" | "any"

const SCOPES: ReadonlySet<unknown> = new Set<RouteScope>([...KEY_SCOPES, "files", "any"])

export type Access =
  | { credential: "none" | "password" | "session" }
  | { credential: "key"; scope: RouteScope }

/** What the route with a pattern accepts. The guard checks every request against it. */
export const accessContext = createContext<(pattern: string) => Access>()

type Routes = ServerBuild["routes"]

/**
 * Reads what the routes declare as `handle = { credential }`, and with `key` a `scope`, for
 * themselves and their child routes, and returns a function that finds it by a route's pattern. The
 * default is `session`. Throws for an unknown declaration.
 */
export function readCredentials({ routes }: Pick<ServerBuild, "routes">): (pattern: string) => Access {
  const declared = new Map<string, Access>()
  for (const route of Object.values(routes)) {
    if (!route || (route.path === undefined && !route.index)) continue
    declared.set(normalize(patternOf(routes, route.id)), accessOf(routes, route.id))
  }
  for (const { path, scope } of endpoints)
    declared.set(path, scope === "unlimited" ? { credential: "session" } : { credential: "key", scope })
  return (pattern) => declared.get(normalize(pattern)) ?? { credential: "session" }
}

/** Whether a URL leads to a route, other than the one for all URLs that have none. */
export const isRoutedContext = createContext<(target: string) => boolean>()

export function readRoutes({ routes }: Pick<ServerBuild, "routes">): (target: string) => boolean {
  const patterns = Object.keys(routes)
    .map((id) => normalize(patternOf(routes, id)))
    .filter((pattern) => pattern !== "/*")
  return (target) => {
    const { pathname = "/" } = parsePath(target)
    return patterns.some((pattern) => matchPath(pattern, pathname) !== null)
  }
}

function accessOf(routes: Routes, id: string | undefined): Access {
  const route = id === undefined ? undefined : routes[id]
  if (!route) return { credential: "session" }
  const handle: unknown = route.module.handle
  if (typeof handle !== "object" || handle === null || !("credential" in handle))
    return accessOf(routes, route.parentId)
  const { credential } = handle
  if (!isCredential(credential))
    throw new Error(`The route ${route.id} declares a credential that does not exist: ${String(credential)}.`)
  if (credential !== "key") return { credential }
  const scope = "scope" in handle ? handle.scope : undefined
  if (!isScope(scope))
    throw new Error(`The route ${route.id} takes keys and declares no scope that exists: ${String(scope)}.`)
  return { credential, scope }
}

function isCredential(value: unknown): value is Credential {
  return CREDENTIALS.has(value)
}

function isScope(value: unknown): value is RouteScope {
  return SCOPES.has(value)
}

function patternOf(routes: Routes, id: string | undefined): string {
  const route = id === undefined ? undefined : routes[id]
  return route ? `${patternOf(routes, route.parentId)}/${route.path ?? ""}` : ""
}

function normalize(pattern: string): string {
  return `/${pattern.split("/").filter(Boolean).join("/")}`
}
