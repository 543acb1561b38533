import { mkdtempSync, readFileSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import { expect } from "vitest"

/** Milliseconds of processor time for which one person may hold up all others. */
const MOST = 50

/**
 * Settings with which a server records how long it holds its event loop, and a function that
 * measures the processor time, in ms, of the longest pass while `act` runs.
 */
export function recordPasses() {
  const file = join(mkdtempSync(join(tmpdir(), "passes-")), "passes")
  writeFileSync(file, "")
  const passes = () => readFileSync(file, "utf8").split("\n").filter(Boolean).map(Number)
  const longestPass = async (act: () => Promise<unknown>): Promise<number> => {
    await delay(SETTLED)
    const before = passes().length
    await act()
    await delay(SETTLED)
    return Math.max(0, ...passes().slice(before))
  }
  return {
    settings: {
      NODE_OPTIONS: `--import=${resolve(import.meta.dirname, "record-passes.ts")}`,
      PASSES_FILE: file,
    },
    longestPass,
    /**
     * What is compiled or loaded the first time does not count, unless it happens again. As a table
     * in the output with PASSES=1.
     */
    async expectShort(name: string, act: () => Promise<unknown>) {
      const longest = Math.min(await longestPass(act), await longestPass(act))
      if (process.env["PASSES"]) process.stdout.write(`${longest.toFixed(0).padStart(4)} ms  ${name}\n`)
      expect(longest).toBeLessThan(MOST * slowness())
    },
  }
}

/** Milliseconds after which a pass that has ended is in the file. */
const SETTLED = 20

/**
 * How many times slower than a machine on which the reference takes 20 ms this one is, at least 1:
 * the work is like that of a request.
 */
export function slowness(): number {
  const times = Array.from({ length: 5 }, () => {
    const before = process.threadCpuUsage()
    const rows = Array.from({ length: 6000 }, (_, index) => ({ index, text: `row ${index}`.repeat(5) }))
    const read = JSON.parse(JSON.stringify(rows)) as typeof rows
    read.toSorted((one, other) => one.text.localeCompare(other.text, "en"))
    const { user, system } = process.threadCpuUsage(before)
    return (user + system) / 1000
  })
  return Math.max(1, Math.min(...times) / 20)
}
