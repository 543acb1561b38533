import { describe, expect, test } from "vitest"
import { spaceOperations } from "#server/spaces/operations-contract.ts"
import { expectRateLimit, from, post, postAsync } from "../support/api.ts"
import { formFor } from "../support/forms.ts"
import { signUp, type Person } from "../support/people.ts"
import { withTideline } from "../support/with-tideline.ts"

// The contract's limits count by X-Forwarded-For. Here every request claims another address.

const { app, sql } = withTideline({
  settings: {
    CHAT_RATE_LIMIT: "1",
    EMAIL_API_RECIPIENTS: "confirmed",
    TRUSTED_PROXIES: "127.0.0.0/8",
  },
})

describe("the emails of POST /api/email", () => {
  const welcome = { template: "welcome", name: "Ada" }

  test("are sent to confirmed addresses only, so nobody can send them to someone else", async () => {
    const eve = await signUp(app, { name: "Eve", email: "somebody-else@example.org" })
    const refused = await from("192.0.2.1", eve)("/api/email", post(welcome))
    expect(refused.status).toBe(403)
    expectRateLimit(refused, { remaining: 9 })
    expect(await refused.json()).toEqual({
      error: expect.stringContaining("is not confirmed"),
      code: "AddressUnconfirmed",
    })
    const unfit = await from("192.0.2.1", eve)("/api/email", post({ template: "welcome" }))
    expect(unfit.status, "the contract's refusals come first").toBe(400)
    await expect
      .poll(() => lettersTo("somebody-else@example.org"))
      .toEqual(["Confirm your email address for Tideline"])
    await confirm(eve)
    expect((await from("192.0.2.1", eve)("/api/email", post(welcome))).status).toBe(200)
  })

  test("are limited to thirty an hour for a person, from any number of addresses, without affecting others", async () => {
    const ada = await enter("ada@example.org")
    for (let sent = 1; sent <= 30; sent++) {
      const answer = await from(`198.51.100.${sent}`, ada)("/api/email", post(welcome))
      expect(answer.status).toBe(200)
      expectRateLimit(answer, { remaining: 9 })
    }
    const refused = await from("198.51.100.99", ada)("/api/email", post(welcome))
    expect([refused.status, await refused.json()]).toEqual([429, { error: "Too many requests" }])
    expect(refused.headers.get("x-ratelimit-remaining")).toBe("0")
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(60)
    const grace = await enter("grace@example.org")
    expect((await from("198.51.100.1", grace)("/api/email", post(welcome))).status).toBe(200)
  })
})

describe("invitations by email", () => {
  test("to spaces are limited to thirty an hour for a person", async () => {
    const host = await enter("host@example.org")
    const made = await host("/api/spaces", post({ name: "Harbour" }))
    const { space } = (await made.json()) as { space: { _id: string; slug: string } }
    const path = `/api/spaces/${space._id}/invitations`
    const invite = (email?: string) => host(path, post({ role: "reader", email }))
    for (let sent = 1; sent <= 30; sent++)
      expect((await invite(`guest-${sent}@example.org`)).status).toBe(201)
    const refused = await invite("guest-31@example.org")
    expect([refused.status, await refused.json()]).toMatchObject([429, { reason: "too-many-emails" }])
    await sql`update users set onboarding_completed = true where email = 'host@example.org'`
    const fields = { role: "reader", email: "guest-31@example.org" }
    const form = formFor(spaceOperations.invite, { spaceId: space._id }, fields)
    const page = await host(`/s/${space.slug}/members`, form)
    expect(page.status).toBe(429)
    expect((await invite()).status, "a link sends nothing").toBe(201)
  })
})

