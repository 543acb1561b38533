import { describe, expect, test } from "vitest"
import { findEmail } from "../../support/inbox.ts"
import { openBrowser, postJson, signIn, signUp } from "../../support/people.ts"
import { withTideline } from "../../support/with-tideline.ts"

const SENTENCE = "This password is easy to guess. Choose a longer one, such as four unrelated words."

const { app, ada } = withTideline({
  people: { ada: { name: "Ada Lovelace", email: "ada@example.org" } },
  onboarded: true,
})

describe("a weak password", () => {
  test.each([
    ["a common one", "password123"],
    ["a common one in disguise", "P@ssw0rd123"],
    ["neighbouring keys", "qwertyuiop"],
    ["a sequence", "1234567890"],
    ["a repetition", "abcabcabcabcabc"],
    ["one character, 128 times", "x".repeat(128)],
    ["the account's email address", "grace@example.org"],
    ["the person's name", "gracehopper"],
  ])("opens no account: %s", async (_, password) => {
    const account = { name: "Grace Hopper", email: "grace@example.org", password }
    const refused = await postJson(openBrowser(app), "/api/auth/sign-up/email", account)
    expect([refused.status, await refused.json()]).toEqual([
      400,
      { code: "PASSWORD_TOO_COMMON", message: SENTENCE },
    ])
    await expect(signIn(app, account)).rejects.toThrow("401")
  })

  test("is explained at the field of the sign-up page", async () => {
    const fields = { name: "Grace Hopper", email: "grace@example.org", password: "letmein1234" }
    const page = await openBrowser(app)("/sign-up", { method: "POST", body: new URLSearchParams(fields) })
    expect([page.status, await page.text()]).toEqual([400, expect.stringContaining(SENTENCE)])
  })

  test.each([
    ["a common one", "iloveyou2024"],
    ["the account's email address", "ada@example.org"],
    ["the person's name", "adalovelace"],
  ])("cannot replace the current one on the account page: %s", async (_, password) => {
    const body = new URLSearchParams({ intent: "change-password", current: ada.password, password })
    const page = await ada("/dashboard/account", { method: "POST", body })
    expect([page.status, await page.text()]).toEqual([400, expect.stringContaining(SENTENCE)])
    expect((await signIn(app, ada)).email).toBe(ada.email)
  })

  test("cannot be chosen in a reset, whose link still works afterwards", async () => {
    await postJson(openBrowser(app), "/api/auth/request-password-reset", { email: ada.email })
    const { text } = await findEmail(app, ada.email, /reset/i)
    const token = /token=(\w+)/.exec(text)?.[1] ?? ""
    const choose = (password: string) =>
      openBrowser(app)(`/sign-in/new-password?token=${token}`, {
        method: "POST",
        body: new URLSearchParams({ token, password }),
      })
    for (const password of ["qazwsxedc123", "adalovelace", ada.email]) {
      const refused = await choose(password)
      expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining(SENTENCE)])
    }
    expect((await choose("a difference engine")).status).toBe(303)
  })

  test("cannot be chosen when an address is confirmed from another browser", async () => {
    const email = "edith@example.org"
    await signUp(app, { name: "Edith Clarke", email })
    const { text } = await findEmail(app, email, /confirm/i)
    const { pathname, search, searchParams } = new URL(/http:\S+token=\S+/.exec(text)?.[0] ?? "")
    for (const password of ["1q2w3e4r5t6y", "edithclarke", email]) {
      const body = new URLSearchParams({ token: searchParams.get("token") ?? "", password })
      const page = await openBrowser(app)(pathname + search, { method: "POST", body })
      expect([page.status, await page.text()]).toEqual([400, expect.stringContaining(SENTENCE)])
    }
  })

  test("is not judged anywhere else: sign-in only says that it is wrong, with or without an account", async () => {
    for (const email of [ada.email, "nobody@example.org"]) {
      const refused = await postJson(openBrowser(app), "/api/auth/sign-in/email", {
        email,
        password: "password123",
      })
      expect([refused.status, await refused.json()]).toEqual([
        401,
        expect.objectContaining({ code: "INVALID_EMAIL_OR_PASSWORD" }),
      ])
    }
  })
})
