import postgres from "postgres"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { startTideline, type TidelineApp } from "../../support/app.ts"
import { findEmail } from "../../support/inbox.ts"
import { openBrowser, postJson, signIn, signUp } from "../../support/people.ts"
import { describeIdentity, type Caller, type Deployment } from "./suite.ts"

const SESSION = "tideline.session_token"

describeIdentity("the embedded provider", async (): Promise<Deployment> => {
  const app = await startTideline()
  const sql = postgres(app.databaseUrl, { max: 2 })
  return {
    app,
    realtime: { issuer: app.origin, keys: `${app.origin}/api/auth/jwks` },
    async enter({ plan, ...person }): Promise<Caller> {
      const browser = await signUp(app, person)
      await sql`update auth.user set plan = ${plan} where email = ${person.email}`
      const [account] = await sql<[{ id: string }]>`select id from auth.user where email = ${person.email}`
      const session = valueOf(browser.cookie())
      const ended = valueOf((await signIn(app, person)).cookie())
      await sql`update auth.session set expires_at = now() - interval '1 second' where token = ${ended.split(".")[0] ?? ""}`
      const key = await browser.apiKey()
      const oldKey = await browser.apiKey()
      await sql`update auth.apikey set expires_at = now() - interval '1 second' where start = ${oldKey.slice(0, 9)}`
      const forged = `${session.split(".")[0]}.${btoa("x".repeat(32))}`
      return {
        userId: account.id,
        email: person.email,
        cookies: { [SESSION]: session },
        bearers: { "API key": key },
        bad: {
          cookies: {
            ended: { [SESSION]: ended },
            forged: { [SESSION]: encodeURIComponent(forged) },
            unsigned: { [SESSION]: session.split(".")[0] ?? "" },
            empty: { [SESSION]: "" },
          },
          bearers: {
            "signed session": decodeURIComponent(session),
            "session's token": session.split(".")[0] ?? "",
            "ended API key": oldKey,
            "altered API key": `${key.slice(0, -1)}${key.endsWith("a") ? "b" : "a"}`,
            "invented API key": `tide_${"x".repeat(64)}`,
          },
        },
      }
    },
    async stop() {
      await sql.end()
      await app.stop()
    },
  }
})

