import { afterEach } from "vitest"
import { lastLogLines } from "./spawn-tideline.ts"

afterEach(({ task }) => {
  if (task.result?.state !== "fail") return
  const lines = lastLogLines()
  if (lines.length > 0) console.error(`The servers logged last:\n${lines.join("\n")}`)
})
