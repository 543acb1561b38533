import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { startTideline, type TidelineApp } from "../../support/app.ts"
import { from } from "../../support/api.ts"
import { findLetter } from "../../support/inbox.ts"
import { openBrowser, postJson, signUp } from "../../support/people.ts"

const PASSWORD = "an engine of brass and cards"

let app: TidelineApp
beforeAll(async () => {
  app = await startTideline({ TRUSTED_PROXIES: "1" })
})
afterAll(() => app.stop())

describe("guessing the password of one account from many addresses", () => {
  test("is slowed for all of them, and the owner signs in where they did before", async () => {
    const owner = await signUp(app, { name: "Ada", email: "ada@example.org" })
    await owner("/sign-out", { method: "POST" })
    expect(await guessAs("ada@example.org", 12)).toEqual([...Array.from({ length: 10 }, () => 401), 429, 429])

    expect(await signInFrom("198.51.100.1", openBrowser(app), "ada@example.org", PASSWORD)).toBe(429)
    expect(await signInFrom("198.51.100.1", owner, "ada@example.org", PASSWORD)).toBe(200)
  })

  test("leaves the owner a way in by mail where they never signed in before", async () => {
    await signUp(app, { name: "Grace", email: "grace@example.org" })
    await guessAs("grace@example.org", 11)
    const phone = openBrowser(app)
    expect(await signInFrom("198.51.100.2", phone, "grace@example.org", PASSWORD)).toBe(429)

    await postJson(from("198.51.100.2", phone), "/api/auth/request-password-reset", {
      email: "grace@example.org",
    })
    const letter = await findLetter(app, "grace@example.org", /reset/i)
    const token = /token=(\w+)/.exec(letter.text)?.[1] ?? ""
    const password = "a moth in a relay"
    const body = new URLSearchParams({ token, password })
    expect((await phone("/sign-in/new-password", { method: "POST", body })).status).toBe(303)
    expect(await signInFrom("198.51.100.2", phone, "grace@example.org", password)).toBe(200)
    expect(await signInFrom("198.51.100.3", openBrowser(app), "grace@example.org", password)).toBe(429)
  })

  test("is slowed in the owner's browser too, and a mark of another account or a made-up one is none", async () => {
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

test("guesses from one address against many accounts are slowed, and nobody else's are", async () => {
  const statuses = []
  for (let i = 0; i < 32; i++)
    statuses.push(
      await signInFrom("203.0.113.1", openBrowser(app), `nobody-${i}@example.org`, "whatever it is"),
    )
  expect(statuses.slice(0, 30)).toEqual(Array.from({ length: 30 }, () => 401))
  expect(statuses.slice(30)).toEqual([429, 429])
  expect(await signInFrom("203.0.113.2", openBrowser(app), "nobody-1@example.org", "whatever")).toBe(401)
})

test("a stranger who asks for letters uses up nobody else's", async () => {
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

/** From as many addresses. */
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
