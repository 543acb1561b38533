import { beforeEach, onTestFailed } from "vitest"
import { describePages } from "./last-pages.ts"
import { lastLogLines } from "./spawn-tideline.ts"

// Not `afterEach`, which is skipped when a test's own fails.
beforeEach(() => {
  onTestFailed(async () => {
    for (const page of await describePages()) console.error(page)
    const lines = lastLogLines()
    if (lines.length > 0) console.error(`The servers logged last:\n${lines.join("\n")}`)
  })
})
