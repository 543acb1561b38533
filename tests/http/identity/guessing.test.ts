import { describe, expect, test } from "vitest"
import { from } from "../../support/api.ts"
import { findEmail } from "../../support/inbox.ts"
import { openBrowser, postJson, signUp } from "../../support/people.ts"
import { withTideline } from "../../support/with-tideline.ts"

const PASSWORD = "an engine of brass and cards"

const { app, sql } = withTideline({ settings: { TRUSTED_PROXIES: "1" } })

describe("guessing the password of one account from many addresses", () => {
  test("is slowed for all of them, while the owner can sign in from a known browser", async () => {
    const owner = await signUp(app, { name: "Ada", email: "ada@example.org" })
    await owner("/sign-out", { method: "POST" })
    expect(await guessAs("ada@example.org", 12)).toEqual([...Array.from({ length: 10 }, () => 401), 429, 429])

    expect(await signInFrom("198.51.100.1", openBrowser(app), "ada@example.org", PASSWORD)).toBe(429)
    expect(await signInFrom("198.51.100.1", owner, "ada@example.org", PASSWORD)).toBe(200)
  })

  test("leaves the owner a way in by email where they never signed in before", async () => {
    await signUp(app, { name: "Grace", email: "grace@example.org" })
    await guessAs("grace@example.org", 11)
    const phone = openBrowser(app)
    expect(await signInFrom("198.51.100.2", phone, "grace@example.org", PASSWORD)).toBe(429)

    await postJson(from("198.51.100.2", phone), "/api/auth/request-password-reset", {
      email: "grace@example.org",
    })
    const message = await findEmail(app, "grace@example.org", /reset/i)
    const token = /token=(\w+)/.exec(message.text)?.[1] ?? ""
    const password = "a moth in a relay"
    const body = new URLSearchParams({ token, password })
    expect((await phone("/sign-in/new-password", { method: "POST", body })).status).toBe(303)
    expect(await signInFrom("198.51.100.2", phone, "grace@example.org", password)).toBe(200)
    expect(await signInFrom("198.51.100.3", openBrowser(app), "grace@example.org", password)).toBe(429)
  })

  test("is slowed in the owner's browser too, and a cookie of another account or a forged one does not help", async () => {
    const owner = await signUp(app, { name: "Emmy", email: "emmy@example.org" })
    const other = await signUp(app, { name: "Eve", email: "eve@example.org" })
    const statuses = []
    for (let i = 0; i < 11; i++)
      statuses.push(await signInFrom(`192.0.2.${i}`, owner, "emmy@example.org", `a wrong guess ${i}`))
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 401), 429])

    expect(await signInFrom("198.51.100.4", openBrowser(app), "emmy@example.org", PASSWORD)).toBe(200)
    await guessAs("emmy@example.org", 11)
    const made = { "tideline.known_browser": `${"x".repeat(22)}.${"y".repeat(43)}` }
    for (const browser of [other, openBrowser(app, made)])
      expect(await signInFrom("198.51.100.5", browser, "emmy@example.org", PASSWORD)).toBe(429)
  })
})

describe("the current password of a signed-in person", () => {
  test("can be guessed ten times in total, from any address and at any endpoint", async () => {
    const owner = await signUp(app, { name: "Alan", email: "alan@example.org" })
    await owner("/onboarding")
    await sql`update users set onboarding_completed = true where email = ${owner.email}`
    const guess = (i: number, path: string, body: object) =>
      postJson(from(`198.51.100.${i}`, owner), path, body).then(({ status }) => status)
    const statuses = []
    for (let i = 0; i < 6; i++) {
      const body = { currentPassword: `a wrong guess ${i}`, newPassword: "a stolen engine" }
      statuses.push(await guess(i, "/api/auth/change-password", body))
    }
    for (let i = 6; i < 12; i++) {
      const body = new URLSearchParams({ intent: "delete-account", confirmation: `a wrong guess ${i}` })
      const form = await from(`198.51.100.${i}`, owner)("/dashboard/account", { method: "POST", body })
      statuses.push(form.status)
    }
    const passwords = { currentPassword: owner.password, newPassword: "a stolen engine" }
    statuses.push(await guess(12, "/api/auth/change-password", passwords))
    expect(statuses).toEqual([400, 400, 400, 400, 400, 400, 403, 403, 403, 403, 429, 429, 429])
    for (const path of ["/api/auth/verify-password", "/api/auth/delete-user"])
      expect(await guess(13, path, { password: owner.password })).toBe(404)
    expect(await signInFrom("198.51.100.14", owner, "alan@example.org", PASSWORD)).toBe(200)
  })

  test("cannot be guessed by concurrent requests either", async () => {
    const owner = await signUp(app, { name: "Kay", email: "kay@example.org" })
    const statuses = await Promise.all(
      Array.from({ length: 25 }, async (_, i) => {
        const body = { currentPassword: `a wrong guess ${i}`, newPassword: "a stolen engine" }
        return (await postJson(from(`192.0.2.${i}`, owner), "/api/auth/change-password", body)).status
      }),
    )
    expect(statuses.filter((status) => status === 400)).toHaveLength(10)
    expect(statuses.filter((status) => status === 429)).toHaveLength(15)
  })
})

