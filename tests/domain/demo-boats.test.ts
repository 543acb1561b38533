import { eq, sql } from "drizzle-orm"
import { pino } from "pino"
import { expect, it, onTestFinished, vi } from "vitest"
import { demoBoats } from "#db/schema/demo.ts"
import { moveBoat, startPuttingBoatsBack } from "#server/demo/boats.ts"
import { createTestDatabase } from "../support/postgres.ts"
import { withResource } from "../support/with-resource.ts"

const database = withResource(createTestDatabase)

it("resets a boat that nobody has moved for two minutes, and no other", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] })
  onTestFinished(() => void vi.useRealTimers())
  const { db } = database
  const work = startPuttingBoatsBack({ db, log: pino({ level: "silent" }) })
  onTestFinished(() => work.stop())
  await vi.waitFor(async () => expect(await stateOf("Petrel")).toBe("coming in"))

  await moveBoat({ db }, { boat: "Petrel", state: "moored" })
  await moveBoat({ db }, { boat: "Grey Seal", state: "at sea" })
  await setBack("Petrel", 121_000)
  await setBack("Grey Seal", 60_000)
  vi.advanceTimersByTime(20_000)
  await vi.waitFor(async () => expect(await stateOf("Petrel")).toBe("coming in"))
  expect(await stateOf("Grey Seal")).toBe("at sea")
})

async function stateOf(name: string) {
  const [boat] = await database.db.select().from(demoBoats).where(eq(demoBoats.name, name))
  return boat?.state
}

/** As if it had been moved that many milliseconds earlier. */
async function setBack(name: string, age: number) {
  const movedAt = sql`${demoBoats.movedAt} - ${age}::bigint`
  await database.db.update(demoBoats).set({ movedAt }).where(eq(demoBoats.name, name))
}
