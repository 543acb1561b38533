import { existsSync, readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { describe, expect, it } from "vitest"

const root = resolve(import.meta.dirname, "../..")
const page = readFileSync(join(root, "docs/security.md"), "utf8")
const holding = page.slice(page.indexOf("## What holds"), page.indexOf("## What does not apply"))
const named = [...holding.matchAll(/`(tests\/[^`]+)`: `([^`]+)`/g)].map(([, file = "", words = ""]) => ({
  file,
  words,
}))

/** The line of a test's title: its call, the end of the table before it, or the title alone. */
const TITLE = /^\s*(?:(?:test|it|describe)\b(?!\.(?:skip|todo)).*\(|\]\)\(|\)\()?["`].*["`]/

describe("docs/security.md", () => {
  it("names tests that exist, by their titles, and none that are skipped or that npm test leaves out", () => {
    expect(named.length).toBeGreaterThan(100)
    expect(named.length, "lines that name a test").toBe(holding.match(/^ {2}- /gm)?.length)
    const missing = named.filter(({ file, words }) => {
      const path = join(root, file)
      const lines = existsSync(path) ? readFileSync(path, "utf8").split("\n") : []
      return !lines.some(
        (line, at) => line.includes(words) && TITLE.test(line) && !lines[at - 1]?.includes("inAll("),
      )
    })
    expect(missing).toEqual([])
  })

  it("names at least one test for each claim", () => {
    const claims = holding.split(/^(?=- \*\*|#)/m).filter((part) => part.startsWith("- **"))
    expect(claims.length).toBeGreaterThan(60)
    expect(claims.filter((claim) => !claim.includes("\n  - `tests/"))).toEqual([])
  })
})
