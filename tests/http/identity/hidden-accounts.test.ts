import { beforeAll, describe, expect, test } from "vitest"
import { findEmail } from "../../support/inbox.ts"
import { addPasskey, askForChallenge, enterWith } from "../../support/passkeys.ts"
import { openBrowser, postJson, signIn } from "../../support/people.ts"
import { withTideline } from "../../support/with-tideline.ts"

const PASSWORD = "an engine of brass"

const { app, sql } = withTideline({ settings: { EMAIL_VERIFICATION: "required" } })

beforeAll(async () => {
  const browser = openBrowser(app)
  await postJson(browser, "/api/auth/sign-up/email", someone("known"))
  await openAccount("known", browser)
})

describe("if addresses have to be confirmed first", () => {
  test("a new account opens only with the link from its email", async () => {
    const browser = openBrowser(app)
    const made = await browser("/sign-up", form(someone("mary")))
    expect([made.status, made.headers.get("location")]).toEqual([303, "/sign-up?sent"])
    expect(await (await browser("/sign-up?sent")).text()).toContain("Check your inbox")
    expect(browser.cookie()).toMatch(/^tideline\.sign_up=[\w-]{43}$/)

    const early = await browser("/sign-in", form(someone("mary")))
    expect([early.status, await early.text()]).toEqual([
      403,
      expect.stringContaining("Confirm your email address first."),
    ])
    expect(await openAccount("mary", browser)).toBe("/dashboard")
    await browser("/sign-out", { method: "POST" })
    expect(await (await browser("/sign-in?confirmed")).text()).toContain("Your email address is confirmed")
    const entered = await browser("/sign-in", form(someone("mary")))
    expect([entered.status, entered.headers.get("location")]).toEqual([303, "/dashboard"])
  })

  test("a passkey does not sign in to an account whose address is not confirmed, and a link is sent", async () => {
    const account = someone("joan")
    const browser = openBrowser(app)
    await postJson(browser, "/api/auth/sign-up/email", account)
    await openAccount("joan", browser)
    await browser("/onboarding")
    await sql`update users set onboarding_completed = true where email = ${account.email}`
    const passkey = await addPasskey(app, await signIn(app, account))
    await sql`update auth.user set email_verified = false where email = ${account.email}`
    await sql`delete from mail_outbox where recipient = ${account.email}`
    const other = openBrowser(app)
    const entered = await enterWith(other, passkey.assert(await askForChallenge(other)))
    expect(entered.headers.get("location")).toContain("problem=address-unconfirmed")
    expect((await other("/api/files")).status).toBe(401)
    expect(await sql`select kind from mail_outbox where recipient = ${account.email}`).toEqual([
      { kind: "verify-address" },
    ])
  })

  test("an account's owner is notified at most once a day that someone tried to sign up with the address", async () => {
    for (let i = 0; i < 2; i++) await openBrowser(app)("/sign-up", form(someone("known")))
    const message = await findEmail(app, "known@example.org", /already have a Tideline account/)
    const lines = message.text.split("\n")
    expect(lines).toContain(`${app.origin}/sign-in`)
    expect(lines).toContain(`${app.origin}/sign-in/forgot-password`)
    const summaries = (await (await fetch(`${app.inbox}/api/messages`)).json()) as { subject: string }[]
    expect(summaries.filter(({ subject }) => /already have a Tideline account/.test(subject))).toHaveLength(1)
    const entered = await openBrowser(app)("/sign-in", form({ ...someone("known") }))
    expect(entered.status).toBe(303)
  })
})

describe("known and unknown addresses get identical responses", () => {
  type Account = ReturnType<typeof someone>
  const wrong = ({ email }: Account) => ({ email, password: "not the password" })
  const address = ({ email }: Account) => ({ email })
  const asks: [
    what: string,
    path: string,
    fields: (person: Account) => Record<string, string>,
    status: number,
  ][] = [
    ["sign-up", "/api/auth/sign-up/email", (person) => person, 200],
    ["the sign-up form", "/sign-up", (person) => person, 303],
    ["sign-in with a wrong password", "/api/auth/sign-in/email", wrong, 401],
    ["the sign-in form", "/sign-in", wrong, 401],
    ["reset", "/api/auth/request-password-reset", address, 200],
    ["the reset form", "/sign-in/forgot-password", address, 303],
  ]

  test.each(asks)("from %s: status, headers, cookies and body", async (what, path, fields, status) => {
    const name = `unknown-${asks.findIndex(([known]) => known === what)}`
    const answers = []
    for (const person of [someone("known"), someone(name)]) {
      const input = fields(person)
      const answer = path.startsWith("/api/")
        ? await postJson(openBrowser(app), path, input)
        : await openBrowser(app)(path, form(input))
      answers.push(await describeResponse(answer, person))
    }
    expect(answers[0]).toEqual(answers[1])
    expect(answers[0]?.status).toBe(status)
    // Both browsers get the same cookie, but for a value that differs between any two.
    const mark = /^tideline\.sign_up=<mark>; Max-Age=86400; /
    expect(answers[0]?.cookies).toEqual(what.includes("sign-up") ? [expect.stringMatching(mark)] : [])
  })
})

/** What tells responses apart, without what differs between any two. */
async function describeResponse(answer: Response, { name, email }: { name: string; email: string }) {
  const varies = new Set(["date", "content-length", "content-security-policy", "set-cookie", "x-request-id"])
  const text = (await answer.text())
    .replaceAll(answer.headers.get("x-request-id") ?? "", "<request>")
    .replaceAll(email, "<email>")
    .replaceAll(name, "<name>")
    .replaceAll(/"id":"\w+"/g, '"id":"<id>"')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>")
    .replaceAll(/nonce="[^"]*"/g, 'nonce="<nonce>"')
  return {
    status: answer.status,
    headers: [...answer.headers].filter(([header]) => !varies.has(header)),
    cookies: answer.headers.getSetCookie().map((cookie) => cookie.replace(/=[\w-]{43};/, "=<mark>;")),
    body: answer.headers.get("content-type")?.includes("json") ? JSON.parse(text) : text,
  }
}

/** Opens the link of the email, and resolves to its redirect target. */
async function openAccount(name: string, browser: ReturnType<typeof openBrowser>): Promise<string | null> {
  const message = await findEmail(app, `${name}@example.org`, /Confirm/)
  const link = /http:\S+sign-up\/confirm\S+/.exec(message.text)?.[0] ?? ""
  return (await browser(link)).headers.get("location")
}

function someone(name: string) {
  return { name, email: `${name}@example.org`, password: PASSWORD }
}

function form(fields: Record<string, string>): RequestInit {
  return { method: "POST", body: new URLSearchParams(fields), headers: { accept: "text/html" } }
}
