import { beforeEach, describe, expect, test } from "vitest"
import { operatorOperations } from "#server/operator/operations-contract.ts"
import { fieldsFor, formFor } from "../../support/forms.ts"
import { findEmail } from "../../support/inbox.ts"
import { openBrowser, postJson, signUp, type Person } from "../../support/people.ts"
import { addSecondFactor, openAuthenticator, type Authenticator } from "../../support/second-factor.ts"
import { withTideline } from "../../support/with-tideline.ts"

const VERIFY = "/api/auth/two-factor/verify-totp"
const VERIFY_RECOVERY = "/api/auth/two-factor/verify-backup-code"
const WRONG = "000000"

type Browser = ReturnType<typeof openBrowser>

const { app, sql } = withTideline({ settings: { ADMIN_EMAILS: "boss@example.org" }, connections: 2 })

// All of them come from one network, and each needs the whole limit.
beforeEach(() => sql`delete from auth.rate_limit`)

let count = 0
async function newPerson(): Promise<{ person: Person; phone: Authenticator }> {
  count += 1
  const person = await signUp(app, { name: "Ada", email: `ada${count}@example.org` })
  return { person, phone: await addSecondFactor(person, person.password) }
}

/** The first step, in a browser that may have cookies already. */
async function enterPassword({ email, password }: Person, browser: Browser = openBrowser(app)) {
  const response = await postJson(browser, "/api/auth/sign-in/email", { email, password })
  expect(response.status).toBe(200)
  return Object.assign(browser, { answer: (await response.json()) as { twoFactorRedirect?: boolean } })
}

const isSignedIn = async (browser: Browser) => (await browser("/api/files")).status === 200

async function enter(browser: Browser, path: string, body: object) {
  const response = await postJson(browser, path, body)
  return [response.status, ((await response.json()) as { code?: string }).code]
}

const post = (browser: Browser, path: string, fields: Record<string, string>) =>
  browser(path, { method: "POST", body: new URLSearchParams(fields) })

async function trust(person: Person, phone: Authenticator) {
  const browser = await enterPassword(person)
  const page = await post(browser, "/sign-in/code", { code: phone.code(), trust: "on" })
  expect(page.status).toBe(303)
  await post(browser, "/sign-out", {})
  expect(await isSignedIn(browser)).toBe(false)
  return browser
}

async function newOnboarded() {
  const made = await newPerson()
  await made.person("/onboarding")
  await sql`update users set onboarding_completed = true`
  return made
}

const remove = (person: Person, fields: Record<string, string>) =>
  person("/dashboard/account", {
    method: "POST",
    body: new URLSearchParams({ intent: "remove-second-factor", ...fields }),
  })

