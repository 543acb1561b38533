import postgres from "postgres"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { createTestDatabase } from "../support/postgres.ts"
import { ReferenceClient } from "./support/client.ts"
import { generator, printedSeed } from "./support/form.ts"
import { openFleet, type Fleet } from "./support/space-fleet.ts"
import { runTrial, type Findings } from "./support/space-trial.ts"
import { openWorld, type World } from "./support/space-world.ts"

/** `npm run test:spaces` sets ten thousand. */
const TRIALS = Number(process.env["SPACE_TRIALS"] ?? 200)

/** Trials at the same time, each with people and spaces of its own. A fault is one for all of them. */
const WORLDS = 6

const STILL_OPEN = /chat\.listThreads .* is open: live/

let database: Awaited<ReturnType<typeof createTestDatabase>>
let sql: postgres.Sql
let worlds: World[]

beforeAll(async () => {
  database = await createTestDatabase()
  sql = postgres(database.url, { max: WORLDS, onnotice: () => {} })
  await sql.unsafe(
    `alter database "${new URL(database.url).pathname.slice(1)}" set deadlock_timeout = '50ms'`,
  )
  worlds = await Promise.all(
    Array.from({ length: WORLDS }, (_, at) => openWorld(database.url, `world-${at}`)),
  )
})
afterAll(async () => {
  await Promise.all(worlds.map((world) => world.close()))
  await sql.end()
  await database.close()
})

describe("spaces under random writes, moves, removals and faults", () => {
  it(
    "show nobody a row after their removal or of another space, and everybody else every row",
    { timeout: 120_000 + TRIALS * 2000 },
    async () => {
      const { findings, totals } = await runTrials(TRIALS, "this")
      process.stdout.write(`${describeTotals(totals)}\n`)
      expect(findings).toEqual({ leaks: [], differences: [], unlawful: [], brokenOff: [] })
      // Otherwise nothing would have been tried.
      expect(totals.shown).toBeGreaterThan(TRIALS * 10)
    },
  )

  it("are found out where a list does not follow the membership", async () => {
    const { findings } = await runTrials(
      100,
      "careless",
      ({ leaks, differences }) => leaks.length > 0 && differences.some((text) => STILL_OPEN.test(text)),
    )
    expect(findings.brokenOff).toEqual([])
    expect(findings.leaks).not.toEqual([])
    expect(findings.differences.join()).toMatch(STILL_OPEN)
  })
})

/** On two processes; each person is connected to one of them. */
async function runTrials(
  trials: number,
  version: "this" | "careless",
  isEnough: (findings: Pick<Findings, "leaks" | "differences">) => boolean = () => false,
) {
  const firstSeed = printedSeed("spaces")
  const fleet: Fleet = await openFleet(database.url, version)
  const findings = {
    leaks: [] as string[],
    differences: [] as string[],
    unlawful: [] as string[],
    /** Trials that threw. The others are compared all the same. */
    brokenOff: [] as string[],
  }
  const totals = { trials: 0, transactions: 0, shown: 0 }
  let begun = 0
  try {
    await Promise.all(worlds.map(runInWorld))
  } finally {
    await fleet.close()
  }
  return { findings, totals }

  async function runInWorld(world: World) {
    const clients = new Map<string, ReferenceClient>()
    const saidBefore = new Set<string>()
    try {
      for (const [at, person] of world.people.entries()) {
        const client = new ReferenceClient(fleet.urls[at % fleet.urls.length]!, person)
        await client.connect()
        // Gives it a position.
        client.unfollow(await client.follow("spaces.list", {}))
        clients.set(person, client)
      }
      while (begun < trials && findings.brokenOff.length === 0 && !isEnough(findings)) {
        // A trial's seed is its own: SEED=1007 SPACE_TRIALS=1 makes the same choices as the eighth of SEED=1000.
        const seed = firstSeed + begun++
        const trial = { sql, world, chance: generator(seed), clients, fleet, saidBefore }
        const found = await runTrial(trial).catch((error: Error) => {
          findings.brokenOff.push(`seed ${seed}: ${error.stack}`)
        })
        if (!found) return
        for (const kind of ["leaks", "differences", "unlawful"] as const) {
          const texts = found[kind].map((text) => `seed ${seed}: ${text}`)
          findings[kind].push(...texts)
        }
        totals.trials += 1
        totals.transactions += found.transactions
        totals.shown += found.shown
        if (totals.trials % 500 === 0) process.stdout.write(`${describeTotals(totals)}\n`)
      }
    } finally {
      for (const client of clients.values()) client.close()
    }
  }
}

function describeTotals({
  trials,
  transactions,
  shown,
}: {
  trials: number
  transactions: number
  shown: number
}) {
  return `${trials} trials: ${transactions} transactions, ${shown} texts shown`
}
