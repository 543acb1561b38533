import type { IncomingMessage } from "node:http"
import type { LoaderFunction, MiddlewareFunction, RouterContextProvider, ServerBuild } from "react-router"

/** A resource route at a fixed URL. */
interface Endpoint {
  pattern: string
  params: Record<string, string>
  /** The root's first: the caller is identified and authorized as everywhere. */
  middleware: MiddlewareFunction<Response>[]
  loader: LoaderFunction
}

type Handler = (request: Request, context: RouterContextProvider) => Promise<Response>

/**
 * Finds the handler of a `GET` of a fixed URL that is no page, such as `/api/health`, or null. It
 * calls what React Router would, in the same order; but React Router's way there, made for pages,
 * costs several times what a small response does. URLs with parameters or a query, or written
 * differently, and requests with a body are left to React Router. `fixed` are URLs that routes ending
 * with a splat answer.
 */
export function findEndpoints(
  build: ServerBuild,
  fixed: readonly string[],
): (incoming: IncomingMessage) => Handler | null {
  const answers = new Map<string, Handler>()
  for (const route of Object.values(build.routes)) {
    if (!route || !isResource(route.module) || typeof route.module.loader !== "function") continue
    const line = lineOf(build.routes, route.id)
    const pattern = line.flatMap(({ path }) => path || []).join("/")
    const middleware = line.flatMap(({ module }) => module.middleware ?? [])
    const loader = route.module.loader as LoaderFunction
    for (const { url, params } of urlsOf(pattern, fixed)) {
      const endpoint = { pattern, params, middleware, loader }
      answers.set(url, (request, context) => {
        const fail = (error: unknown) => {
          build.entry.module.handleError?.(error, { request, context, params })
          return new Response("Unexpected Server Error", {
            status: 500,
            headers: { "content-type": "text/plain" },
          })
        }
        return answerAt(endpoint, { request, context, fail }).catch(fail)
      })
    }
  }
  return ({ method, url = "" }) => (method === "GET" ? (answers.get(url) ?? null) : null)
}

/** The fixed URLs that a route answers. */
function urlsOf(
  pattern: string,
  fixed: readonly string[],
): Pick<Endpoint & { url: string }, "url" | "params">[] {
  if (/^[\w./-]+$/.test(pattern)) return [{ url: `/${pattern}`, params: {} }]
  const prefix = `/${pattern.slice(0, -1)}`
  if (!pattern.endsWith("/*")) return []
  return fixed
    .filter((url) => url.startsWith(prefix))
    .map((url) => ({ url, params: { "*": url.slice(prefix.length) } }))
}

/**
 * If the loader throws, `fail` creates the response, so that the middleware sees it too. Throws
 * what the middleware throws.
 */
function answerAt(
  { pattern, params, middleware, loader }: Endpoint,
  {
    request,
    context,
    fail,
  }: { request: Request; context: RouterContextProvider; fail: (error: unknown) => Response },
): Promise<Response> {
  const args = { request, url: new URL(request.url), params, pattern, context }
  return proceed(0)

  async function proceed(depth: number): Promise<Response> {
    const layer = middleware[depth]
    try {
      if (!layer) return toResponse(await loader(args))
      let inner: Promise<Response> | undefined
      const next = () => (inner ??= proceed(depth + 1))
      const answer = await layer(args, next)
      return answer === undefined ? await next() : toResponse(answer)
    } catch (thrown) {
      if (thrown instanceof Response || isData(thrown)) return toResponse(thrown)
      if (layer) throw thrown
      return fail(thrown)
    }
  }
}

type Routes = ServerBuild["routes"]
type Route = NonNullable<Routes[string]>

function isResource({ default: page, ErrorBoundary }: Route["module"]) {
  return page === undefined && ErrorBoundary === undefined
}

/** The route and its parents, outermost first. */
function lineOf(routes: Routes, id: string): Route[] {
  const route = routes[id]
  if (!route) return []
  return route.parentId ? [...lineOf(routes, route.parentId), route] : [route]
}

function toResponse(value: unknown): Response {
  if (value instanceof Response) return value
  if (isData(value)) return Response.json(value.data, value.init ?? undefined)
  return typeof value === "string" ? new Response(value) : Response.json(value)
}

/** The result of React Router's `data`. */
function isData(value: unknown): value is { data: unknown; init: ResponseInit | null } {
  return (
    typeof value === "object" && value !== null && "type" in value && value.type === "DataWithResponseInit"
  )
}