describe("signing in to an account with a second factor", () => {
  test("takes the password and then a code, by the forms", async () => {
    const { person, phone } = await newPerson()
    const browser = openBrowser(app)
    const { email, password } = person
    const first = await post(browser, "/sign-in?redirect_url=/dashboard/files", { email, password })
    expect([first.status, first.headers.get("location")]).toEqual([
      303,
      "/sign-in/code?redirect_url=%2Fdashboard%2Ffiles",
    ])
    expect(await isSignedIn(browser)).toBe(false)
    const path = first.headers.get("location") ?? ""
    expect(await (await browser(path)).text()).toContain("six-digit code")
    const wrong = await post(browser, path, { code: WRONG })
    expect([wrong.status, await wrong.text()]).toEqual([
      401,
      expect.stringContaining("This code is wrong or has been used."),
    ])
    const code = phone.code()
    const second = await post(browser, path, { code: `${code.slice(0, 3)} ${code.slice(3)}` })
    expect([second.status, second.headers.get("location")]).toEqual([303, "/dashboard/files"])
    expect(await isSignedIn(browser)).toBe(true)
  })

  test("leads nowhere outside of the site", async () => {
    const { person, phone } = await newPerson()
    const browser = await enterPassword(person)
    const page = await post(browser, "/sign-in/code?redirect_url=//evil.example", { code: phone.code() })
    expect(page.headers.get("location")).toBe("/dashboard")
  })

  test("keeps nothing of a session that the password alone would have opened", async () => {
    const { person } = await newPerson()
    const before = await sql`select id from auth.session`
    const browser = await enterPassword(person)
    expect(browser.answer.twoFactorRedirect).toBe(true)
    expect(Object.keys(browser.cookies()).filter((name) => name.includes("session"))).toEqual([])
    expect(await sql`select id from auth.session`).toEqual(before)
  })

  test("accepts a code once, in one of two browsers", async () => {
    const { person, phone } = await newPerson()
    const [one, other] = [await enterPassword(person), await enterPassword(person)]
    const code = phone.code()
    const statuses = await Promise.all([enter(one, VERIFY, { code }), enter(other, VERIFY, { code })])
    expect(statuses.filter(([status]) => status === 200)).toHaveLength(1)
    expect(statuses).toContainEqual([401, "INVALID_CODE"])
  })

  test("does not accept the code that finished the set-up", async () => {
    const { person, phone } = await newPerson()
    const browser = await enterPassword(person)
    expect(await enter(browser, VERIFY, { code: phone.lastCode() })).toEqual([401, "INVALID_CODE"])
  })

  test("does not accept a code that is a minute old, or of the next minute", async () => {
    const { person, phone } = await newPerson()
    const browser = await enterPassword(person)
    for (const halfMinutes of [-3, -2, 3])
      expect([halfMinutes, ...(await enter(browser, VERIFY, { code: phone.codeAt(halfMinutes) }))]).toEqual([
        halfMinutes,
        401,
        "INVALID_CODE",
      ])
  })

  test("does not accept a code of another account, nor without the first step", async () => {
    const { person } = await newPerson()
    const other = await newPerson()
    const browser = await enterPassword(person)
    expect(await enter(browser, VERIFY, { code: other.phone.code() })).toEqual([401, "INVALID_CODE"])
    const nobody = openBrowser(app)
    expect(await enter(nobody, VERIFY, { code: other.phone.lastCode() })).toEqual([
      401,
      "INVALID_TWO_FACTOR_COOKIE",
    ])
    const page = await post(nobody, "/sign-in/code", { code: other.phone.lastCode() })
    expect([page.status, await page.text()]).toEqual([
      401,
      expect.stringContaining("This sign-in has expired."),
    ])
  })

  test("is over when the first step is ten minutes old, has been tampered with, or was used", async () => {
    const { person, phone } = await newPerson()
    const expired = await enterPassword(person)
    await sql`update auth.verification set expires_at = now() where identifier like '2fa-%'`
    expect((await enter(expired, VERIFY, { code: phone.code() }))[0]).toBe(401)
    expect(await isSignedIn(expired)).toBe(false)

    const { cookies } = await enterPassword(person)
    const [name = "", value = ""] =
      Object.entries(cookies()).find(([key]) => key.includes("two_factor")) ?? []
    const forged = openBrowser(app, { [name]: value.replace("2fa-", "2fa-x") })
    const [code] = phone.recoveryCodes
    expect(await enter(forged, VERIFY_RECOVERY, { code })).toEqual([401, "INVALID_TWO_FACTOR_COOKIE"])

    const copied = openBrowser(app, { [name]: value })
    expect((await enter(copied, VERIFY_RECOVERY, { code }))[0]).toBe(200)
    const again = openBrowser(app, { [name]: value })
    expect((await enter(again, VERIFY_RECOVERY, { code: phone.recoveryCodes[1] }))[0]).toBe(401)
  })

  test("accepts each recovery code once, however it is typed", async () => {
    const { person, phone } = await newPerson()
    const [code = "", second = ""] = phone.recoveryCodes
    const browser = await enterPassword(person)
    const page = await post(browser, "/sign-in/code", { code: code.toUpperCase().replace("-", " ") })
    expect(page.status).toBe(303)
    expect(await isSignedIn(browser)).toBe(true)
    const again = await enterPassword(person)
    expect(await enter(again, VERIFY_RECOVERY, { code })).toEqual([401, "INVALID_BACKUP_CODE"])
    expect((await enter(again, VERIFY_RECOVERY, { code: second }))[0]).toBe(200)
  })

  test("says that the server's secret has changed, instead of failing", async () => {
    const { person, phone } = await newPerson()
    // A text that was encrypted with another secret.
    await sql`update auth.two_factor set secret = reverse(secret) where user_id in (
      select id from auth.user where email = ${person.email})`
    const browser = await enterPassword(person)
    expect(await enter(browser, VERIFY, { code: phone.code() })).toEqual([401, "FACTOR_UNREADABLE"])
    const [recoveryCode = ""] = phone.recoveryCodes
    expect(await enter(browser, VERIFY_RECOVERY, { code: recoveryCode })).toEqual([401, "FACTOR_UNREADABLE"])
    expect(await isSignedIn(browser)).toBe(false)
  })

  test("slows guesses at the account, over many sign-ins", async () => {
    const { person, phone } = await newPerson()
    const refusals: unknown[] = []
    let last = openBrowser(app)
    for (let guess = 0; guess < 12; guess += 1) {
      const browser = guess % 4 === 0 ? await enterPassword(person) : undefined
      last = browser ?? last
      refusals.push((await enter(last, VERIFY, { code: String(guess).padStart(6, "0") }))[0])
    }
    expect(refusals.filter((status) => status === 401)).toHaveLength(10)
    expect(refusals.slice(10)).toEqual([429, 429])
    const page = await post(await enterPassword(person), "/sign-in/code", { code: phone.code() })
    expect([page.status, await page.text()]).toEqual([429, expect.stringContaining("Too many attempts")])
    await sql`delete from auth.rate_limit`
  })

  test("slows guesses from one network, at many accounts", async () => {
    const people = await Promise.all(Array.from({ length: 4 }, newPerson))
    // The codes that finished the set-up.
    await sql`delete from auth.rate_limit`
    const browsers = []
    for (const { person } of people) browsers.push(await enterPassword(person))
    const statuses: unknown[] = []
    for (let guess = 0; guess < 36; guess += 1)
      statuses.push((await enter(browsers[guess % 4] ?? openBrowser(app), VERIFY, { code: WRONG }))[0])
    expect(statuses).toEqual([...Array(30).fill(401), ...Array(6).fill(429)])
    await sql`delete from auth.rate_limit`
  })
})

