import { expect, it } from "vitest"
import { createFailureLog } from "#server/log.ts"

function open() {
  const lines: unknown[] = []
  const write = (level: string) => (details: object, message: string) =>
    void lines.push({ level, message, ...details })
  const log = { info: write("info"), warn: write("warn"), error: write("error") }
  return { lines, failures: createFailureLog(log, "it works again") }
}

const away = (port: number) => Object.assign(new Error(`connect 127.0.0.1:${port}`), { code: "ECONNREFUSED" })

it("a failure that repeats is logged once, and counted when it ends", () => {
  const { lines, failures } = open()
  for (let time = 0; time < 100; time++) failures.failed("warn", away(40_000 + time), "it failed")
  expect(lines).toMatchObject([{ level: "warn", message: "it failed", err: { code: "ECONNREFUSED" } }])
  failures.succeeded()
  failures.succeeded()
  expect(lines.slice(1)).toEqual([
    { level: "info", message: "it works again", failures: 100, milliseconds: expect.any(Number) },
  ])
})

it("each reason is logged once, even if two alternate", () => {
  const { lines, failures } = open()
  for (let time = 0; time < 10; time++) {
    failures.failed("warn", away(1), "it failed")
    failures.failed("error", new Error("It is full."), "it failed")
  }
  expect(lines).toHaveLength(2)
})

it("a failure that returns after a success is logged again", () => {
  const { lines, failures } = open()
  failures.failed("warn", away(1), "it failed")
  failures.succeeded()
  failures.failed("warn", away(1), "it failed")
  expect(lines).toHaveLength(3)
})
