import { eq, sql } from "drizzle-orm"
import { pino } from "pino"
import { RouterContextProvider } from "react-router"
import { beforeAll, beforeEach, describe, expect, test } from "vitest"
import { accountHooks } from "#server/accounts/identity-hooks.ts"
import { authSession, authUser } from "#db/schema/auth.ts"
import { openEmbeddedIdentity } from "#server/adapters/identity/embedded.ts"
import { openSessionReader } from "#server/adapters/identity/embedded/read-session.ts"
import { createTestDatabase } from "../support/postgres.ts"
import { withResource } from "../support/with-resource.ts"

const authSecret = "a secret for tests, and for nothing else"
const origin = "http://localhost:3000"

const database = withResource(createTestDatabase)
let identity: Awaited<ReturnType<typeof openEmbeddedIdentity>>
let read: Awaited<ReturnType<typeof openSessionReader>>
/** As the browser sends it. */
let cookie: string

const log = pino({ level: "silent" })

beforeAll(async () => {
  identity = await openEmbeddedIdentity({
    origin,
    issuer: origin,
    authSecret,
    signup: "open",
    sso: [],
    verification: "optional",
    secondFactor: "optional",
    db: database.db,
    log,
    hooks: accountHooks({ origin, identity: { authSecret, signup: "open" }, securityLogDays: 365 }, log),
  })
  const request = new Request(`${origin}/sign-up`, { headers: { origin } })
  const ada = { name: "Ada", email: "ada@example.org", password: "an engine of brass" }
  const entered = await identity.forms?.signUp({ request, address: "203.0.113.7" }, ada)
  if (!entered?.ok) throw new Error("Nobody could sign up.")
  cookie = entered.headers.getSetCookie()[0]?.split(";")[0] ?? ""
  read = await openSessionReader(identity.auth, database.db)
})

beforeEach(() => endIn("7 days"))

describe("a session that better-auth created", () => {
  test("is read with the user's current plan", async () => {
    const { db } = database
    const [user] = await db.select().from(authUser)
    const [session] = await db.select().from(authSession)
    const expected = { userId: user?.id, sessionId: session?.id, secondFactor: "none" }
    expect(await read(cookie)).toEqual({ ...expected, plan: "free" })
    await db.update(authUser).set({ plan: "pro" })
    expect(await read(`theme=dark; ${cookie}`)).toEqual({ ...expected, plan: "pro" })
  })

  test.each([
    ["ended", "-1 second"],
    ["is due to be renewed", "5 days 23 hours"],
  ])("is left to better-auth when it %s", async (_, interval) => {
    await endIn(interval)
    expect(await read(cookie)).toBeNull()
  })

  test.each([
    ["another signature", (own: string) => `${unsigned(own)}.${encodeURIComponent(btoa("x".repeat(32)))}`],
    ["no signature", unsigned],
    ["another token with the same signature", (own: string) => own.replace("=", "=a")],
    ["nothing", () => "tideline.session_token="],
    [`the "don't remember me" flag`, (own: string) => `${own}; tideline.dont_remember=true`],
  ])("is left to better-auth when its cookie has %s", async (_, alter) => {
    expect(await read(alter(cookie))).toBeNull()
  })

  test("is invalid once its row is deleted", async () => {
    const [row] = await database.db.select().from(authSession)
    if (!row) throw new Error("There is no session.")
    await database.db.delete(authSession).where(eq(authSession.id, row.id))
    expect(await read(cookie)).toBeNull()
    await database.db.insert(authSession).values(row)
    expect(await read(cookie)).not.toBeNull()
  })
})

test("a renewed cookie is never sent with a cacheable response", async () => {
  const request = new Request(origin, { headers: { cookie } })
  const visit = { request, address: "203.0.113.7", context: new RouterContextProvider() }
  const answer = async () => {
    await identity.getSession(visit)
    return new Response("for everybody", { headers: { "cache-control": "public, max-age=3600" } })
  }
  const untouched = await identity.middleware?.(visit, answer)
  expect(untouched?.headers.get("cache-control")).toBe("public, max-age=3600")
  await endIn("5 days 23 hours")
  const renewed = await identity.middleware?.(visit, answer)
  expect(renewed?.headers.getSetCookie()).toHaveLength(1)
  expect(renewed?.headers.get("cache-control")).toBe("private, no-store")
})

function unsigned(own: string) {
  return own.slice(0, own.lastIndexOf("."))
}

async function endIn(interval: string) {
  await database.db.update(authSession).set({ expiresAt: sql`now() + ${interval}::interval` })
}