describe("a browser that is trusted", () => {
  test("spares the code for the account it was trusted with, and for no other", async () => {
    const { person, phone } = await newPerson()
    const browser = await trust(person, phone)
    expect((await enterPassword(person, browser)).answer.twoFactorRedirect).toBeUndefined()
    expect(await isSignedIn(browser)).toBe(true)
    // No code is required again, because the session counts as one that passed the second factor.
    expect((await browser("/second-factor")).status).toBe(200)
    expect(await (await browser("/second-factor")).text()).toContain("Two-factor authentication is on")

    const other = await newPerson()
    const trusted = openBrowser(app, browser.cookies())
    await post(trusted, "/sign-out", {})
    expect((await enterPassword(other.person, trusted)).answer.twoFactorRedirect).toBe(true)
  })

  test("is forgotten with a new password, and after 30 days", async () => {
    const { person, phone } = await newPerson()
    const browser = await trust(person, phone)
    const next = "another engine of brass"
    const body = { currentPassword: person.password, newPassword: next, revokeOtherSessions: true }
    expect((await postJson(person, "/api/auth/change-password", body)).status).toBe(200)
    // The session keeps its level.
    expect(await isSignedIn(person)).toBe(true)
    Object.assign(person, { password: next })
    expect((await enterPassword(person, browser)).answer.twoFactorRedirect).toBe(true)

    const second = await newPerson()
    const trusted = await trust(second.person, second.phone)
    await sql`update auth.verification set expires_at = now() where identifier like 'trust-device-%'`
    expect((await enterPassword(second.person, trusted)).answer.twoFactorRedirect).toBe(true)
  })
})

