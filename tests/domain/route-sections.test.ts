import { matchRoutes, type RouteObject, type ServerBuild } from "react-router"
import { expect, it } from "vitest"
import { cutIntoSections } from "#server/transport/route-sections.ts"

const ROUTES: [id: string, parentId: string | undefined, path: string | undefined, index?: boolean][] = [
  ["root", undefined, ""],
  ["site", "root", undefined],
  ["home", "site", undefined, true],
  ["post", "site", "blog/:slug"],
  ["feed", "root", "blog/feed.xml"],
  ["sign-in", "root", "sign-in/*"],
  ["forgotten", "root", "sign-in/forgot-password"],
  ["files", "root", "api/files"],
  ["file", "root", "api/files/:id"],
  ["archive", "root", "api/files/archive"],
  ["chat", "root", "api/chat"],
  ["no-api", "root", "api/*"],
  ["shell", "root", undefined],
  ["dashboard", "shell", "dashboard"],
  ["trash", "dashboard", "files/trash"],
  ["language", "root", ":language?/legal"],
  ["nowhere", "root", "*"],
]

const build = {
  routes: Object.fromEntries(
    ROUTES.map(([id, parentId, path, index]) => [id, { id, parentId, path, index, module: {} }]),
  ),
  assets: { routes: Object.fromEntries(ROUTES.map(([id]) => [id, { id }])), version: "1" },
} as unknown as ServerBuild
const sectionOf = cutIntoSections(build)

const PATHS = [
  "/",
  "/blog/first",
  "/Blog/First/",
  "/blog/feed.xml",
  "/blog",
  "/sign-in",
  "/sign-in/forgot-password",
  "/sign-in/sso/callback",
  "/api/files",
  "/api/files/",
  "/API/files/1",
  "/api/files/archive",
  "/api/files/1/2",
  "/api/chat",
  "/api/nothing",
  "/api",
  "/dashboard",
  "/dashboard/files/trash",
  "/dashboard/files",
  "/de/legal",
  "/legal",
  "/a%20b",
  "/api%2Ffiles",
  "/constructor",
  "/__proto__/x",
]

it.each(PATHS)("%s leads in its section where it leads in the whole", (path) => {
  const lineIn = ({ routes }: ServerBuild) => matchRoutes(treeOf(routes), path)?.map(({ route }) => route.id)
  expect(lineIn(sectionOf(path))).toEqual(lineIn(build))
  expect(lineIn(build)?.length).toBeGreaterThan(1)
})

it("a section has few routes, and the same ones for the browser", () => {
  const { routes, assets } = sectionOf("/api/chat")
  expect(Object.keys(routes).toSorted()).toEqual(
    ["chat", "home", "language", "no-api", "nowhere", "root", "site"].toSorted(),
  )
  expect(Object.keys(assets.routes).toSorted()).toEqual(Object.keys(routes).toSorted())
})

it("the start page meets no route that needs a segment", () => {
  expect(Object.keys(sectionOf("/").routes).toSorted()).toEqual(["home", "nowhere", "root", "site"])
})

it("the data of a page is asked for in the page's own section", () => {
  for (const address of ["/api/chat.data", "/api/chat/_.data"])
    expect(sectionOf(address)).toBe(sectionOf("/api/chat"))
  expect(sectionOf("/_root.data")).toBe(build)
})

function treeOf(routes: ServerBuild["routes"], parentId?: string): RouteObject[] {
  return Object.values(routes)
    .filter((route) => route?.parentId === parentId)
    .map((route) => {
      const { id, path, index } = route ?? {}
      return index ? { id, path, index } : { id, path, children: treeOf(routes, id) }
    }) as RouteObject[]
}
