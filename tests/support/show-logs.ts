import { afterEach } from "vitest"
import { describePages } from "./last-pages.ts"
import { lastLogLines } from "./spawn-tideline.ts"

afterEach(async ({ task }) => {
  if (task.result?.state !== "fail") return
  for (const page of await describePages()) console.error(page)
  const lines = lastLogLines()
  if (lines.length > 0) console.error(`The servers logged last:\n${lines.join("\n")}`)
})
