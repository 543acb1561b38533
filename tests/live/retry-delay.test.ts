import * as fc from "fast-check"
import { expect, test } from "vitest"
import { retryDelay } from "../../live/browser/retry-delay.ts"

test("an unavailable server is tried at least every two seconds for half a minute, then every ten", () => {
  fc.assert(
    fc.property(
      fc.nat(1000),
      fc.nat(29_999),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (attempt, down, chance) => retryDelay(attempt, down, chance) <= 2000,
    ),
  )
  expect(retryDelay(20, 30_000, 1)).toBe(10_000)
})

test("the first attempts come sooner, and clients are spread over the whole interval", () => {
  expect([0, 1, 2, 3, 4].map((attempt) => retryDelay(attempt, 0, 1))).toEqual([250, 500, 1000, 2000, 2000])
  expect(retryDelay(3, 0, 0)).toBe(0)
})
