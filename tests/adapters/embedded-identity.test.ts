import { getAuthTables } from "better-auth/db"
import { eq, getTableColumns, is, type Column } from "drizzle-orm"
import { getTableConfig, PgTable } from "drizzle-orm/pg-core"
import { pino } from "pino"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import * as schema from "#db/schema/auth.ts"
import { openEmbeddedIdentity } from "#server/adapters/embedded-identity.ts"
import { authOptions, TABLES } from "#server/adapters/embedded-identity/auth.ts"
import { hashPassword, verifyPassword } from "#server/adapters/embedded-identity/password.ts"
import { createTestDatabase } from "../support/postgres.ts"

const SETTINGS = {
  origin: "http://localhost:3000",
  issuer: "http://localhost:3000",
  authSecret: "a secret for tests, and for nothing else",
  signup: "open" as const,
}

let database: Awaited<ReturnType<typeof createTestDatabase>>
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.close())

const log = pino({ level: "silent" })
const mail = { send: () => Promise.reject(new Error("No mail here.")), close: () => {} }
const open = () => openEmbeddedIdentity({ ...SETTINGS, db: database.db, mail, log })

const wanted = () =>
  getAuthTables(
    authOptions({
      ...SETTINGS,
      db: database.db,
      log,
      mailResetLink: async () => {},
      mailVerificationLink: async () => {},
      runInBackground: () => {},
    }),
  )

describe("the tables of the embedded provider", () => {
  test("are those that better-auth asks for, and no others", () => {
    expect(Object.keys(TABLES).toSorted()).toEqual(Object.keys(wanted()).toSorted())
    const declared = Object.values(schema).filter((thing) => is(thing, PgTable))
    expect(new Set(declared)).toEqual(new Set(Object.values(TABLES)))
  })

  test.each(Object.keys(TABLES) as (keyof typeof TABLES)[])("%s has the fields that it asks for", (model) => {
    const fields = Object.entries(wanted()[model]?.fields ?? {})
    const columns = getTableColumns(TABLES[model]) as Record<string, Column>
    const types = Object.fromEntries(Object.entries(columns).map(([name, { dataType }]) => [name, dataType]))
    expect(types).toEqual({
      id: "string",
      ...Object.fromEntries(fields.map(([name, { type }]) => [name, type])),
    })

    const required = fields.filter(([, field]) => field.required !== false).map(([name]) => name)
    const notNull = Object.keys(columns).filter((name) => columns[name]?.notNull)
    expect(notNull.toSorted()).toEqual(["id", ...required].toSorted())

    const { indexes } = getTableConfig(TABLES[model])
    for (const [name] of fields.filter(([, field]) => field.unique)) {
      const isUnique = indexes.some(
        ({ config }) =>
          config.unique &&
          config.columns.some((column) => "name" in column && column.name === columns[name]?.name),
      )
      expect([name, isUnique]).toEqual([name, true])
    }
  })
})

describe("a password", () => {
  test("is kept as an argon2id hash of its own, which it alone opens", async () => {
    const [one, two] = await Promise.all([
      hashPassword("an engine of brass"),
      hashPassword("an engine of brass"),
    ])
    expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/)
    expect(one).not.toBe(two)
    expect(await verifyPassword({ hash: one, password: "an engine of brass" })).toBe(true)
    expect(await verifyPassword({ hash: one, password: "an engine of Brass" })).toBe(false)
    expect(await verifyPassword({ hash: one, password: "" })).toBe(false)
  })

  test("is the same however its letters were composed", async () => {
    const hash = await hashPassword("caf\u00e9 au lait")
    expect(await verifyPassword({ hash, password: "cafe\u0301 au lait" })).toBe(true)
  })

  test.each([
    ["nothing", ""],
    ["plain text", "password"],
    [
      "another algorithm",
      "$argon2i$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    ],
    [
      "memory without end",
      "$argon2id$v=19$m=999999,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    ],
    [
      "passes without end",
      "$argon2id$v=19$m=19456,t=99,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    ],
  ])("is not opened by %s in the place of a hash", async (_, hash) => {
    expect(await verifyPassword({ hash, password: "password" })).toBe(false)
  })
})

const issue = async (identity: Awaited<ReturnType<typeof open>>) =>
  (
    await identity.auth.api.signJWT({
      body: { payload: { sub: "somebody", iat: Math.floor(Date.now() / 1000) } },
    })
  ).token

describe("the signing keys of the embedded provider", () => {
  test("are shared by processes on one database, and stored encrypted", async () => {
    const [one, two] = [await open(), await open()]
    expect(await two.verifyRealtimeToken(await issue(one))).toMatchObject({
      userId: "somebody",
      plan: "free",
    })
    const keys = await database.db.select().from(schema.authJwks)
    expect(keys).toHaveLength(1)
    expect(keys[0]?.privateKey).not.toContain(`"d"`)
  })

  test("can be replaced while a process runs: it looks again when it meets one that it does not know", async () => {
    const [one, two] = [await open(), await open()]
    await two.verifyRealtimeToken(await issue(one))
    const [old] = await database.db.select().from(schema.authJwks)
    await database.db.delete(schema.authJwks).where(eq(schema.authJwks.id, old?.id ?? ""))
    const token = await issue(one)
    // At most once a second, so that invented key ids do not become questions to the database.
    await expect
      .poll(() => two.verifyRealtimeToken(token).then(({ userId }) => userId), { timeout: 5000 })
      .toBe("somebody")
  })
})

describe("a person of the embedded provider", () => {
  test("is null when nobody has the id, and cannot be renamed then", async () => {
    const identity = await open()
    expect(await identity.getUser("nobody")).toBeNull()
    await expect(identity.updateUser("nobody", { name: "Somebody" })).rejects.toThrow("nobody")
  })

  test("can be signed up although the letter that confirms the address is lost", async () => {
    const identity = await open()
    const { user } = await identity.auth.api.signUpEmail({
      body: { name: "Ada Lovelace", email: "Ada@Example.org", password: "an engine of brass" },
    })
    await identity.close()
    await identity.updateUser(user.id, { name: "Countess of Lovelace" })
    expect(await identity.getUser(user.id)).toEqual({
      id: user.id,
      email: "ada@example.org",
      emailVerified: false,
      name: "Countess of Lovelace",
      imageUrl: null,
      plan: "free",
    })
  })
})
