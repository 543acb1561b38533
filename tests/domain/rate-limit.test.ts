import { describe, expect, onTestFinished, test, vi } from "vitest"
import { createSpendingLimiter } from "#server/transport/spending-limiter.ts"
import { createRateLimiter, rateLimitHeaders } from "#server/transport/rate-limit.ts"

test("what a network is refused does not count for the person", () => {
  const limiter = createSpendingLimiter(60_000)
  const most = { ofPerson: 1, ofNetwork: 1 }
  const asks = (userId: string, network: string) => limiter.check({ userId, network }, most).success
  expect(asks("ada", "office")).toBe(true)
  expect(asks("grace", "office")).toBe(false)
  expect(asks("grace", "home")).toBe(true)
  expect(asks("grace", "train")).toBe(false)
  expect(asks("mary", "train")).toBe(true)
})

describe("a sliding window", () => {
  test("accepts up to the limit and rejects the next request", () => {
    const { limiter } = clocked({ interval: 60_000, limit: 3 })
    expect([1, 2, 3, 4].map(() => limiter.check("ada"))).toEqual([
      { success: true, remaining: 2, reset: EPOCH + 60_000 },
      { success: true, remaining: 1, reset: EPOCH + 60_000 },
      { success: true, remaining: 0, reset: EPOCH + 60_000 },
      { success: false, remaining: 0, reset: EPOCH + 60_000 },
    ])
  })

  test("lets a request leave the window exactly one interval after it was accepted", () => {
    const { limiter, sleep } = clocked({ interval: 1000, limit: 2 })
    limiter.check("ada")
    sleep(600)
    limiter.check("ada")
    sleep(399)
    expect(limiter.check("ada")).toEqual({ success: false, remaining: 0, reset: EPOCH + 1000 })
    sleep(1)
    expect(limiter.check("ada")).toEqual({ success: true, remaining: 0, reset: EPOCH + 1600 })
    sleep(599)
    expect(limiter.check("ada").success).toBe(false)
    sleep(1)
    expect(limiter.check("ada").success).toBe(true)
  })

  test("never accepts more than the limit in any interval, even across window edges", () => {
    const { limiter, sleep } = clocked({ interval: 1000, limit: 10 })
    sleep(990)
    const before = Array.from({ length: 10 }, () => limiter.check("ada").success)
    sleep(20)
    const after = Array.from({ length: 10 }, () => limiter.check("ada").success)
    expect([...before, ...after].filter(Boolean)).toHaveLength(10)
  })

  test("applies each caller's own limit, and reports when a caller with a lowered limit is accepted again", () => {
    const { limiter, sleep } = clocked({ interval: 1000, limit: 1 })
    expect(limiter.check("ada", 3)).toMatchObject({ success: true, remaining: 2 })
    sleep(100)
    expect(limiter.check("ada", 3)).toMatchObject({ success: true, remaining: 1 })
    sleep(100)
    expect(limiter.check("ada", 3)).toEqual({ success: true, remaining: 0, reset: EPOCH + 1000 })
    expect(limiter.check("ada")).toEqual({ success: false, remaining: 0, reset: EPOCH + 1200 })
    sleep(999)
    expect(limiter.check("ada").success).toBe(false)
    sleep(1)
    expect(limiter.check("ada")).toMatchObject({ success: true, remaining: 0 })
  })

  test("does not count a rejected request", () => {
    const { limiter, sleep } = clocked({ interval: 1000, limit: 1 })
    limiter.check("ada")
    for (let i = 0; i < 9; i++) {
      sleep(100)
      expect(limiter.check("ada")).toEqual({ success: false, remaining: 0, reset: EPOCH + 1000 })
    }
    sleep(100)
    expect(limiter.check("ada").success).toBe(true)
  })

  test("counts each key separately", () => {
    const { limiter } = clocked({ interval: 1000, limit: 1 })
    expect(["ada", "grace", "ada", "grace", ""].map((key) => limiter.check(key).success)).toEqual([
      true,
      true,
      false,
      false,
      true,
    ])
  })

  test("compares long keys over their whole length", () => {
    const { limiter } = clocked({ interval: 1000, limit: 1 })
    const long = "x".repeat(16_000)
    expect([`${long}a`, `${long}b`, `${long}a`].map((key) => limiter.check(key).success)).toEqual([
      true,
      true,
      false,
    ])
  })

  test("accepts nobody early if the clock is set back a little, and locks nobody out if it is set back far", () => {
    const { limiter, sleep } = clocked({ interval: 1000, limit: 1 })
    sleep(10_000)
    limiter.check("ada")
    sleep(-500)
    expect(limiter.check("ada")).toEqual({ success: false, remaining: 0, reset: EPOCH + 11_000 })
    sleep(-5000)
    expect(limiter.check("ada")).toEqual({ success: true, remaining: 0, reset: EPOCH + 5500 })
    expect(limiter.check("ada").success).toBe(false)
    sleep(1000)
    expect(limiter.check("ada").success).toBe(true)
  })

  test.each([1, 2, 3, 4, 5, 6, 7, 8])("agrees with a simple model on random traffic (seed %i)", (seed) => {
    const random = seeded(seed)
    const interval = 1 + Math.floor(random() * 2000)
    const limit = 1 + Math.floor(random() * 12)
    const keys = Array.from({ length: 1 + Math.floor(random() * 6) }, (_, i) => `key-${i}`)
    const { limiter, sleep, now } = clocked({ interval, limit })
    const accepted: { key: string; at: number }[] = []

    for (let step = 0; step < 5000; step++) {
      sleep(random() < 0.5 ? 0 : Math.floor(random() * random() * interval))
      const key = keys[Math.floor(random() * keys.length)] ?? ""
      const inWindow = () =>
        accepted.filter((request) => request.key === key && request.at > now() - interval)
      const success = inWindow().length < limit
      if (success) accepted.push({ key, at: now() })
      expect(limiter.check(key)).toEqual({
        success,
        remaining: limit - inWindow().length,
        reset: EPOCH + (inWindow()[0]?.at ?? Number.NaN) + interval,
      })
    }
  })
})