describe("the embedded provider", () => {
  let app: TidelineApp
  let sql: postgres.Sql
  beforeAll(async () => {
    app = await startTideline()
    sql = postgres(app.databaseUrl, { max: 2 })
  })
  afterAll(async () => {
    await sql.end()
    await app.stop()
  })

  test("signs up with a plain form, and leads to onboarding with a cookie that scripts cannot read", async () => {
    const send = openBrowser(app)
    const fields = {
      name: "Mary Somerville",
      email: "Mary@Example.org",
      password: "mechanism of the heavens",
    }
    const response = await send("/sign-up", form(fields))
    expect([response.status, response.headers.get("location")]).toEqual([303, "/onboarding"])
    const [cookie] = response.headers.getSetCookie()
    expect(cookie).toMatch(/^tideline\.session_token=/)
    for (const attribute of [/HttpOnly/i, /SameSite=Lax/i, /Path=\//i]) expect(cookie).toMatch(attribute)
    expect((await send("/onboarding")).status).toBe(200)
    const [account] =
      await sql`select email, plan, email_verified from auth.user where email = 'mary@example.org'`
    expect(account).toEqual({ email: "mary@example.org", plan: "free", email_verified: false })
  })

  test("opens the requested page after signing up or in", async () => {
    const send = openBrowser(app)
    const fields = { name: "Emmy", email: "emmy@example.org", password: "every symmetry conserves" }
    const up = await send("/sign-up?redirect_url=%2Fdashboard%2Ffiles", form(fields))
    expect(up.headers.get("location")).toBe("/dashboard/files")
    const back = await openBrowser(app)("/sign-in?redirect_url=%2Fdashboard%2Fchat", form(fields))
    expect(back.headers.get("location")).toBe("/dashboard/chat")
    const evil = await openBrowser(app)("/sign-in?redirect_url=%2F%2Fevil.example", form(fields))
    expect(evil.headers.get("location")).toBe("/dashboard")
  })

  test("reports errors at each field, and keeps what was typed except the password", async () => {
    const fields = { name: " ", email: "no address", password: "short" }
    const response = await openBrowser(app)("/sign-up", form(fields))
    expect(response.status).toBe(400)
    const page = await response.text()
    expect(page).toContain("Enter your name.")
    expect(page).toContain("Enter an email address such as ada@example.org.")
    expect(page).toContain("Choose a password of at least 10 characters.")
    expect(page).toContain(`value="no address"`)
    expect(page).not.toContain(`value="short"`)
    expect(page.match(/aria-invalid="true"/g)).toHaveLength(3)
    expect(page.match(/autofocus=""/gi)).toHaveLength(1)
  })

  test("applies the same name limits at its endpoints as in the forms", async () => {
    const person = await signUp(app, someone("limits"))
    for (const name of ["x".repeat(101), "a\u0000b", "a\nb", " ", 7]) {
      const account = { name, email: "unfit@example.org", password: "an engine of brass" }
      expect((await postJson(openBrowser(app), "/api/auth/sign-up/email", account)).status).toBe(400)
    }
    for (const name of ["x".repeat(33), "a\u0000b", "", undefined])
      expect((await postJson(person, "/api/auth/api-key/create", { name })).status).toBe(400)
    const more = { name: "a script", metadata: { a: 1 }, userId: "somebody" }
    expect((await postJson(person, "/api/auth/api-key/create", more)).status).toBe(400)
    expect(await sql`select 1 from auth.user where email = 'unfit@example.org'`).toEqual([])
    expect(
      await sql`select 1 from auth.apikey k join auth.user u on u.id = k.reference_id where u.email = ${person.email}`,
    ).toEqual([])
  })

  test("responds identically to a wrong password and an unknown address", async () => {
    await signUp(app, someone("sophie"))
    const answers = []
    for (const email of ["sophie@example.org", "nobody@example.org"]) {
      const api = await postJson(openBrowser(app), "/api/auth/sign-in/email", {
        email,
        password: "not the password",
      })
      const page = await openBrowser(app)("/sign-in", form({ email, password: "not the password" }))
      expect(page.headers.getSetCookie()).toEqual([])
      const text = await page.text()
      expect(text).toContain("and password don&#x27;t match")
      answers.push([api.status, await api.text(), page.status, text.length - email.length * 2])
    }
    expect(answers[0]?.slice(0, 3)).toEqual(answers[1]?.slice(0, 3))
    expect(answers[0]?.[0]).toBe(401)
  })

  test("lets nobody choose their plan, image or role", async () => {
    const send = openBrowser(app)
    const account = { name: "Eve", email: "eve@example.org", password: "the forbidden fruit", plan: "pro" }
    for (const field of [{}, { image: "https://evil.example/eve.png" }, { holderConfirmed: true }])
      expect((await postJson(send, "/api/auth/sign-up/email", { ...account, ...field })).status).toBe(400)
    expect(await sql`select plan from auth.user where email = 'eve@example.org'`).toEqual([])
  })

  test("applies a plan change by the operator from the next request", async () => {
    const send = await signUp(app, someone("hedy"))
    const planOf = async () => {
      const { token } = (await (await send("/api/realtime/token")).json()) as { token: string }
      return (JSON.parse(atob(token.split(".")[1] ?? "")) as { plan: string }).plan
    }
    expect(await planOf()).toBe("free")
    await sql`update auth.user set plan = 'pro' where email = 'hedy@example.org'`
    expect(await planOf()).toBe("pro")
    await sql`update auth.user set plan = 'free' where email = 'hedy@example.org'`
    expect(await planOf()).toBe("free")
  })

  test("renews a session that is used after a day, with its cookie, but not one created today", async () => {
    const hypatia = await signUp(app, someone("hypatia"))
    const own = sql`user_id = (select id from auth.user where email = ${hypatia.email})`
    const days = async () => {
      const [session] = await sql<[{ days: number }]>`
        select extract(epoch from expires_at - now())::float8 / 86400 as days from auth.session where ${own}`
      return session.days
    }
    expect((await hypatia("/api/files")).headers.getSetCookie()).toEqual([])

    await sql`update auth.session set expires_at = now() + interval '143 hours' where ${own}`
    const renewed = await hypatia("/api/files")
    expect(renewed.status).toBe(200)
    expect(renewed.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^tideline\.session_token=.*Max-Age=604800/),
    ])
    expect(await days()).toBeGreaterThan(6.9)
    expect((await hypatia("/api/files")).headers.getSetCookie()).toEqual([])
  })

  test("rejects a session that was not used for a week, however long its cookie is kept", async () => {
    const marie = await signUp(app, someone("marie"))
    const headers = { cookie: marie.cookie() }
    expect((await fetch(`${app.origin}/api/files`, { headers })).status).toBe(200)
    await sql`
      update auth.session set expires_at = now() - interval '1 second'
      where user_id = (select id from auth.user where email = ${marie.email})`
    expect((await fetch(`${app.origin}/api/files`, { headers })).status).toBe(401)
    expect((await fetch(`${app.origin}/api/realtime/token`, { headers })).status).toBe(401)
  })

  test("rejects the old cookie after signing out", async () => {
    const send = await signUp(app, someone("grete"))
    const cookie = send.cookie()
    expect((await fetch(`${app.origin}/api/files`, { headers: { cookie } })).status).toBe(200)
    await send("/sign-out", { method: "POST" })
    expect((await fetch(`${app.origin}/api/files`, { headers: { cookie } })).status).toBe(401)
  })

  test("resets a password with a link that works once, and ends every session and key", async () => {
    const send = await signUp(app, someone("rosalind"))
    const key = await send.apiKey()
    const asked = await openBrowser(app)("/sign-in/forgot-password", form({ email: "Rosalind@example.org" }))
    expect([asked.status, asked.headers.get("location")]).toEqual([303, "/sign-in/forgot-password?sent"])

    const message = await findEmail(app, "rosalind@example.org", /reset/i)
    const link = /http:\S+new-password\?token=\S+/.exec(message.text)?.[0] ?? ""
    expect(link.startsWith(`${app.origin}/sign-in/new-password?token=`)).toBe(true)
    expect(await (await fetch(link)).text()).toContain("Choose a new password")
    const { pathname, search, searchParams } = new URL(link)
    const page = pathname + search
    const token = searchParams.get("token") ?? ""

    const short = await openBrowser(app)(page, form({ token, password: "short" }))
    expect(short.status).toBe(400)
    const password = "a photograph of fifty-one"
    const saved = await openBrowser(app)(page, form({ token, password }))
    expect([saved.status, saved.headers.get("location")]).toEqual([303, "/sign-in?reset"])
    const again = await openBrowser(app)(page, form({ token, password: "a second password" }))
    expect(again.status).toBe(400)
    expect(await again.text()).toContain("This link has been used")

    expect((await send("/api/files")).status).toBe(401)
    expect(
      (await fetch(`${app.origin}/api/files`, { headers: { authorization: `Bearer ${key}` } })).status,
    ).toBe(401)
    await expect(signIn(app, someone("rosalind"))).rejects.toThrow("401")
    expect((await (await signIn(app, { ...someone("rosalind"), password }))("/api/files")).status).toBe(200)
  })

  test("responds identically to a request for an email, with or without an account", async () => {
    const known = await postJson(openBrowser(app), "/api/auth/request-password-reset", {
      email: "mary@example.org",
    })
    const unknown = await postJson(openBrowser(app), "/api/auth/request-password-reset", {
      email: "x@example.org",
    })
    expect([known.status, await known.text()]).toEqual([unknown.status, await unknown.text()])
  })

  test("opens the application to an API key, but not the account", async () => {
    const key = await (await signUp(app, someone("annie"))).apiKey()
    const send = (path: string, init: RequestInit) => {
      const headers = new Headers(init.headers)
      headers.set("authorization", `Bearer ${key}`)
      headers.set("x-api-key", key)
      return fetch(app.origin + path, { ...init, headers })
    }
    expect((await send("/api/files", {})).status).toBe(200)
    expect((await send("/api/realtime/token", {})).status).toBe(200)
    expect((await postJson(send, "/api/auth/api-key/create", { name: "more" })).status).toBe(401)
  })

  test("limits attempts on one account from anywhere, without limiting other accounts", async () => {
    await signUp(app, someone("barbara"))
    const guess = (email: string) =>
      postJson(openBrowser(app), "/api/auth/sign-in/email", { email, password: "a wrong guess at it" })
    for (let i = 0; i < 10; i++) expect((await guess("barbara@example.org")).status).toBe(401)
    const refused = await guess("Barbara@example.org")
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(800)
    const page = await openBrowser(app)("/sign-in", form({ ...someone("barbara"), password: "x".repeat(12) }))
    expect(page.status).toBe(429)
    expect(await page.text()).toContain("Try again in 15 minutes")
    expect((await guess("mary@example.org")).status).toBe(401)
  })

  test("refuses bodies that are not its own forms or are too large", async () => {
    const send = openBrowser(app)
    const large = await postJson(send, "/api/auth/sign-in/email", {
      email: "a@b.org",
      password: "x".repeat(70_000),
    })
    expect(large.status).toBe(413)
    const text = await send("/api/auth/sign-in/email", {
      method: "POST",
      body: "{}",
      headers: { "content-type": "text/plain" },
    })
    expect(text.status).toBe(415)
    expect((await send("/api/auth/token")).status).toBe(404)
    expect((await send("/api/auth/no-such-thing")).status).toBe(404)
  })

  test("after AUTH_SECRET changed requires everyone to sign in again, and signs tokens with a new key", async () => {
    const send = await signUp(app, someone("kathleen"))
    await send("/api/realtime/token")
    const other = await startTideline({
      DATABASE_URL: app.databaseUrl,
      AUTH_SECRET: "another secret for tests, as long as it must be",
    })
    try {
      const old = openBrowser(other, { [SESSION]: valueOf(send.cookie()) })
      expect((await old("/api/files")).status).toBe(401)
      const fresh = await signIn(other, someone("kathleen"))
      expect((await fresh("/api/realtime/token")).status).toBe(200)
    } finally {
      await other.stop()
    }
  })
})

