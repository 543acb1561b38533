import { createContext } from "react-router"
import * as v from "valibot"
import { domains } from "#server/domains.ts"
import type { DomainScope } from "#server/operations/domain.ts"
import type { Operation } from "#server/operations/implement.ts"
import { isApiPath } from "#server/transport/paths.ts"
import type { FieldsSchema, InputSchema } from "./query.ts"

/** The operations at one path, by method. */
export interface Endpoint {
  /** As React Router writes it: `/api/spaces/:spaceId`. */
  readonly path: string
  readonly names: readonly string[]
  readonly methods: ReadonlyMap<string, Asked>
  readonly scope: DomainScope
}

/** An operation, and what its query or its body holds. */
export interface Asked {
  readonly operation: Operation
  readonly query: FieldsSchema | null
  readonly body: InputSchema | null
}

/** What a request's URL leads to. */
export interface Matched {
  /** The route's pattern, or that of the operations. */
  readonly pattern: string
  /** The values in the path are not checked. `isRoute` if a route has the same pattern. */
  readonly found: { endpoint: Endpoint; values: Record<string, string>; isRoute: boolean } | null
}

export const matchedContext = createContext<Matched>({ pattern: "", found: null })

export const endpoints: readonly Endpoint[] = domains.flatMap(({ operations = [], scope }) =>
  [...Map.groupBy(operations, ({ http }) => http?.at.split(" ")[1])].flatMap(([path, own]) =>
    path === undefined ? [] : [endpointAt(path, own, scope)],
  ),
)

function endpointAt(path: string, own: readonly Operation[], scope: DomainScope): Endpoint {
  const methods = new Map(own.map((operation) => [methodOf(operation), askedOf(operation)]))
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

/** What is not in the path is in the query of GET and DELETE, and in the body of the others. */
function askedOf(operation: Operation): Asked {
  const rest = withoutPath(operation)
  if (!["GET", "DELETE"].includes(methodOf(operation))) return { operation, query: null, body: rest }
  if (rest && !("entries" in rest)) throw new Error(`The query of ${operation.name} is a union.`)
  return { operation, query: rest, body: null }
}

function withoutPath({ name, input, http }: Operation): InputSchema | null {
  const inPath = namesIn(http?.at ?? "")
  if (!("entries" in input)) {
    if (inPath.length > 0) throw new Error(`The input of ${name} is a union, and its path has values.`)
    return input
  }
  const entries = Object.entries(input.entries).filter(([field]) => !inPath.includes(field))
  if (entries.length === 0) return null
  const fields = v.strictObject(Object.fromEntries(entries), input.message)
  const [, ...checks] = "pipe" in input ? input.pipe : []
  return checks.length === 0 ? fields : v.pipe(fields, ...checks)
}

/** By the number of parts of their paths, those with fewer parameters first: `/api/spaces/join` is no space. */
const byLength = Map.groupBy(
  endpoints
    .map((endpoint) => ({ endpoint, parts: endpoint.path.split("/") }))
    .toSorted((one, other) => one.endpoint.names.length - other.endpoint.names.length),
  ({ parts }) => parts.length,
)

/** The operations at a URL, unless the matched route describes it more closely. */
export function matchOperations(route: string, pathname: string): Matched {
  const pattern = route.replace(/^\/?/, "/")
  // As React Router matches the other routes.
  const parts = isApiPath(pathname) ? pathname.replace(/\/+$/, "").split("/").map(decode) : []
  for (const { endpoint, parts: wanted } of byLength.get(parts.length) ?? []) {
    const values = valuesIn(wanted, parts)
    if (!values) continue
    const isCloser = !pattern.endsWith("*") && namesIn(pattern).length < endpoint.names.length
    if (isCloser) break
    return { pattern: endpoint.path, found: { endpoint, values, isRoute: endpoint.path === pattern } }
  }
  return { pattern, found: null }
}

function valuesIn(wanted: readonly string[], parts: readonly string[]): Record<string, string> | null {
  const values: Record<string, string> = {}
  for (const [at, part] of parts.entries()) {
    const name = wanted[at] ?? ""
    if (name.startsWith(":") && part !== "") values[name.slice(1)] = part
    else if (name.toLowerCase() !== part.toLowerCase()) return null
  }
  return values
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** The paths without parameters that answer `GET`. */
export const fixedReads: readonly string[] = endpoints
  .filter(({ names, methods }) => names.length === 0 && methods.has("GET"))
  .map(({ path }) => path)

const METHODS = ["OPTIONS", "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]

/** The methods of the operations at a URL, and of the route, as in `Allow`. */
export function allowedAt({ found }: Matched, ofRoute: readonly string[] = []): string[] {
  if (!found) return [...ofRoute]
  const { methods } = found.endpoint
  return METHODS.filter(
    (method) => ofRoute.includes(method) || methods.has(method === "HEAD" ? "GET" : method),
  )
}