describe("the number of keys", () => {
  test("is bounded: the key with the oldest accepted request is evicted first", () => {
    const { limiter, sleep } = clocked({ interval: 60_000, limit: 2, maxKeys: 3 })
    for (const key of ["a", "b", "c", "a"]) {
      limiter.check(key)
      sleep(1)
    }
    limiter.check("d") // of a, b and c, b was accepted the longest ago
    expect(limiter.check("a").success).toBe(false)
    expect(limiter.check("c").remaining).toBe(0)
    expect(limiter.check("b").remaining).toBe(1)
  })

  test("is not affected by rejected keys, which evict nothing", () => {
    const { limiter } = clocked({ interval: 60_000, limit: 1, maxKeys: 2 })
    limiter.check("a")
    limiter.check("b")
    for (let i = 0; i < 10; i++) expect(limiter.check("a").success).toBe(false)
    expect(limiter.check("b").success).toBe(false)
  })
})

describe("the rate-limit headers", () => {
  test("of an accepted request are decimal numbers, without Retry-After", () => {
    expect(rateLimitHeaders({ success: true, remaining: 7, reset: EPOCH })).toEqual({
      "X-RateLimit-Remaining": "7",
      "X-RateLimit-Reset": String(EPOCH),
    })
  })

  test("of a rejected request round the wait up to whole seconds", () => {
    vi.useFakeTimers({ now: EPOCH })
    onTestFinished(() => void vi.useRealTimers())
    const reset = EPOCH + 1500
    expect(rateLimitHeaders({ success: false, remaining: 0, reset })).toEqual({
      "X-RateLimit-Remaining": "0",
      "X-RateLimit-Reset": String(reset),
      "Retry-After": "2",
    })
  })
})

const EPOCH = Date.UTC(2026, 0, 1)

function clocked(options: { interval: number; limit: number; maxKeys?: number }) {
  let elapsed = 0
  const limiter = createRateLimiter({ ...options, clock: () => EPOCH + elapsed })
  return { limiter, now: () => elapsed, sleep: (milliseconds: number) => (elapsed += milliseconds) }
}

/** Mulberry32: a small seeded generator of numbers in [0, 1). */
function seeded(seed: number) {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
