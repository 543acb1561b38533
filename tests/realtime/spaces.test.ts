import postgres from "postgres"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { createTestDatabase } from "../support/postgres.ts"
import { ReferenceClient } from "./support/client.ts"
import { seeded } from "./support/form.ts"
import { openFleet, type Fleet } from "./support/space-fleet.ts"
import { runTrial, type Findings } from "./support/space-trial.ts"
import { openWorld, PEOPLE, type World } from "./support/space-world.ts"

/** `npm run test:spaces` sets ten thousand. */
const TRIALS = Number(process.env["SPACE_TRIALS"] ?? 25)

let database: Awaited<ReturnType<typeof createTestDatabase>>
let sql: postgres.Sql
let world: World

beforeAll(async () => {
  database = await createTestDatabase()
  sql = postgres(database.url, { max: 5, onnotice: () => {} })
  await sql.unsafe(
    `alter database "${new URL(database.url).pathname.slice(1)}" set deadlock_timeout = '50ms'`,
  )
  world = await openWorld(database.url)
})
afterAll(async () => {
  await world.close()
  await sql.end()
  await database.close()
})

describe("spaces under random writes, moves, removals and faults", () => {
  it(
    "show nobody a row after their removal or of another space, and everybody else every row",
    { timeout: 120_000 + TRIALS * 2000 },
    async () => {
      const { findings, totals } = await runTrials(TRIALS, "this")
      process.stdout.write(
        `${TRIALS} trials: ${totals.transactions} transactions, ${totals.shown} texts shown to ${PEOPLE.length} people\n`,
      )
      expect(findings).toEqual({ leaks: [], differences: [], unlawful: [] })
      // Otherwise nothing would have been tried.
      expect(totals.shown).toBeGreaterThan(TRIALS * 10)
    },
  )

  it("are found out where a list does not follow the membership", async () => {
    const { findings } = await runTrials(
      100,
      "careless",
      ({ leaks, differences }) => leaks.length > 0 && differences.length > 0,
    )
    expect(findings.leaks).not.toEqual([])
    expect(findings.differences.join()).toMatch(/chat\.listThreads .* is open: live/)
  })
})

/** On two processes; each person is connected to one of them. */
async function runTrials(
  trials: number,
  version: "this" | "careless",
  isEnough: (findings: Pick<Findings, "leaks" | "differences">) => boolean = () => false,
) {
  const chance = seeded("spaces")
  const fleet: Fleet = await openFleet(database.url, version)
  const clients = new Map<string, ReferenceClient>()
  const findings = { leaks: [] as string[], differences: [] as string[], unlawful: [] as string[] }
  const totals = { transactions: 0, shown: 0 }
  try {
    for (const [at, person] of PEOPLE.entries()) {
      const client = new ReferenceClient(fleet.urls[at % 2]!, person)
      await client.connect()
      // Gives it a position.
      client.unfollow(await client.follow("spaces.list", {}))
      clients.set(person, client)
    }
    for (let n = 0; n < trials && !isEnough(findings); n++) {
      const found: Findings = await runTrial({ sql, world, chance, clients, fleet })
      for (const kind of ["leaks", "differences", "unlawful"] as const)
        findings[kind].push(...found[kind].map((text) => `trial ${n}: ${text}`))
      totals.transactions += found.transactions
      totals.shown += found.shown
    }
  } finally {
    for (const client of clients.values()) client.close()
    await fleet.close()
  }
  return { findings, totals }
}
