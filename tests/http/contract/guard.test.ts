import { beforeAll, describe, expect, test } from "vitest"
import { callers, post, type Api } from "../../support/api.ts"
import { DEPLOYMENTS } from "../../support/deployments.ts"
import type { Fetch } from "../../support/openapi.ts"

describe.each(DEPLOYMENTS)("with $provider", ({ start }) => {
  let api: Api
  let ada: Fetch

  beforeAll(async () => {
    const app = await start()
    api = callers(app)
    ada = await app.enter({ email: "ada@example.org", name: "Ada Lovelace" })
    return () => app.stop()
  })

  describe("the guard admits a visitor to", () => {
    test.each([
      "/",
      "/features",
      "/pricing",
      "/blog",
      "/blog/anything",
      "/blogging",
      "/sign-in",
      "/sign-in/anything",
      "/sign-up",
      "/sign-up/anything/else",
      "/api/health",
    ])("%s, as the public list says", async (path) => {
      const response = await api.visitor(path, { redirect: "manual" })
      expect([200, 404]).toContain(response.status)
    })

    test.each(["/about", "/privacy", "/terms", "/cookies", "/waitlist", "/sitemap.xml", "/robots.txt"])(
      "%s, as the table of pages says",
      async (path) => {
        expect((await api.visitor(path, { redirect: "manual" })).status).toBe(200)
      },
    )
  })

  describe("the guard asks a visitor to sign in", () => {
    test.each([
      "/dashboard",
      "/dashboard/chat",
      "/dashboard/files",
      "/dashboard/anything",
      "/onboarding",
      "/no-such-page",
      "/featuresque",
      "/pricing/secret",
      "/aboutness",
      "/DASHBOARD",
      "/dashboard/",
      "/dashboard?x=/blog",
    ])("for the page %s", async (path) => {
      const response = await api.visitor(path, { redirect: "manual" })
      expect(response.status).toBe(302)
      const target = new URL(response.headers.get("location") ?? "", api.app.origin)
      expect(target.origin + target.pathname).toBe(`${api.app.origin}/sign-in`)
      expect(target.searchParams.get("redirect_url")).toBe(path)
    })

    test.each([
      "/api/realtime/token",
      "/api/no-such-endpoint",
      "/api/files",
      "/api/health/anything",
      "/api/style.css",
      "/api/health.json",
      "/api",
      "/api/",
      "/trpc",
      "/trpc/users.list",
      "/trpc/page.html",
    ])("for %s with 401, in JSON", async (path) => {
      const response = await api.visitor(path, { redirect: "manual" })
      expect(response.status).toBe(401)
      expect(await response.json()).toEqual({ error: "Unauthorized" })
    })

    test.each(["POST", "PUT", "PATCH", "DELETE"])("for %s on the API", async (method) => {
      const response = await api.visitor("/api/no-such-endpoint", { method })
      expect([response.status, await response.json()]).toEqual([401, { error: "Unauthorized" }])
    })

    test("for the page data that React Router requests", async () => {
      const response = await api.visitor("/dashboard.data", { redirect: "manual" })
      expect(await response.text()).not.toContain("ada@example.org")
      expect(response.status).not.toBe(200)
    })
  })

  describe("a visitor who follows the guard to sign in", () => {
    test.each(["/featured", "/pricing/secret", "/featured?from=mail"])(
      "finds the site's 404 page for %s, which does not exist",
      async (path) => {
        const response = await api.visitor(path)
        const html = await response.text()
        expect(response.status).toBe(404)
        expect(html).toContain("Page not found")
        expect(html).toContain('id="site-menu"')
        expect(html).toContain("<footer")
      },
    )

    test.each(["/dashboard/files?sort=name", "/s/harbour/anything", "/admin"])(
      "is asked to, for %s",
      async (path) => {
        expect((await api.visitor(path)).status).toBe(200)
      },
    )
  })

  describe("the guard admits a signed-in caller", () => {
    test("to the site's 404 page, with its header and footer", async () => {
      const response = await ada("/featured")
      const html = await response.text()
      expect(response.status).toBe(404)
      expect(html).toContain('id="site-menu"')
      expect(html).toContain("<footer")
    })

    test.each(["/api/no-such-endpoint", "/api", "/trpc/users.list"])(
      "to %s, which does not exist",
      async (path) => {
        const response = await ada(path)
        expect([response.status, await response.json()]).toEqual([404, { error: "Not found" }])
      },
    )

    test("to a token for the socket", async () => {
      const response = await ada("/api/realtime/token")
      expect(response.status).toBe(200)
      const { token, expiresAt } = await response.json()
      expect(token.split(".")).toHaveLength(3)
      expect(expiresAt).toBeGreaterThan(Date.now())
    })
  })

  describe("an invalid credential", () => {
    test.each(["Bearer nonsense", "Bearer ", "Basic YWRhOmFkYQ==", "Bearer a.b.c"])(
      "is treated like none (%s)",
      async (authorization) => {
        const response = await api.from(`bad ${authorization}`)("/api/email", {
          ...post({ template: "welcome", name: "Ada" }),
          headers: { Authorization: authorization, "Content-Type": "application/json" },
        })
        expect([response.status, await response.json()]).toEqual([401, { error: "Unauthorized" }])
      },
    )
  })
})
