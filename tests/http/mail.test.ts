import PostalMime from "postal-mime"
import postgres from "postgres"
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest"
import { userOperations } from "#server/users/operations-contract.ts"
import { formFor } from "../support/forms.ts"
import { sample } from "../support/all.ts"
import { from } from "../support/api.ts"
import { startTideline, type TidelineApp } from "../support/app.ts"
import { openBrowser, postJson, signUp, type Person } from "../support/people.ts"
import { headerNames, openSmtpReceiver, type SmtpReceiver } from "../support/smtp.ts"

let receiver: SmtpReceiver
let app: TidelineApp
let sql: postgres.Sql

beforeAll(async () => {
  receiver = await openSmtpReceiver()
  app = await startTideline({ SMTP_URL: receiver.url, TRUSTED_PROXIES: "1" })
  sql = postgres(app.databaseUrl, { max: 1 })
})

afterAll(async () => {
  await sql.end()
  await app.stop()
  await receiver.stop()
})

/** Ways to inject another header line, or to name another recipient. */
const CORPUS = [
  "\r\nBcc: eve@example.org",
  "\nBcc: eve@example.org",
  "\rBcc: eve@example.org",
  "\r\n Bcc: eve@example.org",
  "\r\n\r\nBcc: eve@example.org",
  "%0d%0aBcc: eve@example.org",
  "%0D%0ABcc:%20eve@example.org",
  "\\r\\nBcc: eve@example.org",
  "\u0000\r\nBcc: eve@example.org",
  "\u000BBcc: eve@example.org",
  "\u0085Bcc: eve@example.org",
  "\u2028Bcc: eve@example.org",
  "\u2029Bcc: eve@example.org",
  "\u560A\u560DBcc: eve@example.org",
  "=?utf-8?q?=0D=0ABcc:_eve=40example.org?=",
  "=?utf-8?b?DQpCY2M6IGV2ZUBleGFtcGxlLm9yZw==?=",
  ", eve@example.org",
  "; eve@example.org",
  "> <eve@example.org",
  '"<eve@example.org>',
  "\r\n.\r\nMAIL FROM:<eve@example.org>\r\nRCPT TO:<eve@example.org>\r\nDATA\r\n",
  "\n.\nMAIL FROM:<eve@example.org>\nRCPT TO:<eve@example.org>\nDATA\n",
  `\r\nContent-Type: text/html\r\n\r\n<a href="https://evil.example">`,
  `\r\nX-${"x".repeat(2000)}: 1`,
]

/** The header fields of every email, and no others. */
const HEAD = ["auto-submitted", "from", "to", "subject", "message-id", "date", "mime-version", "content-type"]

describe("user input", () => {
  // Thirty emails an hour to one person are allowed.
  const people: Person[] = []
  beforeAll(async () => {
    const addresses = Array.from({ length: 5 }, (_, person) => `ada-${person}@example.org`)
    people.push(...(await Promise.all(addresses.map((email) => signUp(app, { name: "Ada", email })))))
    await Promise.all(addresses.map((email) => lettersTo(email, 1)))
  })

  test.each(CORPUS)("stays in the body of POST /api/email: %j", async (poison) => {
    const requests = [
      { template: "welcome", name: `Ada${poison}` },
      { template: "welcome", name: poison },
      { template: "plan-changed", name: "Ada", previousPlan: `free${poison}`, newPlan: "pro" },
      { template: "plan-changed", name: "Ada", previousPlan: "free", newPlan: `pro${poison}` },
      { template: "welcome", name: "Ada", to: `ada@example.org${poison}`, [`to${poison}`]: "x" },
    ]
    const before = receiver.received.length
    const statuses = await Promise.all(
      requests.map(async (request, at) => {
        const send = from(`192.0.2.${CORPUS.indexOf(poison)}`, people[at] as Person)
        return (await postJson(send, "/api/email", request)).status
      }),
    )
    expect(statuses).toEqual(requests.map(() => 200))
    const emails = receiver.received
      .slice(before)
      .toSorted((a, b) => String(a.envelope.to).localeCompare(String(b.envelope.to)))
    expect(emails).toHaveLength(requests.length)
    for (const [at, message] of emails.entries()) expectPlain(message, `ada-${at}@example.org`)
  })

  const languages = [
    ["en", "Confirm your email address for Tideline", "Reset your Tideline password", "Welcome to Tideline"],
    [
      "de",
      "Bestätigen Sie Ihre E-Mail-Adresse für Tideline",
      "Ihr Passwort für Tideline zurücksetzen",
      "Willkommen bei Tideline",
    ],
  ] as const
  const cases = languages.flatMap(([language, ...subjects]) =>
    CORPUS.map((poison) => [language, poison, subjects] as const),
  )

  // Each waits for its responses, which take half a second whatever their content, and for its
  // emails.
  test.concurrent.each(sample(cases, 9))(
    "stays in the body of the emails of an account, in %s: %j",
    async (language, poison, subjects) => {
      const email = `corpus-${language}-${CORPUS.indexOf(poison)}@example.org`
      const browser = openBrowser(app, { language })
      const network = language === "en" ? "198.51.100" : "198.51.101"
      const at = (path: string, body: object) =>
        postJson(from(`${network}.${CORPUS.indexOf(poison)}`, browser), path, body)
      const password = "an engine of brass"
      const name = `Ada${poison}`
      const made = await at("/api/auth/sign-up/email", { name, email, password })
      expect(made.status).toBe(/\p{Cc}/u.test(name) ? 400 : 200)
      if (poison.includes("\0")) return // PostgreSQL keeps no NUL
      // A name that is refused now may have been stored by an older version.
      await at("/api/auth/sign-up/email", { name: "Ada", email, password })
      await sql`update auth.user set name = ${name} where email = ${email}`
      expect((await at("/api/auth/request-password-reset", { email })).status).toBe(200)
      await browser("/onboarding")
      await sql`update users set onboarding_step = 'first-steps' where email = ${email}`
      await browser("/onboarding", formFor(userOperations.completeOnboarding, {}))
      const emails = await lettersTo(email, 3)
      expect((await Promise.all(emails.map(subjectOf))).toSorted()).toEqual(subjects)
      for (const message of emails) expectPlain(message, email)
    },
  )

  test.concurrent.each(CORPUS)("is not accepted as an email address: %j", async (poison) => {
    const email = `ada@example.org${poison}`
    const browser = from(`203.0.113.${CORPUS.indexOf(poison)}`, openBrowser(app))
    const form = (path: string, fields: Record<string, string>) =>
      browser(path, { method: "POST", body: new URLSearchParams(fields) })
    const password = "an engine of brass"
    const answers = [
      await form("/waitlist", { email }),
      await form("/sign-up", { name: "Ada", email, password }),
      await form("/sign-in/forgot-password", { email }),
      await postJson(browser, "/api/auth/sign-up/email", { name: "Ada", email, password }),
      await postJson(browser, "/api/auth/request-password-reset", { email }),
    ]
    for (const { status } of answers) expect(status).toBe(400)
    const [row] = await sql`select count(*)::int as emails from mail_outbox where recipient like '%eve@%'`
    expect(row).toEqual({ emails: 0 })
  })

  test("has reached nobody else at the end", () => {
    const recipients = receiver.received.flatMap(({ envelope }) => envelope.to)
    expect(recipients.filter((to) => !/^(ada-\d|corpus-(en|de)-\d+)@example\.org$/.test(to))).toEqual([])
  })
})

