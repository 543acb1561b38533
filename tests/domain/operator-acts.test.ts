import { sql } from "drizzle-orm"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { openDatabase } from "#db/client.ts"
import { users, type User } from "#db/schema/users.ts"
import { readConfig } from "#server/config.ts"
import { changePlan } from "#server/operator/people.ts"
import { listActs } from "#server/operator/history.ts"
import type { Identity, Plan } from "#server/ports/identity.ts"
import { createTestDatabase } from "../support/postgres.ts"

let database: Awaited<ReturnType<typeof createTestDatabase>>
/** Over one connection: anyone who holds it and asks for another waits for ever. */
let narrow: ReturnType<typeof openDatabase>
let operator: User
beforeAll(async () => {
  database = await createTestDatabase()
  narrow = openDatabase(database.url, { connections: 1 })
  operator = await makeUser("operator")
})
afterAll(async () => {
  await narrow.close()
  await database.close()
})

describe("a plan that an operator changes at a provider in the same database", () => {
  it("holds no connection while the provider takes one, however many are changed at once", async () => {
    const people = await Promise.all(["ada", "grace", "mary"].map((name) => makeUser(name)))
    await Promise.all(
      people.map(({ clerkId }) => changePlan(scopeWith(setPlan), { userId: clerkId, plan: "pro" })),
    )
    const written = await database.db.select({ plan: users.plan }).from(users)
    expect(written.filter(({ plan }) => plan === "pro")).toHaveLength(people.length)
  })

  it("is written down before the provider is asked, so that nothing is done and not known", async () => {
    const { clerkId } = await makeUser("joan")
    await expect(changePlan(scopeWith(refuse), { userId: clerkId, plan: "pro" })).rejects.toThrow("away")
    const [act] = await listActs(database, { limit: 1 })
    expect(act).toMatchObject({ act: "change-plan", subjectId: clerkId, detail: "from free to pro" })
  })
})

async function setPlan(): Promise<void> {
  await narrow.db.execute(sql`select 1`)
}

async function refuse(): Promise<never> {
  throw new Error("The provider is away.")
}

function scopeWith(change: (userId: string, plan: Plan) => Promise<void>) {
  const identity = {
    getUser: async (id: string) => ({
      id,
      email: null,
      emailVerified: true,
      holderConfirmed: true,
      name: null,
      imageUrl: null,
      plan: "free",
    }),
    setPlan: change,
  } satisfies Partial<Identity> as unknown as Identity
  const session = { userId: operator.clerkId, sessionId: null, plan: "free", via: "cookie" } as const
  const config = readConfig({ AUTH_SECRET: "a secret for tests, and for nothing else" })
  return { db: narrow.db, config, identity, viewer: { session, user: operator } }
}

async function makeUser(name: string): Promise<User> {
  const [made] = await database.db
    .insert(users)
    .values({ clerkId: `user_${name}`, email: `${name}@example.org`, plan: "free" })
    .returning()
  if (!made) throw new Error("The user did not come back from the database.")
  return made
}