describe("setting up a second factor", () => {
  test("asks for the password, shows a QR code, and then the recovery codes once", async () => {
    const person = await signUp(app, { name: "Grace", email: "grace@example.org" })
    const other = await enterPassword(person)
    expect(await isSignedIn(other)).toBe(true)
    const wrong = await post(person, "/second-factor", { step: "begin", password: "not this one" })
    expect([wrong.status, await wrong.text()]).toEqual([
      400,
      expect.stringContaining("That is not your password."),
    ])
    const begun = await post(person, "/second-factor", { step: "begin", password: person.password })
    const html = await begun.text()
    expect(begun.headers.get("cache-control")).toContain("no-store")
    expect(html).toContain('<svg role="img" aria-label="QR code')
    const uri = /name="uri" value="([^"]+)"/.exec(html)?.[1]?.replaceAll("&amp;", "&") ?? ""
    expect(uri).toContain("grace%40example.org")
    const phone = openAuthenticator(uri)
    const missed = await post(person, "/second-factor", { step: "confirm", uri, code: WRONG })
    expect([missed.status, await missed.text()]).toEqual([
      401,
      expect.stringContaining(uri.split("&")[0] ?? uri),
    ])
    expect(await isSignedIn(other)).toBe(true)

    const done = await post(person, "/second-factor", { step: "confirm", uri, code: phone.code() })
    const codes = (await done.text()).match(/[a-z2-9]{5}-[a-z2-9]{5}(?=<)/g) ?? []
    expect(codes).toHaveLength(10)
    expect(await isSignedIn(person)).toBe(true)
    expect(await isSignedIn(other)).toBe(false)
    const browser = await enterPassword(person)
    expect((await enter(browser, VERIFY_RECOVERY, { code: codes[3] }))[0]).toBe(200)
    const [row] =
      await sql`select secret, backup_codes from auth.two_factor f join auth.user u on u.id = f.user_id
      where u.email = ${person.email}`
    expect(JSON.stringify(row)).not.toMatch(
      new RegExp(`${codes[0]}|${new URL(uri).searchParams.get("secret")}`),
    )
  })

  test.each([
    ["ASCII", "x".repeat(4000)],
    ["other characters", "€".repeat(980)],
  ])("draws no address that a QR code cannot hold, of %s", async (_, text) => {
    const person = await signUp(app, { name: "Ada", email: `drawn${text.length}@example.org` })
    for (const code of ["", WRONG]) {
      const step = { step: "confirm", uri: `otpauth://totp/${text}`, code }
      const refused = await post(person, "/second-factor", step)
      expect([refused.status, await refused.text()]).toEqual([400, expect.not.stringContaining("<svg role")])
    }
  })

  test("counts for nothing until a code was entered, and cannot be begun again after", async () => {
    const person = await signUp(app, { name: "Grace", email: "grace2@example.org" })
    expect(
      (await postJson(person, "/api/auth/two-factor/enable", { password: person.password })).status,
    ).toBe(200)
    expect(await isSignedIn(await enterPassword(person))).toBe(true)
    await addSecondFactor(person, person.password)
    const again = await enter(person, "/api/auth/two-factor/enable", { password: person.password })
    expect(again).toEqual([400, "TOTP_ALREADY_ENABLED"])
  })

  test("is not for an API key", async () => {
    const person = await signUp(app, { name: "Grace", email: "grace3@example.org" })
    const authorization = `Bearer ${await person.apiKey()}`
    const headers = { authorization, "content-type": "application/json", origin: app.origin }
    const body = JSON.stringify({ password: person.password })
    const url = `${app.origin}/api/auth/two-factor/enable`
    expect((await fetch(url, { method: "POST", headers, body })).status).toBe(401)
    expect((await fetch(`${app.origin}/second-factor`, { headers: { authorization } })).status).toBe(401)
  })
})

describe("removing a second factor", () => {
  test("takes the password and a code", async () => {
    const { person, phone } = await newOnboarded()
    const { password: current } = person
    expect((await remove(person, { current, code: phone.lastCode() })).status).toBe(401)
    expect((await remove(person, { current, code: WRONG })).status).toBe(401)
    const code = phone.code()
    expect((await remove(person, { current: "not this one", code })).status).toBe(400)
    expect((await enterPassword(person)).answer.twoFactorRedirect).toBe(true)
    const body = { password: current }
    expect((await postJson(person, "/api/auth/two-factor/disable", body)).status).toBe(400)

    expect((await remove(person, { current, code })).status).toBe(200)
    expect((await enterPassword(person)).answer.twoFactorRedirect).toBeUndefined()
    expect(
      await sql`select 1 from auth.session s join auth.user u on u.id = s.user_id
      where u.email = ${person.email} and s.second_factor`,
    ).toEqual([])
  })

  test("is possible with a recovery code, and so are new ones, which end the old", async () => {
    const { person, phone } = await newOnboarded()
    const [first = "", second = "", third = ""] = phone.recoveryCodes
    const { password } = person
    const path = "/api/auth/two-factor/generate-backup-codes"
    expect((await postJson(person, path, { password })).status).toBe(400)
    expect((await postJson(person, path, { password, code: "wrong-codes" })).status).toBe(401)
    const renewed = await postJson(person, path, { password, code: first })
    const { backupCodes } = (await renewed.json()) as { backupCodes: string[] }
    expect((await remove(person, { current: password, code: second })).status).toBe(401)
    expect((await enter(await enterPassword(person), VERIFY_RECOVERY, { code: third }))[0]).toBe(401)
    expect((await remove(person, { current: password, code: backupCodes[0] ?? "" })).status).toBe(200)
  })
})

describe("somebody who signed up with an address that is not theirs", () => {
  test("leaves no second factor to its owner, who resets the password", async () => {
    const { person } = await newPerson()
    await postJson(openBrowser(app), "/api/auth/request-password-reset", { email: person.email })
    const { text } = await findEmail(app, person.email, /password/i)
    const token = /token=([\w-]+)/.exec(text)?.[1]
    const password = "the owner's own password"
    const body = { token, newPassword: password }
    expect((await postJson(openBrowser(app), "/api/auth/reset-password", body)).status).toBe(200)
    const owner = await enterPassword(Object.assign(person, { password }))
    expect(await isSignedIn(owner)).toBe(true)
  })
})

