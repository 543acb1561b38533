import { once } from "node:events"
import { createServer } from "node:net"
import { beforeAll, describe, expect, onTestFinished, test } from "vitest"
import { ALL } from "../../support/all.ts"
import { callers, expectRateLimit, from, post, type Api } from "../../support/api.ts"
import { DEPLOYMENTS, type Deployment } from "../../support/deployments.ts"
import type { Fetch } from "../../support/openapi.ts"
import { portOf } from "../../support/port-of.ts"

const SUPPORTED = ["welcome", "plan-changed"]
const WELCOME = { template: "welcome", name: "Ada" }
const PLAN_CHANGED = { template: "plan-changed", name: "Ada", previousPlan: "free", newPlan: "pro" }

describe.each(DEPLOYMENTS)("with $provider", ({ provider, start }) => {
  /** What no identity provider has a part in. */
  const inOne = test.runIf(ALL || provider !== "Clerk")

  describe("POST /api/email", () => {
    let app: Deployment
    let api: Api
    let ada: Fetch

    beforeAll(async () => {
      app = await start()
      api = callers(app)
      ada = await app.enter({ email: "ada@example.org", name: "Ada Lovelace" })
      return () => app.stop()
    })

    test.each([
      [WELCOME, "Welcome to Tideline", ["Welcome aboard, Ada"]],
      [
        PLAN_CHANGED,
        "Your Tideline plan has changed",
        ["Ada, your plan has changed", "free plan", "pro plan"],
      ],
    ])("sends %j to the caller's own address", async (body, subject, words) => {
      const response = await from(`email-${subject}`, ada)("/api/email", post(body))
      expect(response.status).toBe(200)
      expectRateLimit(response, { remaining: 9 })
      const { status, id } = await response.json()
      expect(status).toBe("sent")

      const message = await findEmail(api, id)
      expect(message.to).toBe("ada@example.org")
      expect(message.subject).toBe(subject)
      for (const word of words) {
        expect(message.text).toContain(word)
        expect(message.html).toContain(word)
      }
    })

    test("accepts no recipient from the body", async () => {
      const body = {
        ...WELCOME,
        to: "eve@example.org",
        email: "eve@example.org",
        recipient: "eve@example.org",
      }
      const response = await from("recipient", ada)("/api/email", post(body))
      expect(response.status).toBe(200)
      expect((await findEmail(api, (await response.json()).id)).to).toBe("ada@example.org")
    })

    test("refuses a visitor with 401, after the rate limit", async () => {
      const response = await api.from("visitor")("/api/email", post(WELCOME))
      expect(response.status).toBe(401)
      expectRateLimit(response, { remaining: 9 })
      expect(await response.json()).toEqual({ error: "Unauthorized" })
    })

    test("checks nothing before the rate limit, and reads the body after authentication", async () => {
      const response = await api.from("visitor-nonsense")("/api/email", post("{"))
      expect(response.status).toBe(401)
      for (let i = 0; i < 9; i++) await api.from("visitor-nonsense")("/api/email", post("{"))
      const refused = await from("visitor-nonsense", ada)("/api/email", post(WELCOME))
      expect(refused.status).toBe(429)
      expectRateLimit(refused, { remaining: 0 })
      expect(await refused.json()).toEqual({ error: "Too many requests" })
    })

    test("accepts 10 requests per key, whatever their outcome, then refuses", async () => {
      const caller = from("limit", ada)
      for (let accepted = 1; accepted <= 10; accepted++) {
        const response = await caller("/api/email", post("no JSON"))
        expect(response.status).toBe(400)
        expectRateLimit(response, { remaining: 10 - accepted })
      }
      const refused = await caller("/api/email", post(WELCOME))
      expect(refused.status).toBe(429)
      expect((await from("limit-other", ada)("/api/email", post(WELCOME))).status).toBe(200)
    })

    test.each(["", "{", "no JSON", '{"template":"welcome","name":"Ada"', "\u0000", "{'a':1}"])(
      "refuses %j, which is not JSON",
      async (body) => {
        const response = await from(`json-${body.length}-${body.charCodeAt(0)}`, ada)(
          "/api/email",
          post(body),
        )
        expect(response.status).toBe(400)
        expectRateLimit(response, { remaining: 9 })
        expect(await response.json()).toEqual({ error: "Invalid JSON body", supported_templates: SUPPORTED })
      },
    )

    test("refuses text that is not UTF-8 as not JSON", async () => {
      const body = Buffer.from('{"template":"welcome","name":"\xFF"}', "latin1")
      const response = await from("latin1", ada)("/api/email", {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body,
      })
      expect([response.status, (await response.json()).error]).toEqual([400, "Invalid JSON body"])
    })

    test.each([
      null,
      1,
      "welcome",
      [],
      [WELCOME],
      {},
      { template: null },
      { template: "goodbye", name: "Ada" },
      { template: "toString", name: "Ada" },
      { template: ["welcome"], name: "Ada" },
      { template: "welcome" },
      { template: "welcome", name: "" },
      { template: "welcome", name: 7 },
      { template: "welcome", name: null },
      { template: "welcome", name: ["Ada"] },
      { template: "welcome", name: { toString: "Ada" } },
      { template: "plan-changed", name: "Ada" },
      { template: "plan-changed", name: "Ada", previousPlan: "free" },
      { template: "plan-changed", name: "Ada", newPlan: "pro" },
      { template: "plan-changed", previousPlan: "free", newPlan: "pro" },
      { template: "plan-changed", name: "Ada", previousPlan: "", newPlan: "pro" },
      { template: "plan-changed", name: "Ada", previousPlan: "free", newPlan: "" },
      { template: "plan-changed", name: "", previousPlan: "free", newPlan: "pro" },
      { template: "plan-changed", name: "Ada", previousPlan: true, newPlan: "pro" },
    ])("refuses %j, and describes the expected body", async (body) => {
      const response = await from(`template-${JSON.stringify(body)}`, ada)(
        "/api/email",
        post(JSON.stringify(body)),
      )
      expect(response.status).toBe(400)
      expectRateLimit(response, { remaining: 9 })
      const { error, supported_templates } = await response.json()
      expect(supported_templates).toEqual(SUPPORTED)
      for (const word of ["template", "welcome", "plan-changed", "name", "previousPlan", "newPlan"]) {
        expect(error).toContain(word)
      }
    })

    test("refuses more than 256 KB, with or without a stated length", async () => {
      const large = JSON.stringify({ ...WELCOME, name: "x".repeat(256 * 1024) })
      const stated = await from("large", ada)("/api/email", post(large))
      expect([stated.status, await stated.json()]).toEqual([
        413,
        { error: "Request body larger than 256 KB" },
      ])
      expectRateLimit(stated, { remaining: 9 })

      const unstated = await from("large", ada)("/api/email", {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: new Blob([large]).stream(),
        duplex: "half",
      } as RequestInit)
      expect([unstated.status, await unstated.json()]).toEqual([
        413,
        { error: "Request body larger than 256 KB" },
      ])
    })

    test("accepts a body just under the limit, and sends a readable email", async () => {
      const name = `Ada ${"x".repeat(250 * 1024)}`
      const response = await from("nearly", ada)("/api/email", post({ ...WELCOME, name }))
      expect(response.status).toBe(200)
      expect((await findEmail(api, (await response.json()).id)).text.length).toBeLessThan(5000)
    })

    test("puts no text from the body into a header", async () => {
      const body = { ...WELCOME, name: "Ada\r\nBcc: eve@example.org\r\n\r\nHello" }
      const response = await from("headers", ada)("/api/email", post(body))
      const message = await findEmail(api, (await response.json()).id)
      expect(message.headers.map(({ name }) => name.toLowerCase())).not.toContain("bcc")
      expect(message.subject).toBe("Welcome to Tideline")
    })

    test("refuses a caller without an email address before it reads the body", async () => {
      const grace = await app.enter({ email: "grace@example.org", name: "Grace Hopper" })
      await grace.loseAddress()
      const response = await from("no-address", grace)("/api/email", post("no JSON"))
      expect(response.status).toBe(400)
      expectRateLimit(response, { remaining: 9 })
      expect(await response.json()).toEqual({ error: "No email address found for user" })
    })

    test("accepts an API key as well as a cookie", async () => {
      const person = await app.enter({ email: "script@example.org", name: "A script" })
      const response = await api.from("key")("/api/email", {
        ...post(WELCOME),
        headers: { Authorization: `Bearer ${await person.apiKey()}`, "Content-Type": "application/json" },
      })
      expect(response.status).toBe(200)
      expect((await findEmail(api, (await response.json()).id)).to).toBe("script@example.org")
    })

    test.each(["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"])("does not allow %s", async (method) => {
      const response = await ada("/api/email", { method, headers: { Origin: api.app.origin } })
      expect([response.status, response.headers.get("allow")]).toEqual([405, "POST"])
    })
  })

  describe("POST /api/email, when the mail provider fails", () => {
    inOne("returns 502 with the provider's message if it refuses the email", async () => {
      const server = createServer((socket) => socket.end("554 We take no mail today\r\n")).listen(
        0,
        "127.0.0.1",
      )
      await once(server, "listening")
      const app = await start({ SMTP_URL: `smtp://127.0.0.1:${portOf(server)}` })
      onTestFinished(() => app.stop())
      const ada = await app.enter({ email: "ada@example.org", name: "Ada Lovelace" })

      const response = await from("refused", ada)("/api/email", post(WELCOME))
      expect(response.status).toBe(502)
      expectRateLimit(response, { remaining: 9 })
      expect(await response.json()).toEqual({
        error: "Failed to send email",
        details: "The mail server answered: 554 We take no mail today",
      })

      server.close()
      const unreachable = await from("refused", ada)("/api/email", post(WELCOME))
      expect(unreachable.status).toBe(502)
      const { error, details } = await unreachable.json()
      expect(error).toBe("Failed to send email")
      expect(details).toMatch(
        /^The mail server did not accept the message: it (refused the connection: nothing listens at that port|cannot be reached)$/,
      )
    })
  })
})

interface Email {
  to: string
  subject: string
  text: string
  html: string
  headers: { name: string; value: string }[]
}

/** The email with this message id, as it arrived in the local inbox. */
async function findEmail({ app }: Api, messageId: string): Promise<Email> {
  const summaries = (await (await fetch(`${app.inbox}/api/messages`)).json()) as { id: string }[]
  for (const { id } of summaries) {
    const message = (await (await fetch(`${app.inbox}/api/messages/${id}`)).json()) as Email
    if (message.headers.some(({ name, value }) => name === "Message-ID" && value === messageId))
      return message
  }
  throw new Error(`No email has the id ${messageId}.`)
}
