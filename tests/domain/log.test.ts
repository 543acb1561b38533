import { expect, it } from "vitest"
import { describeEntry } from "#server/terminal.ts"

it("a log entry in a terminal is one line of text with its error below, and cannot inject escape sequences", () => {
  const entry = {
    level: 40,
    time: "2026-11-21T22:32:06.735Z",
    path: "/a\u001B[2J",
    err: { stack: "Error: gone\u001B[31m\n    at file.ts:1" },
    msg: "a tool failed\u0007",
  }
  const [line = "", ...stack] = describeEntry(`${JSON.stringify(entry)}\n`).split("\n")
  expect(line).toMatch(/^\d\d:\d\d:\d\d {2}\S*warning\S* {2}a tool failed {3}path="\/a\\u001b\[2J"$/)
  expect(stack).toEqual(["    Error: gone [31m", "        at file.ts:1", ""])
})
