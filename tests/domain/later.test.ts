import { afterEach, beforeEach, expect, it, vi } from "vitest"
import { later } from "#app/ui/later.ts"

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

it("code that could not be loaded is requested again once a second, however often it is asked for", async () => {
  let attempts = 0
  const parts = { shown: true }
  const code = later(async () => {
    attempts += 1
    if (attempts < 4) throw new Error("The server cannot be reached.")
    return parts
  })
  const loaded = vi.fn()
  code.subscribe(loaded)
  for (let word = 0; word < 25; word++) {
    code.fetch()
    await vi.advanceTimersByTimeAsync(100)
  }
  expect(attempts).toBe(3)
  await vi.advanceTimersByTimeAsync(1000)
  expect(loaded).toHaveBeenCalled()
  expect(code.current()).toBe(parts)
})

it("code that nobody asks for again is not requested again", async () => {
  let attempts = 0
  const code = later(() => {
    attempts += 1
    return Promise.reject(new Error("The server cannot be reached."))
  })
  code.fetch()
  await vi.advanceTimersByTimeAsync(60_000)
  expect(attempts).toBe(1)
  expect(code.current()).toBeNull()
})