describe("with SIGNUP=closed", () => {
  test("sign-up is refused by the form and the endpoint, and both mention the waitlist", async () => {
    const app = await startTideline({ SIGNUP: "closed" })
    try {
      const fields = { name: "Ada", email: "ada@example.org", password: "an engine of brass" }
      expect(await (await fetch(`${app.origin}/sign-up`)).text()).toContain("Sign-up is closed here")
      const page = await openBrowser(app)("/sign-up", { method: "POST", body: new URLSearchParams(fields) })
      expect(page.status).toBe(403)
      expect(await page.text()).toContain("/waitlist")
      const api = await postJson(openBrowser(app), "/api/auth/sign-up/email", fields)
      expect(api.status).toBe(403)
      expect(await api.json()).toMatchObject({
        code: "SIGNUP_CLOSED",
        message: expect.stringContaining("/waitlist"),
      })
    } finally {
      await app.stop()
    }
  })
})

describe("the limit by network address", () => {
  test("cannot be bypassed with a header that claims another address", async () => {
    const app = await startTideline()
    try {
      expect(
        await statuses(app, (i) => ({
          "x-forwarded-for": `192.0.2.${i}`,
          "x-tideline-client-address": `192.0.2.${i}`,
        })),
      ).toContain(429)
    } finally {
      await app.stop()
    }
  })

  test("trusts the operator's proxy, and nothing added before it", async () => {
    const app = await startTideline({ TRUSTED_PROXIES: "1" })
    try {
      expect(await statuses(app, (i) => ({ "x-forwarded-for": `192.0.2.${i}` }))).not.toContain(429)
      expect(await statuses(app, (i) => ({ "x-forwarded-for": `192.0.2.${i}, 198.51.100.1` }))).toContain(429)
    } finally {
      await app.stop()
    }
  })
})

/** The cookie of the session, which comes first. */
function valueOf(cookies: string) {
  return /=([^;]*)/.exec(cookies)?.[1] ?? ""
}

function someone(name: string) {
  return { name, email: `${name}@example.org` }
}

function form(fields: Record<string, string>): RequestInit {
  return {
    method: "POST",
    body: new URLSearchParams(fields),
    headers: { accept: "text/html" },
  }
}

/** More sign-ins than one address may attempt, each for another account. */
function statuses(app: TidelineApp, headers: (i: number) => Record<string, string>) {
  return Promise.all(
    Array.from({ length: 32 }, async (_, i) => {
      const body = JSON.stringify({ email: `nobody-${i}@example.org`, password: "whatever it is" })
      const answer = await fetch(`${app.origin}/api/auth/sign-in/email`, {
        method: "POST",
        body,
        headers: { "content-type": "application/json", origin: app.origin, ...headers(i) },
      })
      return answer.status
    }),
  )
}
