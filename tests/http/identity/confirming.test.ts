import postgres from "postgres"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { ALL } from "../../support/all.ts"
import { startTideline, type TidelineApp } from "../../support/app.ts"
import { runBuiltCommand } from "../../support/commands.ts"
import { findEmail } from "../../support/inbox.ts"
import { openBrowser, postJson } from "../../support/people.ts"
import { addSecondFactor } from "../../support/second-factor.ts"

const INTRUDERS = "what the other person chose"
const OWNERS = "what the owner chooses"

const isUser = (send: Browser) => send("/api/files").then(({ status }) => status === 200)

type Browser = ReturnType<typeof openBrowser>

describe.each(["optional", "required"])("with EMAIL_VERIFICATION=%s", (verification) => {
  /** What the setting makes no difference to. */
  const once = test.runIf(ALL || verification === "optional")

  let app: TidelineApp
  let sql: postgres.Sql
  beforeAll(async () => {
    app = await startTideline({
      EMAIL_VERIFICATION: verification,
      ADMIN_EMAILS: "boss@example.org, claimed@example.org",
    })
    sql = postgres(app.databaseUrl, { max: 1 })
  })
  afterAll(async () => {
    await sql.end()
    await app.stop()
  })

  test("someone who signed up with another person's address keeps nothing once its owner confirms it", async () => {
    const email = "victim@example.org"
    const intruder = await signUp(email)
    const key = verification === "optional" ? await makeKey(intruder) : null
    const owner = openBrowser(app)
    const link = await linkTo(email)

    const page = await owner(link)
    expect([page.status, page.headers.get("cache-control")]).toEqual([200, "private, no-store"])
    const text = await page.text()
    expect(text).toContain("Choose a password")
    expect(text).toContain(email)
    expect(await isConfirmed(email)).toBe(false)
    expect(await isUser(owner)).toBe(false)

    expect((await confirm(owner, link, "short")).status).toBe(400)
    const confirmed = await confirm(owner, link, OWNERS)
    expect([confirmed.status, confirmed.headers.get("location")]).toEqual([303, "/dashboard"])
    expect(await isConfirmed(email)).toBe(true)
    expect(await isUser(owner)).toBe(true)

    expect(await isUser(intruder)).toBe(false)
    if (key !== null) {
      const headers = { authorization: `Bearer ${key}` }
      expect((await fetch(`${app.origin}/api/files`, { headers })).status).toBe(401)
    }
    expect((await signIn(openBrowser(app), email, INTRUDERS)).status).toBe(401)
    expect((await signIn(openBrowser(app), email, OWNERS)).status).toBe(200)
  })

  once("the link of a confirmed address changes nothing, no matter who opens it", async () => {
    const email = "done@example.org"
    const holder = await signUp(email)
    const link = await linkTo(email)
    await holder(link)
    const finder = openBrowser(app)
    expect((await finder(link)).headers.get("location")).toBe("/sign-in?confirmed")
    expect((await confirm(finder, link, OWNERS)).headers.get("location")).toBe("/sign-in?confirmed")
    expect(await isUser(finder)).toBe(false)
    expect((await signIn(openBrowser(app), email, INTRUDERS)).status).toBe(200)
  })

  once(
    "the link for an account that no longer exists does not open the next one with its address",
    async () => {
      const email = "handed-on@example.org"
      await signUp(email)
      const old = await linkTo(email)
      await sql`delete from auth.user where email = ${email}`
      const holder = await signUp(email)

      const previous = openBrowser(app)
      expect((await previous(old)).status).toBe(400)
      expect((await confirm(previous, old, OWNERS)).status).toBe(400)
      expect((await holder(old)).status).toBe(400)
      expect(await isConfirmed(email)).toBe(false)
      expect((await signIn(openBrowser(app), email, OWNERS)).status).toBe(401)
    },
  )

  test("anyone who signed up and opens the link in the same browser continues directly", async () => {
    const email = "same@example.org"
    const holder = await signUp(email)
    const key = verification === "optional" ? await makeKey(holder) : null
    const opened = await holder(await linkTo(email), { headers: { "sec-fetch-site": "cross-site" } })
    expect([opened.status, opened.headers.get("location")]).toEqual([302, "/dashboard"])
    expect(await isConfirmed(email)).toBe(true)
    expect(await isUser(holder)).toBe(true)
    expect((await signIn(openBrowser(app), email, INTRUDERS)).status).toBe(200)
    if (key === null) return
    expect(
      (await fetch(`${app.origin}/api/files`, { headers: { authorization: `Bearer ${key}` } })).status,
    ).toBe(200)
  })

  once("a browser signed in to another account does not count as this account's", async () => {
    const email = "another@example.org"
    await signUp(email)
    const neighbour = await signUp("neighbour@example.org")
    await neighbour(await linkTo("neighbour@example.org"))
    expect((await neighbour(await linkTo(email))).status).toBe(200)
    expect(await isConfirmed(email)).toBe(false)
  })

  once("a browser that signed up with an existing address does not count as that account's", async () => {
    const email = "contested@example.org"
    await signUp(email)
    const owner = openBrowser(app)
    await postJson(owner, "/api/auth/sign-up/email", { name: "Owner", email, password: OWNERS })
    expect((await owner(await linkTo(email))).status).toBe(200)
    expect(await isConfirmed(email)).toBe(false)
  })

  test.each([
    ["made up", () => "nonsense"],
    ["cut short", (token: string) => token.slice(0, -1)],
    ["for nobody", () => "eyJhbGciOiJub25lIn0.eyJlbWFpbCI6InZpY3RpbUBleGFtcGxlLm9yZyJ9."],
    ["missing", () => ""],
  ])("a link whose token is %s confirms nothing, and says what to do", async (_what, forge) => {
    const email = "same@example.org"
    const token = new URL(await linkTo(email), app.origin).searchParams.get("token") ?? ""
    const browser = openBrowser(app)
    const link = `/sign-up/confirm?${new URLSearchParams({ token: forge(token) })}`
    const page = await browser(link)
    expect([page.status, await page.text()]).toEqual([400, expect.stringContaining("Reset your password")])
    expect((await confirm(browser, link, OWNERS)).status).toBe(400)
    expect(await isUser(browser)).toBe(false)
  })

  test("a reset by email also confirms the address, and signs out the other person", async () => {
    const email = "reset@example.org"
    const intruder = await signUp(email)
    const owner = openBrowser(app)
    await resetByEmail(owner, email)
    expect(await isConfirmed(email)).toBe(true)
    expect(await isUser(intruder)).toBe(false)
    expect((await signIn(owner, email, OWNERS)).status).toBe(200)
    expect((await owner(await linkTo(email))).headers.get("location")).toBe("/dashboard")
  })

  describe("an address in ADMIN_EMAILS", () => {
    once(
      "does not make an operator of someone who registered it first, or who only has access to its mailbox",
      async () => {
        const email = "claimed@example.org"
        const intruder = await signUp(email)
        const link = await linkTo(email)
        const owner = openBrowser(app)
        await owner(link)
        await confirm(owner, link, OWNERS)
        expect((await intruder("/admin")).status).toBe(302)
        const page = await owner("/admin")
        expect([page.status, await page.text()]).toEqual([
          403,
          expect.stringContaining("npm run user -- reset-password"),
        ])
        await resetOnServer(owner, email)
        expect((await signIn(owner, email, "from the server itself")).status).toBe(200)
        await addSecondFactor(owner, "from the server itself")
        expect((await owner("/admin")).status).toBe(200)
      },
    )

    test("makes an operator of the person who signed up and confirmed it there, until a reset by email", async () => {
      const email = "boss@example.org"
      const boss = await signUp(email)
      expect((await boss("/admin")).status).toBe(verification === "optional" ? 404 : 302)
      await boss(await linkTo(email))
      const phone = await addSecondFactor(boss, INTRUDERS)
      expect((await boss("/admin")).status).toBe(200)

      const thief = openBrowser(app)
      await resetByEmail(thief, email)
      expect((await signIn(thief, email, OWNERS)).status).toBe(200)
      expect((await thief("/admin")).status).toBe(302)
      const stolen = { code: phone.code() }
      expect((await postJson(thief, "/api/auth/two-factor/verify-totp", stolen)).status).toBe(200)
      expect((await thief("/admin")).status).toBe(403)
    })
  })

  async function signUp(email: string): Promise<Browser> {
    const browser = openBrowser(app)
    const answer = await postJson(browser, "/api/auth/sign-up/email", {
      name: "S",
      email,
      password: INTRUDERS,
    })
    expect(answer.status).toBe(200)
    return browser
  }

  async function linkTo(email: string): Promise<string> {
    const { text } = await findEmail(app, email, /confirm/i)
    const { pathname, search } = new URL(/http:\S+token=\S+/.exec(text)?.[0] ?? "")
    return pathname + search
  }

  async function confirm(browser: Browser, link: string, password: string) {
    const token = new URL(link, app.origin).searchParams.get("token") ?? ""
    return browser(link, { method: "POST", body: new URLSearchParams({ token, password }) })
  }

  async function resetByEmail(browser: Browser, email: string) {
    await postJson(browser, "/api/auth/request-password-reset", { email })
    const { text } = await findEmail(app, email, /reset/i)
    await reset(browser, /token=(\w+)/.exec(text)?.[1] ?? "", OWNERS)
  }

  async function resetOnServer(browser: Browser, email: string) {
    const { output } = await runBuiltCommand("user", ["reset-password", email], {
      folder: app.dataDir,
      env: { DATABASE_URL: app.databaseUrl, APP_URL: app.origin },
    })
    await reset(browser, /token=(\w+)/.exec(output)?.[1] ?? "", "from the server itself")
  }

  async function isConfirmed(email: string) {
    const [row] = await sql`select email_verified from auth.user where email = ${email}`
    return row?.["email_verified"]
  }
})

async function signIn(browser: Browser, email: string, password: string) {
  return postJson(browser, "/api/auth/sign-in/email", { email, password })
}

async function makeKey(browser: Browser): Promise<string> {
  const made = await postJson(browser, "/api/auth/api-key/create", { name: "a script" })
  return ((await made.json()) as { key: string }).key
}

async function reset(browser: Browser, token: string, password: string) {
  const body = new URLSearchParams({ token, password })
  expect((await browser("/sign-in/new-password", { method: "POST", body })).status).toBe(303)
}
