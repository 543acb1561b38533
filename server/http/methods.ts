import type { RouterContextProvider } from "react-router"
import * as v from "valibot"
import { isRefusal } from "#server/errors.ts"
import { json, methodNotAllowed } from "#server/transport/json.ts"
import { bodyOf, refusalBody } from "#server/transport/refusals.ts"
import { isApiPath } from "#server/transport/paths.ts"
import { allowedAt, matchedContext } from "./operations.ts"
import { queryOf, type FieldsSchema } from "./query.ts"

type Method = "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS"

/** For a method whose query is not ours to define. */
export const ANY_QUERY = "any"

/** What the query of each method may hold. */
type Queries = Partial<Record<Method, FieldsSchema | typeof ANY_QUERY>>

/** For a method that takes no query. */
export const NO_QUERY = v.strictObject({})

/**
 * Middleware for a resource route: any other method gets 405, with the allowed ones in `Allow`, among
 * them those of declared operations at the URL. A method of the API that is given without a schema
 * takes no query: what it does not know gets 400 here, before anything is done, and so does
 * `If-Match`, 412, unless the route honours it. Pages and downloads for people take any, because
 * others add to their URLs.
 */
export function allowMethods(...allowed: Method[] | [Queries, { honours: "If-Match" }?]) {
  const [first, options] = allowed
  const queries: Queries = typeof first === "object" ? first : {}
  const methods = typeof first === "object" ? Object.keys(first) : (allowed as Method[])
  return ({ request, url, context }: Asked, next: () => Promise<Response>) => {
    const method = methods.find((each) => each === request.method) as Method | undefined
    if (!method) return methodNotAllowed(allowedAt(context.get(matchedContext), methods))
    if (isApiPath(url.pathname) && isConditional(request) && typeof options !== "object")
      return refuseCondition()
    const schema = queries[method] ?? (isApiPath(url.pathname) ? NO_QUERY : ANY_QUERY)
    return (schema !== ANY_QUERY && refuseQuery(url, schema)) || next()
  }
}

interface Asked {
  request: Request
  url: URL
  context: Readonly<RouterContextProvider>
}

/** Whether a change is asked for on the condition that something has a certain `ETag`. */
export function isConditional({ method, headers }: Request): boolean {
  const wanted = headers.get("if-match")
  return method !== "GET" && method !== "HEAD" && wanted !== null && wanted.trim() !== "*"
}

/** The response to a condition about what has no `ETag` (RFC 9110, 13.1.1). */
export function refuseCondition(): Response {
  return json(bodyOf("precondition-failed"), { status: 412 })
}

function refuseQuery(url: URL, schema: FieldsSchema): Response | null {
  try {
    queryOf({ url: url.href }, schema)
    return null
  } catch (error) {
    if (!isRefusal(error)) throw error
    return json(refusalBody(error), { status: error.status })
  }
}
