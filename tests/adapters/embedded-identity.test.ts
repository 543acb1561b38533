import { getAuthTables } from "better-auth/db"
import { eq, getTableColumns, is, sql, type Column } from "drizzle-orm"
import { getTableConfig, PgTable } from "drizzle-orm/pg-core"
import { pino } from "pino"
import { describe, expect, test } from "vitest"
import { accountHooks } from "#server/accounts/identity-hooks.ts"
import * as schema from "#db/schema/auth.ts"
import { openEmbeddedIdentity } from "#server/adapters/identity/embedded.ts"
import { authOptions, TABLES } from "#server/adapters/identity/embedded/auth.ts"
import { ENDPOINTS } from "#server/adapters/identity/embedded/endpoints.ts"
import { hashPassword, verifyPassword } from "#server/adapters/identity/embedded/password.ts"
import { listOutbox } from "#server/mail/outbox.ts"
import { inviteFromWaitlist } from "#server/waitlist/waitlist.ts"
import { openPasskey } from "../support/passkeys.ts"
import { createTestDatabase } from "../support/postgres.ts"
import { withResource } from "../support/with-resource.ts"

const SETTINGS = {
  origin: "http://localhost:3000",
  issuer: "http://localhost:3000",
  authSecret: "a secret for tests, and for nothing else",
  signup: "open" as const,
  sso: [],
  verification: "optional" as const,
  secondFactor: "optional" as const,
}

const CONFIG = {
  origin: SETTINGS.origin,
  identity: { authSecret: SETTINGS.authSecret, signup: "open" as const },
  securityLogDays: 365,
}

const database = withResource(createTestDatabase)

const log = pino({ level: "silent" })
const open = (settings: { signup?: "open" | "closed"; verification?: "required" } = {}) =>
  openEmbeddedIdentity({ ...SETTINGS, ...settings, db: database.db, log, hooks: accountHooks(CONFIG, log) })

const wanted = () =>
  getAuthTables(
    authOptions({
      ...SETTINGS,
      db: database.db,
      log,
      mailResetLink: () => {},
      mailVerificationLink: async () => {},
      mailSignUpAttempted: async () => {},
      isSuspended: async () => false,
      record: async () => {},
      afterResponse: () => {},
      invitations: { isFor: async () => false, redeem: async () => false },
    }),
  )

test("a new database has no account before someone signs up", async () => {
  const provider = await open()
  expect(await database.db.select().from(schema.authUser)).toEqual([])
  await provider.close()
})

/** Columns that better-auth does not know. */
const OURS: Partial<Record<keyof typeof TABLES, string>> = { apikey: "lastAddress", passkey: "lastUsedAt" }

describe("the tables of the embedded provider", () => {
  test("are exactly those that better-auth needs", () => {
    expect(Object.keys(TABLES).toSorted()).toEqual(Object.keys(wanted()).toSorted())
    const declared = Object.values(schema).filter((thing) => is(thing, PgTable))
    expect(new Set(declared)).toEqual(new Set(Object.values(TABLES)))
  })

  test.each(Object.keys(TABLES) as (keyof typeof TABLES)[])(
    "%s has the fields that better-auth needs",
    (model) => {
      const fields = Object.entries(wanted()[model]?.fields ?? {})
      const columns = getTableColumns(TABLES[model]) as Record<string, Column>
      const types = Object.fromEntries(
        Object.entries(columns)
          .filter(([name]) => OURS[model] !== name)
          .map(([name, { dataType }]) => [name, dataType]),
      )
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
    },
  )
})

/**
 * Endpoints that the installed version registers and nothing here uses. Check what a new one does
 * before you add it.
 */