describe("an owner who resets the password of a confirmed address", () => {
  test("is still asked for the code", async () => {
    const { person } = await newPerson()
    await sql`update auth.user set email_verified = true where email = ${person.email}`
    await postJson(openBrowser(app), "/api/auth/request-password-reset", { email: person.email })
    const { text } = await findEmail(app, person.email, /password/i)
    const body = { token: /token=([\w-]+)/.exec(text)?.[1], newPassword: "a password by email" }
    expect((await postJson(openBrowser(app), "/api/auth/reset-password", body)).status).toBe(200)
    const browser = await enterPassword(Object.assign(person, { password: "a password by email" }))
    expect(browser.answer.twoFactorRedirect).toBe(true)
  })
})

describe("a session that has not shown the factor of its account", () => {
  test("opens nothing but the page that asks for it", async () => {
    const { person, phone } = await newPerson()
    // As left by a process of an earlier version, which has no second factors.
    await sql`update auth.session set second_factor = false where user_id = (select id from auth.user where email = ${person.email})`
    for (const path of ["/dashboard", "/dashboard/files", "/dashboard/account/export"])
      expect((await person(path)).headers.get("location")).toBe(
        `/second-factor?${new URLSearchParams({ redirect_url: path })}`,
      )
    for (const path of ["/api/files", "/api/realtime/token"]) expect((await person(path)).status).toBe(403)
    expect((await postJson(person, "/api/auth/api-key/create", { name: "key" })).status).toBe(403)
    const page = await person("/second-factor?redirect_url=/dashboard/files")
    expect(await page.text()).toContain("Enter your code")
    const shown = await person("/second-factor?redirect_url=/dashboard/files", {
      method: "POST",
      body: new URLSearchParams({ step: "show", code: phone.code() }),
    })
    expect([shown.status, shown.headers.get("location")]).toEqual([303, "/dashboard/files"])
    expect((await person("/api/files")).status).toBe(200)
  })
})

describe("an operator", () => {
  test("finds /admin closed until a second factor is set up, and the way to it", async () => {
    const boss = await signUp(app, { name: "Boss", email: "boss@example.org" })
    await boss("/onboarding")
    await sql`update auth.user set email_verified = true, holder_confirmed = true where email = ${boss.email}`
    for (const path of ["/admin", "/admin/people", "/admin/waitlist/export"]) {
      const page = await boss(path)
      expect([path, page.status]).toEqual([path, 403])
      expect(await page.text()).not.toMatch(/ada1@example.org|On the waitlist/)
    }
    const act = formFor(operatorOperations.invite, { email: "friend@example.org" })
    expect((await boss("/admin/waitlist", act)).status).toBe(403)
    expect(await sql`select 1 from waitlist`).toEqual([])
    const html = await (await boss("/admin")).text()
    expect(html).toContain("Operators need two-factor authentication")
    expect(html).toContain('href="/second-factor?redirect_url=%2Fadmin"')

    await addSecondFactor(boss, boss.password)
    expect((await boss("/admin")).status).toBe(200)
  })

  test("removes the second factor of somebody who lost it, and the history says so", async () => {
    const boss = openBrowser(app)
    const account = { email: "boss@example.org", password: "an engine of brass and cards" }
    await sql`delete from auth.two_factor where user_id = (select id from auth.user where email = ${account.email})`
    await sql`update auth.user set two_factor_enabled = false where email = ${account.email}`
    await postJson(boss, "/api/auth/sign-in/email", account)
    await addSecondFactor(boss, account.password)
    const { person } = await newPerson()
    await person("/onboarding")
    const [row] = await sql`select clerk_id from users where email = ${person.email}`
    const values = { userId: String(row?.["clerk_id"]) }
    const fields = fieldsFor(operatorOperations.removeFactors, values, "/admin/people?did=:_id")
    expect(await (await boss("/admin/people")).text()).toContain("Remove second factors")
    const removed = await post(boss, "/admin/people", fields)
    expect(removed.status).toBe(303)
    expect(await (await boss(removed.headers.get("location") ?? "")).text()).toContain(
      `you removed the second factor of ${person.email}`,
    )
    expect((await post(boss, "/admin/people", fields)).status).toBe(409)
    expect((await enterPassword(person)).answer.twoFactorRedirect).toBeUndefined()
  })
})
