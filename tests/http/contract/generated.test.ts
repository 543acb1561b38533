import { once } from "node:events"
import { request, type IncomingMessage } from "node:http"
import { text } from "node:stream/consumers"
import { beforeAll, describe, expect, test } from "vitest"
import { listPosts } from "#server/blog/blog.ts"
import { callers, type Api } from "../../support/api.ts"
import { DEPLOYMENTS } from "../../support/deployments.ts"

describe.each(DEPLOYMENTS)("with $provider", ({ start }) => {
  let api: Api
  const origin = () => api.app.origin

  beforeAll(async () => {
    api = callers(await start())
    return () => api.app.stop()
  })

  describe("GET /sitemap.xml", () => {
    test("lists the home page, features, pricing, and each post with the day it was published", async () => {
      const response = await api.visitor("/sitemap.xml")
      expect(response.status).toBe(200)
      expect(response.headers.get("content-type")).toMatch(/^application\/xml/)
      expect(readSitemap(await response.text())).toEqual([
        [`${origin()}/`, undefined],
        [`${origin()}/features`, undefined],
        [`${origin()}/pricing`, undefined],
        ...listPosts().map(({ slug, publishedAt }) => [`${origin()}/blog/${slug}`, publishedAt]),
      ])
    })

    test("only lists pages that exist", async () => {
      const entries = readSitemap(await (await api.visitor("/sitemap.xml")).text())
      expect(entries.length).toBeGreaterThan(3)
      for (const [loc = ""] of entries) expect([loc, (await api.visitor(loc)).status]).toEqual([loc, 200])
    })

    test("uses the configured URL, not the Host header", async () => {
      const { hostname, port } = new URL(origin())
      const xml = await rawGet(hostname, Number(port), "/sitemap.xml", "evil.example")
      expect(xml).toContain(`<loc>${origin()}/</loc>`)
      expect(xml).not.toContain("evil.example")
    })
  })

  describe("GET /robots.txt", () => {
    test("allows everything to every robot, except the dashboard and the onboarding, and names the sitemap", async () => {
      const response = await api.visitor("/robots.txt")
      expect(response.status).toBe(200)
      expect(response.headers.get("content-type")).toMatch(/^text\/plain/)
      expect((await response.text()).split("\n").filter(Boolean)).toEqual([
        "User-agent: *",
        "Allow: /",
        "Disallow: /dashboard/",
        "Disallow: /onboarding/",
        `Sitemap: ${origin()}/sitemap.xml`,
      ])
    })
  })

  test.each(["/sitemap.xml", "/robots.txt", "/api/openapi.json", "/api/realtime.json"])(
    "%s supports HEAD, and no other method",
    async (path) => {
      const head = await fetch(origin() + path, { method: "HEAD" })
      expect([head.status, await head.text()]).toEqual([200, ""])
      for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
        const response = await fetch(origin() + path, { method })
        expect([response.status, response.headers.get("allow")]).toEqual([405, "GET, HEAD"])
      }
    },
  )

  describe("GET /api/openapi.json", () => {
    test("describes every endpoint of the contract to anyone", async () => {
      const document = await (await api.visitor("/api/openapi.json")).json()
      expect(document.openapi).toMatch(/^3\.1\./)
      expect(document.servers).toEqual([{ url: origin() }])
      const operations = Object.entries<object>(document.paths).flatMap(([path, item]) =>
        Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
      )
      expect(operations).toEqual(
        expect.arrayContaining([
          "GET /api/health",
          "HEAD /api/health",
          "POST /api/email",
          "POST /api/chat",
          "GET /api/realtime/token",
          "GET /sitemap.xml",
          "GET /robots.txt",
        ]),
      )
    })

    test("links to documentation that exists", async () => {
      const { externalDocs, tags } = await (await api.visitor("/api/openapi.json")).json()
      const links = [externalDocs, ...tags.map((tag: { externalDocs?: object }) => tag.externalDocs)].filter(
        Boolean,
      )
      expect(links.length).toBeGreaterThan(1)
      for (const { url } of links) expect([url, (await api.visitor(url)).status]).toEqual([url, 200])
    })

    test("names every operation once", async () => {
      const { paths } = await (await api.visitor("/api/openapi.json")).json()
      const ids = Object.values<Record<string, { operationId: string }>>(paths).flatMap((item) =>
        Object.values(item).map(({ operationId }) => operationId),
      )
      expect(ids.length).toBeGreaterThan(6)
      expect(new Set(ids).size).toBe(ids.length)
    })
  })
})

/** URL and last modification of each entry. */
function readSitemap(xml: string) {
  const entries = xml.matchAll(/<url><loc>([^<]*)<\/loc>(?:<lastmod>([^<]*)<\/lastmod>)?<\/url>/g)
  return [...entries].map(([, address, modified]) => [address, modified])
}

/** `fetch` does not let the Host header be set. */
async function rawGet(hostname: string, port: number, path: string, host: string): Promise<string> {
  const [response] = (await once(request({ hostname, port, path, headers: { host } }).end(), "response")) as [
    IncomingMessage,
  ]
  return text(response)
}
