import postgres from "postgres"
import { afterAll, beforeAll, expect, test } from "vitest"
import { from } from "../support/api.ts"
import { startTideline, type TidelineApp } from "../support/app.ts"
import { openBrowser } from "../support/people.ts"

let app: TidelineApp
let sql: postgres.Sql

beforeAll(async () => {
  app = await startTideline()
  sql = postgres(app.databaseUrl, { max: 1 })
})

afterAll(async () => {
  await sql.end()
  await app.stop()
})

test("an address joins by the form alone, and the page confirms it", async () => {
  const page = await (await fetch(`${app.origin}/waitlist`)).text()
  expect(page).toMatch(/<form[^>]* method="post"/)
  expect(page).toMatch(/<input[^>]* name="email"/)

  const response = await join("ada@example.org")
  expect(response.status).toBe(302)
  expect(response.headers.get("location")).toBe("/waitlist?joined")
  expect(await (await fetch(`${app.origin}/waitlist?joined`)).text()).toContain("You are on the list")
  expect(await stored()).toEqual(["ada@example.org"])
})

test("an address is kept once, however it is capitalised, and the answer does not tell", async () => {
  const answers = []
  for (const email of ["grace@example.org", "Grace@Example.ORG", "  grace@example.org "]) {
    const { status, headers } = await join(email)
    answers.push([status, headers.get("location")])
  }
  expect(new Set(answers.map(String)).size).toBe(1)
  expect((await stored()).filter((email) => /grace/i.test(email))).toEqual(["grace@example.org"])
})

test("the same address from fifty forms at once is kept once", async () => {
  const responses = await Promise.all(
    Array.from({ length: 50 }, (_, i) => join("crowd@example.org", `203.0.113.${i}`)),
  )
  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([302]))
  expect((await stored()).filter((email) => email === "crowd@example.org")).toHaveLength(1)
})

test.each([
  ["", "Enter your e-mail address."],
  ["   ", "Enter your e-mail address."],
  ["ada", "Enter an e-mail address such as ada@example.org."],
  ["ada@", "Enter an e-mail address such as ada@example.org."],
  ["ada@example.org, eve@example.org", "Enter an e-mail address such as ada@example.org."],
  ["ada@example.org\r\nBcc: eve@example.org", "Enter an e-mail address such as ada@example.org."],
  [`${"a".repeat(250)}@example.org`, "An e-mail address has at most 254 characters."],
])("%j is refused where it was typed, and kept there", async (email, words) => {
  const before = await stored()
  const response = await join(email)
  expect(response.status).toBe(400)
  const page = await response.text()
  expect(page).toContain(words)
  expect(page).toMatch(/aria-invalid="true"/)
  if (email.trim() && !/[\r\n]/.test(email)) expect(page).toContain(`value="${email}"`)
  expect(await stored()).toEqual(before)
})

test("what was typed comes back as text", async () => {
  const page = await (await join(`"><script>alert(1)</script>`)).text()
  expect(page).not.toContain("<script>alert(1)")
  expect(page).toContain("&quot;&gt;&lt;script&gt;alert(1)")
})

test("a body that is no form, or too large, is refused", async () => {
  const browser = openBrowser(app)
  const post = (body: string, type: string) =>
    from(`body ${body.length}`, browser)("/waitlist", {
      method: "POST",
      body,
      headers: { "Content-Type": type },
    })
  expect((await post('{"email":"ada@example.org"}', "application/json")).status).toBe(400)
  expect((await post(`email=${"x".repeat(70_000)}`, "application/x-www-form-urlencoded")).status).toBe(413)
})

test("one place can join twenty times a minute", async () => {
  const statuses = []
  for (let i = 0; i < 21; i++) statuses.push((await join(`many-${i}@example.org`, "192.0.2.99")).status)
  expect(statuses.slice(0, 20)).toEqual(Array.from({ length: 20 }, () => 302))
  expect(statuses.at(-1)).toBe(429)
  expect((await stored()).filter((email) => email.startsWith("many-"))).toHaveLength(20)
})

test("another site's form is refused", async () => {
  const response = await fetch(`${app.origin}/waitlist`, {
    method: "POST",
    body: new URLSearchParams({ email: "eve@example.org" }),
    headers: { Origin: "https://evil.example" },
    redirect: "manual",
  })
  expect(response.status).toBeGreaterThanOrEqual(400)
  expect(await stored()).not.toContain("eve@example.org")
})

function join(email: string, forwardedFor = `${email} ${Math.random()}`.replaceAll(/[^\w.]/g, "-")) {
  const body = new URLSearchParams({ email })
  return from(forwardedFor, openBrowser(app))("/waitlist", { method: "POST", body })
}

async function stored(): Promise<string[]> {
  const rows = await sql<{ email: string }[]>`select email from waitlist order by _id`
  return rows.map(({ email }) => email)
}
