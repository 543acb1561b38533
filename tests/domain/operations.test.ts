import { expect, it } from "vitest"
import { allowedAt, matchOperations } from "#server/http/operations.ts"

const SPACE = "/api/spaces/0199c0de-0000-7000-8000-000000000001"

it.each([
  ["api/*", "/api/spaces/join", "/api/spaces/join", {}],
  ["api/*", "/API/Spaces/Join/", "/api/spaces/join", {}],
  ["api/*", "/api/%73paces/join", "/api/spaces/join", {}],
  ["api/*", "/api/spaces/caf%C3%A9", "/api/spaces/:spaceId", { spaceId: "café" }],
  ["api/*", "/api/spaces/%E0%A4%A", "/api/spaces/:spaceId", { spaceId: "%E0%A4%A" }],
  // A route that fits less closely, or just as closely, leaves its URL to the operation.
  ["api/spaces/:spaceId", "/api/spaces/join", "/api/spaces/join", {}],
  ["api/:what/join", "/api/spaces/join", "/api/spaces/join", {}],
])("of the route %s, %s is the operations' at %s", (route, url, path, values) => {
  expect(matchOperations(route, url)).toMatchObject({ pattern: path, found: { values, isRoute: false } })
})

it("a route that fits more closely than the operations has its URL for itself", () => {
  expect(matchOperations("api/spaces/shown", "/api/spaces/shown")).toEqual({
    pattern: "/api/spaces/shown",
    found: null,
  })
})

it.each([
  ["api/*", "/api/spaces/join/again"],
  ["api/*", "/api"],
  ["dashboard", "/dashboard"],
])("of the route %s, %s is nobody's operation", (route, url) => {
  expect(matchOperations(route, url)).toEqual({ pattern: `/${route}`, found: null })
})

it("a URL that a route and operations share knows the methods of both, in one order", () => {
  const matched = matchOperations("api/spaces/:spaceId/picture", `${SPACE}/picture`)
  expect(matched.found?.isRoute).toBe(true)
  expect(allowedAt(matched, ["PUT", "GET", "HEAD"])).toEqual(["GET", "HEAD", "PUT", "DELETE"])
  expect(allowedAt(matchOperations("*", "/nothing"), ["PUT", "GET"])).toEqual(["PUT", "GET"])
})