const NOT_OFFERED = [
  "GET /account-info",
  "GET /api-key/get",
  "POST /api-key/update",
  "GET /callback/:id",
  "POST /callback/:id",
  "POST /change-email",
  "POST /delete-user",
  "GET /delete-user/callback",
  "POST /enter-by-provider",
  "GET /error",
  "POST /get-access-token",
  "GET /get-session",
  "POST /get-session",
  "POST /link-social",
  "GET /list-accounts",
  "GET /list-sessions",
  "GET /ok",
  "POST /passkey/delete-passkey",
  "GET /passkey/generate-register-options",
  "GET /passkey/list-user-passkeys",
  "POST /passkey/update-passkey",
  "POST /passkey/verify-registration",
  "POST /refresh-token",
  "GET /reset-password/:token",
  "POST /revoke-other-sessions",
  "POST /revoke-session",
  "POST /revoke-sessions",
  "POST /send-verification-email",
  "POST /sign-in/social",
  "GET /token",
  "POST /two-factor/get-totp-uri",
  "POST /two-factor/send-otp",
  "POST /two-factor/verify-otp",
  "POST /unlink-account",
  "POST /update-session",
  "POST /update-user",
  "GET /verify-email",
  "POST /verify-password",
]

describe("the endpoints of the provider", () => {
  test("are exactly those that the product offers and those that return 404", async () => {
    const { auth } = await open()
    const endpoints = Object.values<{ path?: string; options?: { method?: string | string[] } }>(auth.api)
    const registered = endpoints.flatMap(({ path, options }) =>
      path === undefined ? [] : [options?.method ?? "*"].flat().map((method) => `${method} ${path}`),
    )
    expect(new Set(registered)).toEqual(new Set([...Object.keys(ENDPOINTS), ...NOT_OFFERED]))
    expect(NOT_OFFERED.filter((endpoint) => endpoint in ENDPOINTS)).toEqual([])
  })

  test.each([
    ...NOT_OFFERED,
    "PUT /sign-up/email",
    "GET /sign-in/email",
    "POST /sign-in/email/",
    "POST //sign-in/email",
    "POST /SIGN-IN/email",
    "POST /%73ign-in/email",
    "POST /x/../../auth/verify-password/",
    "GET /",
  ])("%s returns 404", async (endpoint) => {
    const identity = await open()
    const [method = "", path = ""] = endpoint.split(" ")
    const url = `${SETTINGS.origin}/api/auth${path.replace(/:\w+/, "x")}`
    const body = method === "GET" ? null : "{}"
    const headers = { origin: SETTINGS.origin, "content-type": "application/json" }
    const request = new Request(url, { method: method === "*" ? "POST" : method, headers, body })
    const answer = await identity.handle?.({ request, address: "203.0.113.7" })
    expect([answer?.status, await answer?.json()]).toEqual([404, { error: "Not found" }])
  })
})

test("the origin that a passkey is for comes from the settings, whatever the request says", async () => {
  const { auth } = await open()
  const [user, passkey] = [{ id: "holder" }, openPasskey(SETTINGS)]
  await database.db
    .insert(schema.authUser)
    .values({ ...user, name: "Holder", email: "holder@example.org", emailVerified: true })
  await database.db.insert(schema.authPasskey).values({
    userId: user.id,
    id: "a-passkey",
    credentialID: passkey.id,
    publicKey: passkey.publicKey,
    counter: 0,
    deviceType: "singleDevice",
    backedUp: false,
  })
  // As the provider's functions see it: over HTTP a request from elsewhere is refused before them.
  const enter = async (origin: string) => {
    const { headers, response } = await auth.api.generatePasskeyAuthenticationOptions({
      headers: new Headers(),
      returnHeaders: true,
    })
    const [cookie = ""] = headers.get("set-cookie")?.split(";") ?? []
    const answer = await auth.api.verifyPasskeyAuthentication({
      body: { response: JSON.parse(passkey.assert(response.challenge, { origin })) },
      headers: new Headers({ origin, cookie }),
      asResponse: true,
    })
    return answer.json()
  }
  expect(await enter("http://localhost:4000")).toMatchObject({ code: "AUTHENTICATION_FAILED" })
  expect(await enter(SETTINGS.origin)).toMatchObject({ user })
})