describe("the cookie of a known browser", () => {
  test("is invalidated by a reset, and by a password change in another browser", async () => {
    const thief = await signUp(app, { name: "Ida", email: "ida@example.org" })
    const owner = openBrowser(app)
    await postJson(from("203.0.113.50", owner), "/api/auth/request-password-reset", {
      email: "ida@example.org",
    })
    const { text } = await findEmail(app, "ida@example.org", /reset/i)
    const fields = { token: /token=(\w+)/.exec(text)?.[1] ?? "", password: "after the first reset" }
    await owner("/sign-in/new-password", { method: "POST", body: new URLSearchParams(fields) })
    await guessAs("ida@example.org", 11)
    expect(await signInFrom("203.0.113.51", thief, "ida@example.org", "a wrong guess")).toBe(429)
    expect(await signInFrom("203.0.113.52", owner, "ida@example.org", fields.password)).toBe(200)

    const session = /session_token=([^;]+)/.exec(owner.cookie())?.[1] ?? ""
    const laptop = openBrowser(app, { "tideline.session_token": session })
    const changed = await postJson(from("203.0.113.53", laptop), "/api/auth/change-password", {
      currentPassword: fields.password,
      newPassword: "after the second change",
    })
    expect(changed.status).toBe(200)
    expect(await signInFrom("203.0.113.54", owner, "ida@example.org", "a wrong guess")).toBe(429)
    expect(await signInFrom("203.0.113.55", laptop, "ida@example.org", "after the second change")).toBe(200)
  })
})

test("guesses from one address against many accounts are slowed without affecting other addresses", async () => {
  const statuses = []
  for (let i = 0; i < 32; i++)
    statuses.push(
      await signInFrom("203.0.113.1", openBrowser(app), `nobody-${i}@example.org`, "whatever it is"),
    )
  expect(statuses.slice(0, 30)).toEqual(Array.from({ length: 30 }, () => 401))
  expect(statuses.slice(30)).toEqual([429, 429])
  expect(await signInFrom("203.0.113.2", openBrowser(app), "nobody-1@example.org", "whatever")).toBe(401)
})

test("requests for emails by someone else do not use up the owner's", async () => {
  await signUp(app, { name: "Mary", email: "mary@example.org" })
  const ask = async (address: string) =>
    (
      await postJson(from(address, openBrowser(app)), "/api/auth/request-password-reset", {
        email: "mary@example.org",
      })
    ).status
  const statuses = []
  for (let i = 0; i < 6; i++) statuses.push(await ask("2001:db8:1::" + i))
  expect(statuses).toEqual([200, 200, 200, 200, 200, 429])
  expect(await ask("2001:db8:2::1")).toBe(200)
})

/** From that many client addresses. */
async function guessAs(email: string, count: number): Promise<number[]> {
  const statuses = []
  for (let i = 0; i < count; i++)
    statuses.push(await signInFrom(`198.51.100.${100 + i}`, openBrowser(app), email, `a wrong guess ${i}`))
  return statuses
}

async function signInFrom(
  address: string,
  browser: ReturnType<typeof openBrowser>,
  email: string,
  password: string,
): Promise<number> {
  return (await postJson(from(address, browser), "/api/auth/sign-in/email", { email, password })).status
}
