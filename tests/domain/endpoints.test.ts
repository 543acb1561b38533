import type { IncomingMessage } from "node:http"
import {
  createContext,
  createRequestHandler,
  data,
  redirect,
  RouterContextProvider,
  type LoaderFunction,
  type MiddlewareFunction,
  type ServerBuild,
} from "react-router"
import { beforeEach, expect, it } from "vitest"
import { findEndpoints } from "#server/transport/endpoints.ts"
import { json } from "#server/transport/json.ts"

const nameContext = createContext<string>()
let happened: unknown[] = []
beforeEach(() => (happened = []))

const identify: MiddlewareFunction<Response> = async ({ context, pattern, url, params }, next) => {
  happened.push(["asked for", pattern, url.href, params])
  context.set(nameContext, "Ada")
  const response = await next()
  happened.push(["answered", response.status])
  response.headers.set("x-named", "yes")
  return response
}

const LOADERS: Record<string, LoaderFunction> = {
  report: ({ context, url, pattern }) =>
    json({ name: context.get(nameContext), path: url.pathname, pattern }),
  text: () => "in words",
  object: () => ({ plain: true }),
  refusal: () => data({ error: "no" }, { status: 403, headers: { "x-why": "rule" } }),
  "thrown-refusal": () => {
    throw data("no", { status: 404 })
  },
  "thrown-answer": () => {
    throw json({ error: "no" }, { status: 401 })
  },
  elsewhere: () => redirect("/sign-in"),
  failure: () => {
    throw new Error("a disk is full")
  },
  "refused-before": () => "not reached",
  "failed-before": () => "not reached",
}

const MIDDLEWARE: Record<string, MiddlewareFunction<Response>[]> = {
  report: [async () => void happened.push("looked only")],
  text: [async () => json({ error: "not this method" }, { status: 405 })],
  "refused-before": [
    async () => {
      throw data({ error: "no" }, { status: 403 })
    },
  ],
  "failed-before": [
    async () => {
      throw new Error("no such rule")
    },
  ],
  object: [
    async (_args, next) => {
      const response = await next()
      return new Response(response.body, { status: 202 })
    },
  ],
}

const endpoints = Object.keys(LOADERS).map((name) => [
  name,
  {
    id: name,
    parentId: "root",
    path: `api/${name}`,
    module: { loader: LOADERS[name], middleware: MIDDLEWARE[name] },
  },
])
const build = {
  routes: {
    root: {
      id: "root",
      path: "",
      module: { default: () => null, loader: () => null, middleware: [identify] },
    },
    ...(Object.fromEntries(endpoints) as object),
    page: { id: "page", parentId: "root", path: "page", module: { default: () => null, loader: () => null } },
    more: {
      id: "more",
      parentId: "root",
      path: "more/*",
      module: { loader: ({ params }: { params: object }) => Response.json(params) },
    },
    one: { id: "one", parentId: "root", path: "api/one/:id", module: { loader: () => null } },
  },
  assets: { routes: {}, version: "1" },
  entry: {
    module: {
      default: () => new Response("a page"),
      handleError: (error: Error, { request }: { request: Request }) =>
        void happened.push(["failed", error.message, request.url]),
    },
  },
  future: { v8_middleware: true, v8_passThroughRequests: true, v8_trailingSlashAwareDataRequests: true },
  routeDiscovery: { mode: "lazy", manifestPath: "/__manifest" },
  ssr: true,
  basename: "/",
  publicPath: "/",
} as unknown as ServerBuild
const endpointOf = findEndpoints(build, ["/more/of/it", "/less"])
const ask = (url: string, method = "GET") => endpointOf({ url, method } as IncomingMessage)

it.each(Object.keys(LOADERS))("%s returns the same response as React Router", async (name) => {
  const answered = async (
    answer: (request: Request, context: RouterContextProvider) => Promise<Response>,
  ) => {
    happened = []
    const response = await answer(
      new Request(`https://tideline.example.org/api/${name}`),
      new RouterContextProvider(),
    )
    return { status: response.status, headers: [...response.headers], text: await response.text(), happened }
  }
  const expected = await answered(createRequestHandler(build, "production"))
  expect(expected.happened).not.toEqual([])
  expect(await answered(ask(`/api/${name}`) ?? (() => Promise.reject(new Error("not found"))))).toEqual(
    expected,
  )
})

it("a fixed URL of a route that ends with a splat returns the same response too", async () => {
  const request = new Request("https://tideline.example.org/more/of/it")
  const expected = await createRequestHandler(build, "production")(request, new RouterContextProvider())
  const answered = await ask("/more/of/it")?.(request, new RouterContextProvider())
  expect(await answered?.json()).toEqual(await expected.json())
})

it.each([
  "/more/of",
  "/less",
  "/page",
  "/api/one/1",
  "/api/report/",
  "/API/report",
  "/api/report?a=1",
  "/api/report.data",
  "/none",
  "//",
])("%s is left to React Router", (path) => expect(ask(path)).toBeNull())

it("only GET and HEAD are served here", () => {
  for (const method of ["HEAD", "POST", "PUT", "DELETE", "OPTIONS"])
    expect(ask("/api/report", method)).toBeNull()
})
