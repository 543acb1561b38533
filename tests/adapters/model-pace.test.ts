import { afterEach, beforeEach, expect, it, vi } from "vitest"
import { createPace } from "#server/adapters/model/pace.ts"
import { paceBytes } from "#server/adapters/model/paced-bytes.ts"

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

it.each([
  [1, 100],
  [50, 100],
  [100, 200],
  [1000, 250],
])(
  "of %i replies at once, each passes its text on every %i ms after its first words",
  async (replies, interval) => {
    const pace = createPace()
    for (let other = 1; other < replies; other++) pace.enter()
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
    const model = writable.getWriter()
    const paced = paceBytes(readable, { pace, endOf: () => null })
    const begun = performance.now()
    const passed: { at: number; length: number }[] = []
    const reading = (async () => {
      for await (const { length } of paced) passed.push({ at: performance.now() - begun, length })
    })()
    for (let packet = 0; packet < 200; packet++) {
      void model.write(new Uint8Array(1))
      await vi.advanceTimersByTimeAsync(10)
    }
    void model.close()
    await reading
    expect(passed.slice(0, 4).map(({ at }) => at)).toEqual([0, 10, 20, 30])
    const pauses = passed.slice(4, -1).map(({ at }, index) => at - passed[index + 3]!.at)
    expect(new Set(pauses)).toEqual(new Set([interval]))
    expect(passed.reduce((sum, { length }) => sum + length, 0)).toBe(200)
  },
)