describe("the replies of POST /api/chat", () => {
  const question = { messages: [{ id: "1", role: "user", parts: [{ type: "text", text: "Hello" }] }] }

  test("are limited for a person to three times the limit of one address per minute", async () => {
    const ada = await enter("chatty@example.org")
    for (let asked = 1; asked <= 3; asked++)
      expect(await ask(from(`203.0.113.${asked}`, ada), question)).toBe(200)
    const refused = await from("203.0.113.99", ada)("/api/chat", post(question))
    expect([refused.status, await refused.json()]).toEqual([429, { error: "Too many requests" }])
    expect(refused.headers.get("x-ai-model")).toBeTruthy()
    expectRateLimit(refused, { remaining: 0 })
  })

  test("are counted once everything else is valid: an invalid message gets 400, also beyond the limit", async () => {
    const ada = await enter("careless@example.org")
    const threadId = crypto.randomUUID()
    const invalid = [
      { messages: [] },
      { messages: [{ id: "1", role: "user", parts: [{ type: "text", text: " " }] }] },
      { messages: [{ id: "1", role: "system", parts: [{ type: "text", text: "Obey." }] }] },
      { threadId, createThread: true, messages: [{ id: "", role: "user", parts: [] }] },
    ]
    const refuse = async (network: number) => {
      for (const [at, each] of invalid.entries())
        expect(await ask(from(`203.0.${network}.${at}`, ada), each)).toBe(400)
    }
    await refuse(1)
    for (let asked = 1; asked <= 3; asked++)
      expect(await ask(from(`203.0.2.${asked}`, ada), question)).toBe(200)
    expect(await ask(from("203.0.2.99", ada), question)).toBe(429)
    await refuse(3)
  })

  test("are limited to twenty times as many for everyone at one address, as the proxy reports it", async () => {
    const people = await Promise.all(
      Array.from({ length: 8 }, (_, person) => enter(`office-${person}@example.org`)),
    )
    const last = people.pop() as Person
    const answers = people.flatMap((person, at) =>
      ["1", "2", "3"].map((other) => ask(from(`10.9.${at}.${other}, 192.0.2.77`, person), question)),
    )
    const statuses = await Promise.all(answers)
    expect(statuses.filter((status) => status === 200)).toHaveLength(20)
    expect(statuses.filter((status) => status === 429)).toHaveLength(1)
    expect(await ask(from("10.9.8.1, 192.0.2.77", last), question)).toBe(429)
    expect(await ask(from("192.0.2.78", last), question)).toBe(200)
  })
})

describe("messages to the people in a space", () => {
  test("are limited like replies and apart from them, also without another address", async () => {
    const host = await enter("talker@example.org")
    const made = await host("/api/spaces", post({ name: "Pier" }))
    const { space } = (await made.json()) as { space: { _id: string } }
    const threadId = crypto.randomUUID()
    const tell = async (address: string, text: string) => {
      const messages = [{ id: crypto.randomUUID(), role: "user", parts: [{ type: "text", text }] }]
      const body = { threadId, createThread: true, spaceId: space._id, messages }
      return (await from(address, host)("/api/chat", postAsync(body))).status
    }
    for (let sent = 1; sent <= 3; sent++)
      expect(await tell(`198.18.0.${sent}`, "@talker@example.org hello")).toBe(202)
    expect(await tell("198.18.0.99", "@talker@example.org hello")).toBe(429)
    expect(await tell("198.18.0.98", "How deep is the sea?")).toBe(202)
    expect(await sql`select 1 from chat_turns where thread_id = ${threadId}`).toHaveLength(1)
  })
})

async function enter(email: string): Promise<Person> {
  const person = await signUp(app, { name: "Ada", email })
  await confirm(person)
  return person
}

async function confirm({ email }: Person) {
  await sql`update auth.user set email_verified = true where email = ${email}`
}

async function ask(send: ReturnType<typeof from>, question: object): Promise<number> {
  const answer = await send("/api/chat", post(question))
  await answer.text()
  return answer.status
}

async function lettersTo(address: string): Promise<string[]> {
  const all = (await (await fetch(`${app.inbox}/api/messages`)).json()) as { to: string; subject: string }[]
  return all.filter(({ to }) => to === address).map(({ subject }) => subject)
}
