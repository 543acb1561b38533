import { eq, sql } from "drizzle-orm"
import pino from "pino"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { openDatabase } from "#db/client.ts"
import { users, type User } from "#db/schema/users.ts"
import { changePlan } from "#server/operator/people.ts"
import { listActs } from "#server/operator/history.ts"
import type { Identity } from "#server/ports/identity.ts"
import { createTestDatabase } from "../support/postgres.ts"
import { withResource } from "../support/with-resource.ts"

const log = pino({ level: "silent" })

const database = withResource(createTestDatabase)
/** With a pool of one connection: code that holds it and requests another waits for ever. */
let narrow: ReturnType<typeof openDatabase>
let operator: User
beforeAll(async () => {
  narrow = openDatabase(database.url, { connections: 1 })
  operator = await makeUser("operator")
})
afterAll(() => narrow.close())

describe("changing a plan", () => {
  it("needs one connection, however many plans change concurrently", async () => {
    const people = await Promise.all(["ada", "grace", "mary"].map((name) => makeUser(name)))
    await Promise.all(people.map(({ clerkId }) => change(clerkId, findAccount)))
    const written = await database.db.select({ plan: users.plan }).from(users)
    expect(written.filter(({ plan }) => plan === "pro")).toHaveLength(people.length)
    const [act] = await listActs(database, { limit: 1 })
    expect(act).toMatchObject({
      act: "change-plan",
      operatorId: operator.clerkId,
      facts: { plans: { previous: "free", next: "pro" } },
    })
  })

  it("changes and records nothing if any part of it fails", async () => {
    const { clerkId } = await makeUser("joan")
    const before = await listActs(database, { limit: 1 })
    await expect(change(clerkId, away)).rejects.toThrow("away")
    await expect(change(clerkId, async () => null)).rejects.toMatchObject({ status: 410 })
    expect(await listActs(database, { limit: 1 })).toEqual(before)
    const [joan] = await database.db.select().from(users).where(eq(users.clerkId, clerkId))
    expect(joan?.plan).toBe("free")
    await database.db.execute(sql`alter table operator_acts rename to acts_away`)
    try {
      await expect(change(clerkId, findAccount)).rejects.toThrow()
    } finally {
      await database.db.execute(sql`alter table acts_away rename to operator_acts`)
    }
    const [still] = await database.db.select().from(users).where(eq(users.clerkId, clerkId))
    expect(still?.plan).toBe("free")
  })
})

type SetPlan = NonNullable<Identity["setPlan"]>

const findAccount: SetPlan = async (transaction, { userId }) => {
  await transaction.execute(sql`select 1`)
  return { previous: "free", email: `${userId}@example.org` }
}

const away: SetPlan = () => Promise.reject(new Error("The provider is away."))

function change(userId: string, setPlan: SetPlan) {
  const session = { userId: operator.clerkId, sessionId: null, plan: "free", via: "cookie" } as const
  const config = { origin: "http://localhost:3000", securityLogDays: 365 }
  const scope = { db: narrow.db, log, config, identity: { setPlan } }
  return changePlan(scope, { session, user: operator }, { userId, plan: "pro" })
}

async function makeUser(name: string): Promise<User> {
  const [made] = await database.db
    .insert(users)
    .values({ clerkId: `user_${name}`, email: `${name}@example.org`, plan: "free" })
    .returning()
  if (!made) throw new Error("The user did not come back from the database.")
  return made
}
