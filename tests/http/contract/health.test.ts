import { beforeAll, describe, expect, test } from "vitest"
import { DEPLOYMENTS } from "../../support/deployments.ts"
import { callers, expectRateLimit, type Api } from "../../support/api.ts"

describe.each(DEPLOYMENTS)("with $provider", ({ start }) => {
  let api: Api

  beforeAll(async () => {
    api = callers(await start())
    return () => api.app.stop()
  })

  describe("GET /api/health", () => {
    test("needs no authentication and reports status, time and uptime", async () => {
      const before = Date.now()
      const response = await api.visitor("/api/health")
      expect(response.status).toBe(200)
      expect(response.headers.get("content-type")).toMatch(/^application\/json/)

      const body = await response.json()
      expect(Object.keys(body).toSorted()).toEqual(["status", "timestamp", "uptime"])
      expect(body.status).toBe("ok")
      expect(new Date(body.timestamp).toISOString()).toBe(body.timestamp)
      expect(Date.parse(body.timestamp)).toBeGreaterThanOrEqual(before)
      expect(Date.parse(body.timestamp)).toBeLessThanOrEqual(Date.now())
      expect(body.uptime).toBeGreaterThan(0)
    })

    test("counts the uptime in seconds", async () => {
      const [before, begun] = [await readUptime(), performance.now()]
      const [after, ended] = [await readUptime(), performance.now()]
      expect(after).toBeGreaterThan(before)
      expect(after - before).toBeLessThan((ended - begun) / 1000 + 0.5)
    })

    test("accepts 30 requests per key, then refuses", async () => {
      const visitor = api.from("198.51.100.1")
      for (let accepted = 1; accepted <= 30; accepted++) {
        const response = await visitor("/api/health")
        expect(response.status).toBe(200)
        expectRateLimit(response, { remaining: 30 - accepted })
      }
      const refused = await visitor("/api/health")
      expect(refused.status).toBe(429)
      expectRateLimit(refused, { remaining: 0 })
      expect(await refused.json()).toEqual({ status: "error", message: "Too many requests" })
    })

    test("counts by the whole x-forwarded-for value", async () => {
      const one = api.from("198.51.100.2, 10.0.0.1")
      for (let i = 0; i < 31; i++) await one("/api/health")
      expect((await one("/api/health")).status).toBe(429)
      expect((await api.from("198.51.100.2")("/api/health")).status).toBe(200)
      expect((await api.from("198.51.100.2, 10.0.0.2")("/api/health")).status).toBe(200)
    })

    test("counts requests without x-forwarded-for together, as `unknown`", async () => {
      let remaining = 30
      while (remaining > 0) {
        const response = await api.visitor("/api/health")
        if (response.status === 429) break
        remaining = Number(response.headers.get("x-ratelimit-remaining"))
      }
      expect((await api.visitor("/api/health")).status).toBe(429)
      expect((await api.from("unknown")("/api/health")).status).toBe(429)
      expect((await api.from("198.51.100.3")("/api/health")).status).toBe(200)
    })

    test("answers HEAD with headers only, and counts it", async () => {
      const visitor = api.from("198.51.100.4")
      const response = await visitor("/api/health", { method: "HEAD" })
      expect(response.status).toBe(200)
      expectRateLimit(response, { remaining: 29 })
      expect(await response.text()).toBe("")
      expectRateLimit(await visitor("/api/health"), { remaining: 28 })
    })

    test.each(["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])("does not allow %s", async (method) => {
      const response = await api.from("198.51.100.5")("/api/health", { method })
      expect([response.status, response.headers.get("allow")]).toEqual([405, "GET, HEAD"])
      expect(await response.json()).toEqual({ error: "Method not allowed" })
    })

    test("is never cached", async () => {
      const response = await api.from("198.51.100.6")("/api/health")
      expect(response.headers.get("cache-control")).toBe("no-store")
    })
  })

  async function readUptime(): Promise<number> {
    return (await (await api.visitor("/api/health")).json()).uptime
  }
})
