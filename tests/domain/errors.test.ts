import { expect, it } from "vitest"
import { Conflict, isRefusal } from "#server/errors.ts"

it("a refusal is recognised by its brand, not by a status and a code that a library's error may have too", () => {
  expect(isRefusal(new Conflict("reply-ended"))).toBe(true)
  const foreign = Object.assign(new Error("Bad gateway: secret details"), { status: 502, code: "ECONNRESET" })
  expect(isRefusal(foreign)).toBe(false)
  expect(isRefusal(null)).toBe(false)
})
