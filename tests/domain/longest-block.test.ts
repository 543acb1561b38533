import { setImmediate as nextTurn, setTimeout as delay } from "node:timers/promises"
import { describe, expect, it } from "vitest"
import { longestBlock } from "../support/longest-block.ts"

describe("the longest block of the event loop", () => {
  it("is the longest stretch between two turns, in processor time", async () => {
    const { result, milliseconds } = await longestBlock(async () => {
      spend(20)
      await nextTurn()
      spend(60)
      await nextTurn()
      spend(10)
      return "done"
    })
    expect(result).toBe("done")
    expect(milliseconds).toBeGreaterThanOrEqual(60)
    expect(milliseconds).toBeLessThan(80)
  })

  it("counts a stretch of promises as one, and one at the very end", async () => {
    const { milliseconds } = await longestBlock(async () => {
      await nextTurn()
      for (let turn = 0; turn < 4; turn++) await Promise.resolve(spend(10))
    })
    expect(milliseconds).toBeGreaterThanOrEqual(40)
  })

  it("does not count waiting", async () => {
    const { milliseconds } = await longestBlock(() => delay(100))
    expect(milliseconds).toBeLessThan(50)
  })
})

/** Keeps this thread busy for some milliseconds of processor time. */
function spend(milliseconds: number) {
  const begun = process.threadCpuUsage()
  for (;;) {
    const { user, system } = process.threadCpuUsage(begun)
    if (user + system >= milliseconds * 1000) return
  }
}