describe("an unavailable mail server", () => {
  test("does not fail sign-up or a reset, and /api/email reports it", async () => {
    await receiver.stop()
    const grace = await signUp(app, { name: "Grace", email: "grace@example.org" })
    const asked = await postJson(openBrowser(app), "/api/auth/request-password-reset", {
      email: "grace@example.org",
    })
    expect(asked.status).toBe(200)
    expect((await postJson(grace, "/api/email", { template: "welcome", name: "Grace" })).status).toBe(502)
    await receiver.start()
    await sql`update mail_outbox set next_attempt_at = 0 where recipient = 'grace@example.org'`
    const subjects = await Promise.all((await lettersTo("grace@example.org", 2)).map(subjectOf))
    expect(subjects.toSorted()).toEqual([
      "Confirm your email address for Tideline",
      "Reset your Tideline password",
    ])
  })

  test("receives five reset emails with valid links, however often they are requested, with identical responses", async () => {
    await signUp(app, { name: "Emmy", email: "emmy@example.org" })
    const statuses = []
    for (let i = 0; i < 9; i++) {
      // The limit of attempts from one network is separate, and allows five in a quarter of an
      // hour.
      await sql`delete from auth.rate_limit`
      const answer = await postJson(openBrowser(app), "/api/auth/request-password-reset", {
        email: "emmy@example.org",
      })
      statuses.push(answer.status)
    }
    expect(new Set(statuses)).toEqual(new Set([200]))
    await expect.poll(() => resetsOf("emmy@example.org"), { timeout: 10_000 }).toBe(5)
  })
})

function expectPlain({ envelope, source }: SmtpReceiver["received"][number], to: string) {
  expect(envelope.to).toEqual([to])
  expect(headerNames(source)).toEqual(HEAD)
  const [head = ""] = source.split("\r\n\r\n", 1)
  expect(head).toMatch(new RegExp(`^To: ${to.replaceAll(".", "\\.")}$`, "m"))
  expect(head).not.toMatch(/eve@|^bcc|evil/im)
}

async function lettersTo(address: string, count: number) {
  return vi.waitFor(
    () => {
      const arrived = receiver.received.filter(({ envelope }) => envelope.to.includes(address))
      expect(arrived).toHaveLength(count)
      return arrived
    },
    { timeout: 20_000 },
  )
}

async function resetsOf(address: string) {
  const [row] = await sql<{ emails: number }[]>`
    select count(*)::int as emails from mail_outbox where recipient = ${address} and kind = 'reset-password'`
  return row?.emails
}

async function subjectOf({ source }: SmtpReceiver["received"][number]): Promise<string> {
  return (await PostalMime.parse(source)).subject ?? ""
}
