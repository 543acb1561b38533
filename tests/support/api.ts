import { expect } from "vitest"
import type { TidelineApp } from "./app.ts"
import { checkedFetch, type Fetch } from "./openapi.ts"

export type Api = ReturnType<typeof callers>

/** Visitors of a running application. */
export function callers(app: TidelineApp) {
  const visitor = checkedFetch(app.origin)
  return {
    app,
    /** Not signed in, and without a proxy's header for the client address. */
    visitor,
    /** A visitor with a client address that a proxy reports. */
    from: (forwardedFor: string): Fetch => from(forwardedFor, visitor),
  }
}

/** Adds `x-forwarded-for` to every request, and so gives it its own rate limit key. */
export function from(forwardedFor: string, send: Fetch): Fetch {
  return (address, init = {}) => {
    const headers = new Headers(init.headers)
    headers.set("x-forwarded-for", forwardedFor)
    return send(address, { ...init, headers })
  }
}

export function post(body: unknown): RequestInit {
  const text = typeof body === "string" ? body : JSON.stringify(body)
  return { method: "POST", headers: { "Content-Type": "application/json" }, body: text }
}

/** A post that does not wait for the outcome. */
export function postAsync(body: unknown): RequestInit {
  const headers = { "Content-Type": "application/json", Prefer: "respond-async" }
  return { method: "POST", headers, body: JSON.stringify(body) }
}

/**
 * The headers of a rate-limited endpoint: whole numbers, a reset within the minute, and on a 429
 * the seconds until then.
 */
export function expectRateLimit(response: Response, { remaining }: { remaining: number }) {
  expect(response.headers.get("x-ratelimit-remaining")).toBe(String(remaining))
  const reset = response.headers.get("x-ratelimit-reset") ?? ""
  expect(reset).toMatch(/^\d{13}$/)
  const wait = Number(reset) - Date.now()
  expect(wait).toBeLessThanOrEqual(60_000)
  expect(wait).toBeGreaterThan(0)
  const retryAfter = response.headers.get("retry-after")
  if (response.status !== 429) return expect(retryAfter).toBeNull()
  expect(retryAfter).toMatch(/^\d+$/)
  // The headers were written a moment before now.
  expect(Number(retryAfter) * 1000 - wait).toBeGreaterThanOrEqual(0)
  expect(Number(retryAfter) * 1000 - wait).toBeLessThan(1500)
}
