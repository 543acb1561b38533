import * as v from "valibot"
import { domains } from "#server/domains.ts"
import type { DomainScope } from "#server/operations/domain.ts"
import { isRead, type Operation } from "#server/operations/implement.ts"
import type { FieldsSchema } from "./query.ts"

/** The operations at one path, by method. */
export interface Endpoint {
  /** As React Router writes it: `/api/spaces/:spaceId`. */
  readonly path: string
  readonly names: readonly string[]
  readonly methods: ReadonlyMap<string, { operation: Operation; body: Body | null }>
  readonly scope: DomainScope
}

type Body = FieldsSchema

/** The pattern of the route that answers for all of them, and for unknown URLs under /api. */
const EVERY = "/api/*"

/** Those with fewer parameters first: `/api/spaces/join` is no space. */
export const endpoints: readonly Endpoint[] = domains
  .flatMap(({ operations = [], scope }) =>
    [...Map.groupBy(operations, ({ http }) => http?.at.split(" ")[1])].flatMap(([path, own]) =>
      path === undefined ? [] : [endpointAt(path, own, scope)],
    ),
  )
  .toSorted((one, other) => one.names.length - other.names.length)

function endpointAt(path: string, own: readonly Operation[], scope: DomainScope): Endpoint {
  const methods = new Map(
    own.map((operation) => [methodOf(operation), { operation, body: bodyOf(operation) }]),
  )
  if (methods.size < own.length) throw new Error(`Two operations are at ${path} with the same method.`)
  return { path, names: namesIn(path), methods, scope }
}

export function methodOf({ http }: Operation): string {
  return http?.at.split(" ")[0] ?? ""
}

/** The names of a path's parameters. */
export function namesIn(path: string): string[] {
  return path.split("/").flatMap((part) => (part.startsWith(":") ? [part.slice(1)] : []))
}

/**
 * The endpoint at a path, without `/api/`, and the values in it, which are not checked; null if there
 * is none.
 */
export function findEndpoint(rest = ""): { endpoint: Endpoint; values: Record<string, string> } | null {
  // As React Router matches the other routes.
  const path = `/api/${rest}`.replace(/\/+$/, "")
  for (const endpoint of endpoints) {
    const values = valuesIn(endpoint.path, path)
    if (values) return { endpoint, values }
  }
  return null
}

function valuesIn(pattern: string, path: string): Record<string, string> | null {
  const parts = path.split("/")
  const wanted = pattern.split("/")
  if (parts.length !== wanted.length) return null
  const values: Record<string, string> = {}
  for (const [at, part] of parts.entries()) {
    const name = wanted[at] ?? ""
    if (name.startsWith(":") && part !== "") values[name.slice(1)] = part
    else if (name.toLowerCase() !== part.toLowerCase()) return null
  }
  return values
}

/** The paths without parameters that answer `GET`. */
export const fixedReads: readonly string[] = endpoints
  .filter(({ names, methods }) => names.length === 0 && methods.has("GET"))
  .map(({ path }) => path)

/** The matched route's pattern; of an operation its own, where React Router knows only `/api/*`. */
export function patternOf({ pattern, params }: { pattern: string; params: { "*"?: string } }): string {
  const whole = pattern.replace(/^\/?/, "/")
  const found = whole === EVERY ? findEndpoint(params["*"]) : null
  return found?.endpoint.path ?? whole
}

/** The methods that an endpoint answers, as in `Allow`. */
export function allowedAt({ methods }: Endpoint): string[] {
  return ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"].filter((method) =>
    methods.has(method === "HEAD" ? "GET" : method),
  )
}

/** The fields of an operation's input that the body has to hold; null if there are none. */
export function bodyOf(operation: Operation): Body | null {
  if (isRead(operation) || !operation.http) return null
  const inPath = namesIn(operation.http.at)
  const entries = Object.entries(operation.input.entries).filter(([name]) => !inPath.includes(name))
  return entries.length === 0 ? null : v.strictObject(Object.fromEntries(entries))
}
