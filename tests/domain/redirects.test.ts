import { describe, expect, it } from "vitest"
import { safePath, safeTarget } from "#server/http/redirects.ts"

const ORIGIN = "https://tideline.example"

const FOREIGN = [
  "https://evil.example/",
  "//evil.example",
  "/\\evil.example",
  "/\t/evil.example",
  "/\n/evil.example",
  "/.//evil.example",
  "javascript:alert(1)",
  "pricing",
  "",
]

describe("a requested redirect target", () => {
  it.each(FOREIGN)("is ignored if it is %j", (target) => {
    expect(safePath(target, ORIGIN)).toBeNull()
    expect(safeTarget(target, ORIGIN, "/")).toBe("/")
  })

  it("may be any page of this site, except the sign-in pages after signing in", () => {
    for (const path of ["/pricing?a=b#c", "/sign-in?redirect_url=%2Fdashboard"])
      expect(safePath(path, ORIGIN)).toBe(path)
    expect(safeTarget("/pricing?a=b#c", ORIGIN)).toBe("/pricing?a=b#c")
    expect(safeTarget("/sign-in", ORIGIN)).toBe("/dashboard")
  })
})
