import { expect, it, onTestFinished } from "vitest"
import { ANNOUNCE } from "#live/open"
import { startEngine } from "./support/engine.ts"
import { engineSuite } from "./support/suite.ts"

const suite = engineSuite()

/** Another engine on the same database, and the announcements it received. */
async function startListener(more: Record<string, (text: string) => void> = {}) {
  const received: string[] = []
  const announcements = { news: (text: string) => void received.push(text), ...more }
  const engine = await startEngine(suite.databaseUrl, {}, { announcements })
  onTestFinished(() => engine.close())
  return { engine, received }
}

it("an announcement in a transaction reaches every process at its commit, and never if it is rolled back", async () => {
  const listeners = [await startListener(), await startListener()]
  await suite.sql
    .begin(async (transaction) => {
      await transaction.unsafe(ANNOUNCE, ["news", "of what never was"])
      throw new Error("no")
    })
    .catch(() => {})
  await suite.sql.begin(async (transaction) => {
    await transaction.unsafe(ANNOUNCE, ["news", "first, \u{1F30A}"])
    await transaction.unsafe(ANNOUNCE, ["weather", "nobody asked"])
    await transaction.unsafe(ANNOUNCE, ["toString", "nobody asked"])
    await transaction.unsafe(ANNOUNCE, ["news", "second"])
    expect(listeners.flatMap(({ received }) => received)).toEqual([])
  })
  for (const { received } of listeners)
    await expect.poll(() => received).toEqual(["first, \u{1F30A}", "second"])
})

it("a failing handler is logged, without affecting other announcements or the stream", async () => {
  const { engine, received } = await startListener({
    broken() {
      throw new Error("not understood")
    },
  })
  await suite.sql.unsafe(ANNOUNCE, ["broken", "x"])
  await suite.sql.unsafe(ANNOUNCE, ["news", "after it"])
  await expect.poll(() => received.at(-1)).toBe("after it")
  expect(engine.lines).toMatchObject([{ level: "error", details: { topic: "broken" } }])
  expect(engine.realtime.ready()).toEqual({ ready: true })
})