describe("a password", () => {
  test("is stored as a salted argon2id hash that verifies only that password", async () => {
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

  test("matters to its last character", async () => {
    const long = "x".repeat(127)
    const hash = await hashPassword(`${long}a`)
    expect(await verifyPassword({ hash, password: `${long}a` })).toBe(true)
    expect(await verifyPassword({ hash, password: `${long}b` })).toBe(false)
    expect(await verifyPassword({ hash, password: long })).toBe(false)
  })

  test("is the same in every Unicode normalization form", async () => {
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
      "unbounded memory",
      "$argon2id$v=19$m=999999,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    ],
    [
      "unbounded passes",
      "$argon2id$v=19$m=19456,t=99,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    ],
  ])("does not match %s stored instead of a hash", async (_, hash) => {
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

  test("can be replaced while a process runs: it reloads the keys when it sees an unknown one", async () => {
    const [one, two] = [await open(), await open()]
    await two.verifyRealtimeToken(await issue(one))
    const [old] = await database.db.select().from(schema.authJwks)
    await database.db.delete(schema.authJwks).where(eq(schema.authJwks.id, old?.id ?? ""))
    const token = await issue(one)
    // At most once a second, so that made-up key ids do not cause database queries.
    await expect.poll(() => two.verifyRealtimeToken(token).then(({ userId }) => userId)).toBe("somebody")
  })
})

describe("a user of the embedded provider", () => {
  test("is null if nobody has the id, and renaming fails", async () => {
    const identity = await open()
    expect(await identity.getUser("nobody")).toBeNull()
    await expect(identity.updateUser("nobody", { name: "Somebody" })).rejects.toThrow("nobody")
  })

  test("and the confirmation email are created in one transaction", async () => {
    const identity = await open()
    const { user } = await identity.auth.api.signUpEmail({
      body: { name: "Ada Lovelace", email: "Ada@Example.org", password: "an engine of brass" },
    })
    expect(await lettersTo("ada@example.org")).toMatchObject([{ kind: "verify-address", userId: user.id }])
    await identity.updateUser(user.id, { name: "Countess of Lovelace" })
    expect(await identity.getUser(user.id)).toEqual({
      id: user.id,
      email: "ada@example.org",
      emailVerified: false,
      holderConfirmed: false,
      name: "Countess of Lovelace",
      imageUrl: null,
      plan: "free",
    })
  })

  test("is not created if the email cannot be queued", async () => {
    await database.db.execute(sql`alter table mail_outbox rename to mail_outbox_elsewhere`)
    const identity = await open()
    const attempt = identity.auth.api.signUpEmail({
      body: { name: "Grace Hopper", email: "grace@example.org", password: "an engine of brass" },
    })
    await expect(attempt).rejects.toThrow()
    await database.db.execute(sql`alter table mail_outbox_elsewhere rename to mail_outbox`)
    expect(await accountsOf("grace@example.org")).toEqual([])
  })
})

describe("an invitation", () => {
  const config = { origin: SETTINGS.origin, identity: { authSecret: SETTINGS.authSecret } }
  const invite = async (email: string) => {
    const link = await inviteFromWaitlist({ db: database.db, config }, email)
    return new URL(link ?? "").searchParams.get("invitation") ?? ""
  }
  const signUp = async (
    invitation: string | undefined,
    email: string,
    signup: "open" | "closed" = "closed",
  ) => {
    const identity = await open({ signup })
    const request = new Request(`${SETTINGS.origin}/sign-up`, { headers: { origin: SETTINGS.origin } })
    const input = { name: "Mary", email, password: "an engine of brass", invitation }
    return identity.forms?.signUp({ request, address: "203.0.113.7" }, input)
  }

  test("lets its email address sign up once while sign-up is closed, and confirms it", async () => {
    const token = await invite("Mary@example.org")
    expect(await signUp(undefined, "mary@example.org")).toMatchObject({ ok: false, problem: "signup-closed" })
    expect(await signUp(token, "mary@example.org")).toMatchObject({ ok: true })
    expect(await accountsOf("mary@example.org")).toMatchObject([
      { emailVerified: true, holderConfirmed: true },
    ])
    expect((await lettersTo("mary@example.org")).map(({ kind }) => kind)).not.toContain("verify-address")

    await database.db.delete(schema.authUser).where(eq(schema.authUser.email, "mary@example.org"))
    expect(await signUp(token, "mary@example.org")).toMatchObject({ ok: false, problem: "signup-closed" })
    expect(await inviteFromWaitlist({ db: database.db, config }, "mary@example.org")).toBeNull()
  })

  test("admits one of many concurrent sign-ups that use it", async () => {
    const token = await invite("crowd@example.org")
    const outcomes = await Promise.all(Array.from({ length: 5 }, () => signUp(token, "crowd@example.org")))
    expect(outcomes.filter((outcome) => outcome?.ok)).toHaveLength(1)
    expect(await accountsOf("crowd@example.org")).toHaveLength(1)
  })

  test("signs the person in immediately where addresses must be confirmed, because it confirms the address", async () => {
    const token = await invite("sure@example.org")
    const identity = await open({ signup: "closed", verification: "required" })
    const request = new Request(`${SETTINGS.origin}/sign-up`, { headers: { origin: SETTINGS.origin } })
    const input = { name: "S", email: "sure@example.org", password: "an engine of brass", invitation: token }
    const entered = await identity.forms?.signUp({ request, address: "203.0.113.9" }, input)
    expect(entered).toMatchObject({ ok: true, isSignedIn: true })
  })

  test("is not used up by a form that was refused", async () => {
    const token = await invite("careless@example.org")
    const identity = await open({ signup: "closed" })
    const request = new Request(`${SETTINGS.origin}/sign-up`, { headers: { origin: SETTINGS.origin } })
    const input = { name: "C", email: "careless@example.org", password: "short", invitation: token }
    const refused = await identity.forms?.signUp({ request, address: "203.0.113.8" }, input)
    expect(refused).toMatchObject({ ok: false, problem: "password-unfit" })
    expect(await signUp(token, "careless@example.org")).toMatchObject({ ok: true })
  })

  test("only works for its own email address", async () => {
    const token = await invite("owner@example.org")
    expect(await signUp(token, "thief@example.org")).toMatchObject({ ok: false, problem: "signup-closed" })
    expect(await signUp(token, "owner@example.org")).toMatchObject({ ok: true })
  })

  test.each([
    ["made up", () => "nonsense"],
    ["with another row", (token: string) => token.replace(/^[^.]+/, crypto.randomUUID())],
    ["with a later expiry", (token: string) => token.replace(/\.\d+\./, ".9999999999.")],
    ["cut short", (token: string) => token.slice(0, -1)],
    ["empty", () => ""],
  ])("that is %s is invalid", async (_what, forge) => {
    const token = await invite("forged@example.org")
    expect(await signUp(forge(token), "forged@example.org")).toMatchObject({ problem: "signup-closed" })
    expect(await accountsOf("forged@example.org")).toEqual([])
  })

  test("confirms the address where sign-up is open too, where an invalid one blocks nobody", async () => {
    const token = await invite("open@example.org")
    expect(await signUp(token, "open@example.org", "open")).toMatchObject({ ok: true })
    expect(await accountsOf("open@example.org")).toMatchObject([
      { emailVerified: true, holderConfirmed: true },
    ])
    expect(await signUp("nonsense", "other@example.org", "open")).toMatchObject({ ok: true })
    expect(await accountsOf("other@example.org")).toMatchObject([{ emailVerified: false }])
  })
})

async function lettersTo(address: string) {
  return (await listOutbox(database)).filter(({ recipient }) => recipient.toLowerCase() === address)
}

function accountsOf(email: string) {
  return database.db.select().from(schema.authUser).where(eq(schema.authUser.email, email))
}
