import { generateKeyPair } from "jose"
import postgres from "postgres"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { startTideline, type TidelineApp } from "../../support/app.ts"
import { ISSUER, PUBLISHABLE_KEY, SECRET_KEY, startClerk } from "../../support/clerk.ts"
import { openBrowser } from "../../support/people.ts"
import { describeIdentity, type Caller, type Deployment } from "./suite.ts"

type Clerk = Awaited<ReturnType<typeof startClerk>>

/** Tideline with Clerk as the provider, and the stand-in as Clerk's Backend API. */
function startWithClerk(clerk: Clerk, env: Record<string, string> = {}) {
  return startTideline({
    ...clerk.settings,
    JWT_ISSUER_DOMAIN: ISSUER,
    ...env,
  })
}

/** The claims of a session token, version 2, as Clerk issues it for a page at `origin`. */
function claimsOf(origin: string, name: string, plan: string) {
  return {
    sub: `user_${name}`,
    sid: `sess_${name}`,
    v: 2,
    sts: "active",
    azp: origin,
    pla: `u:${plan}`,
    fea: "",
  }
}

const cookiesOf = (token: string) => ({ __session: token, __client_uat: "1" })

describeIdentity("Clerk, with tokens of its form", async (): Promise<Deployment> => {
  const clerk = await startClerk()
  const app = await startWithClerk(clerk)
  const foreign = await generateKeyPair("RS256")
  return {
    app,
    realtime: {
      issuer: ISSUER,
      keys: `${clerk.url}/v1/jwks`,
      headers: { authorization: `Bearer ${SECRET_KEY}` },
    },
    async enter({ name, email, plan }): Promise<Caller> {
      const [first = "", last = ""] = name.split(" ")
      const id = first.toLowerCase()
      clerk.users.set(`user_${id}`, { id: `user_${id}`, email, name: [first, last], plan })
      clerk.apiKeys.set(`ak_${id}`, `user_${id}`)
      const claims = claimsOf(app.origin, id, plan)
      const { azp: _, ...anywhere } = claims
      const bad = {
        ended: await clerk.mint(claims, { life: -60 }),
        forged: await clerk.mint(claims, { key: foreign.privateKey }),
        "made for another site": await clerk.mint({ ...claims, azp: "https://neighbour.example.org" }),
        "made for no site": await clerk.mint(anywhere),
        "of a session that must do more first": await clerk.mint({ ...claims, sts: "pending" }),
        "of another kind": await clerk.mint(claims, { kind: "template" }),
      }
      const token = await clerk.mint(claims)
      return {
        userId: `user_${id}`,
        email,
        cookies: cookiesOf(token),
        bearers: { "session token": token, "API key": `ak_${id}` },
        bad: {
          cookies: Object.fromEntries(Object.entries(bad).map(([kind, value]) => [kind, cookiesOf(value)])),
          bearers: {
            ...bad,
            "invented API key": "ak_nobody",
            "machine token": "mt_nobody",
            "OAuth token": "oat_nobody",
          },
        },
      }
    },
    async stop() {
      await app.stop()
      clerk.close()
    },
  }
})

describe("Clerk", () => {
  let clerk: Clerk
  let app: TidelineApp
  let sql: postgres.Sql
  beforeAll(async () => {
    clerk = await startClerk()
    app = await startWithClerk(clerk)
    sql = postgres(app.databaseUrl, { max: 2 })
  })
  afterAll(async () => {
    await sql.end()
    await app.stop()
    clerk.close()
  })

  async function browse(
    name: string,
    { plan = "free", pla = plan }: { plan?: "free" | "pro"; pla?: string } = {},
  ) {
    const id = `user_${name}`
    clerk.users.set(id, { id, email: `${name}@example.org`, name: [name, "Example"], plan })
    return openBrowser(app, cookiesOf(await clerk.mint(claimsOf(app.origin, name, pla))))
  }

  test("provides the values of the record, and is not asked again at the next visit", async () => {
    const send = await browse("ada", { plan: "pro" })
    await send("/onboarding")
    const atFirst = clerk.asked.length
    expect(clerk.asked).toContain("GET /v1/users/user_ada")
    await send("/onboarding")
    expect(clerk.asked.slice(atFirst)).not.toContain("GET /v1/users/user_ada")
    const [record] = await sql`select email, name, image_url, plan from users where clerk_id = 'user_ada'`
    expect(record).toEqual({
      email: "ada@example.org",
      name: "ada Example",
      image_url: "https://img.clerk.com/user_ada",
      plan: "pro",
    })
  })

  test("is not asked to check a session", async () => {
    const send = await browse("grace")
    await send("/api/files")
    const before = clerk.asked.length
    expect((await send("/api/files")).status).toBe(200)
    expect(clerk.asked.slice(before)).toEqual([])
  })

  test("ends its session when someone signs out", async () => {
    const send = await browse("edsger")
    await send("/sign-out", { method: "POST" })
    expect(clerk.revoked).toContain("sess_edsger")
  })

  test("no longer authenticates a deleted user", async () => {
    const token = await clerk.mint(claimsOf(app.origin, "ghost", "pro"))
    const headers = { authorization: `Bearer ${token}` }
    expect((await fetch(`${app.origin}/api/files`, { headers })).status).toBe(403)
    expect((await openBrowser(app, cookiesOf(token))("/onboarding")).status).toBe(403)
    const question = { id: "1", role: "user", parts: [{ type: "text", text: "Hello" }] }
    const body = JSON.stringify({ messages: [question] })
    const chat = await fetch(`${app.origin}/api/chat`, { method: "POST", headers, body })
    expect(chat.status).toBe(403)
    expect(await chat.json()).toEqual({
      error: expect.stringContaining("no longer exists"),
      reason: "account-gone-at-provider",
    })
    expect(chat.headers.has("x-ratelimit-remaining")).toBe(true)
  })

  test("opens no live connection for an API key, which belongs to no session", async () => {
    await browse("alan")
    clerk.apiKeys.set("ak_alan", "user_alan")
    const response = await fetch(`${app.origin}/api/realtime/token`, {
      headers: { authorization: "Bearer ak_alan" },
    })
    expect(response.status).toBe(403)
    expect(await response.json()).toEqual({ error: expect.stringContaining("session") })
  })

  test("provides sign-in and sign-up itself: ours have no form, and nothing is served under /api/auth", async () => {
    for (const path of ["/sign-in", "/sign-up", "/sign-in/factor-one", "/sign-up/verify-email-address"]) {
      const response = await fetch(app.origin + path)
      expect([path, response.status]).toEqual([path, 200])
      expect(await response.text()).not.toContain(`type="password"`)
    }
    expect(
      (await fetch(`${app.origin}/sign-in/forgot-password`, { redirect: "manual" })).headers.get("location"),
    ).toBe("/sign-in")
    const body = new URLSearchParams({ email: "ada@example.org", password: "whatever it may be" })
    const posted = await fetch(`${app.origin}/sign-in`, { method: "POST", body, redirect: "manual" })
    expect([posted.status, posted.headers.get("location")]).toEqual([302, "/sign-in"])
    expect((await fetch(`${app.origin}/api/auth/jwks`)).status).toBe(404)
  })

  test("has its browser code on the page, and its secret key nowhere", async () => {
    const page = await (await fetch(`${app.origin}/sign-in`)).text()
    expect(page).toContain(PUBLISHABLE_KEY)
    expect(page).not.toContain(SECRET_KEY)
  })
})
