import { beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest"
import type { ThreadSummary } from "#server/chat/contract.ts"
import { NEXT, OPERATION, VALUES } from "#server/operations/form-contract.ts"
import { operatorOperations } from "#server/operator/operations-contract.ts"
import { inAll } from "../support/all.ts"
import { postAsync } from "../support/api.ts"
import { startTideline } from "../support/app.ts"
import { startClerk } from "../support/clerk.ts"
import { fieldsFor } from "../support/forms.ts"
import { findEmail } from "../support/inbox.ts"
import { openLiveSocket, realtimeToken } from "../support/live.ts"
import { openBrowser, postJson, signIn, signUp, type Person } from "../support/people.ts"
import { addSecondFactor } from "../support/second-factor.ts"
import { withTideline } from "../support/with-tideline.ts"

const PAGES = [
  "/admin",
  "/admin/people",
  "/admin/spaces",
  "/admin/waitlist",
  "/admin/emails",
  "/admin/live",
  "/admin/servers",
  "/admin/history",
  "/admin/security",
]
const NO_ID = "00000000-0000-7000-8000-000000000000"
const SAMPLES = {
  userId: "of the other person",
  plan: "pro",
  email: "friend@example.org",
  emailId: NO_ID,
  answerId: NO_ID,
}

let operator: Person
let member: Person
const { app, sql } = withTideline({
  settings: {
    ADMIN_EMAILS: "Operator@example.org, unverified@example.org",
    CHAT_RATE_LIMIT: "2",
    CHAT_RATE_LIMIT_PRO: "4",
    CHAT_TURNS_AT_ONCE: "1",
    CHAT_TURNS_AT_ONCE_PRO: "2",
    FILES_MAX_SIZE: "1kB",
    FILES_MAX_SIZE_PRO: "2kB",
  },
  connections: 2,
})

beforeAll(async () => {
  operator = await enter("operator@example.org")
  member = await enter("member@example.org")
  await sql`update auth.user set email_verified = true, holder_confirmed = true where email in (${operator.email}, ${member.email})`
  await addSecondFactor(operator, operator.password)
})

describe("the operator's pages", () => {
  it.each(PAGES)("%s opens for a verified address in ADMIN_EMAILS", async (path) => {
    const response = await operator(path)
    expect(response.status).toBe(200)
    expect(response.headers.get("cache-control")).toContain("no-store")
    const html = await response.text()
    expect(html).toContain("operator@example.org")
    expect(html).not.toContain("<script")
  })

  it("show the installation's status", async () => {
    const html = await (await operator("/admin")).text()
    for (const words of [
      "This one",
      "0 live connections",
      "Current",
      "Not scheduled here",
      process.versions.node,
    ])
      expect(html).toContain(words)
  })

  it("show what each live query does, and never for whom or with which rows", async () => {
    const made = await postJson(member, "/api/chat/threads", { title: "Confidential soundings" })
    const { thread } = (await made.json()) as { thread: ThreadSummary }
    const socket = await openLiveSocket(app, await realtimeToken(member))
    onTestFinished(() => socket.close())
    await socket.subscribe("chat.listThreads", {}, 1)
    expect((await socket.subscribe("chat.listMessages", { threadId: NO_ID }, 2)).refused).toHaveLength(1)
    await member(`/api/chat/threads/${thread._id}`, { method: "DELETE" })
    await socket.until(({ name }) => name === "commit")
    const html = await (await operator("/admin/live")).text()
    const row = /<code>chat\.listThreads<\/code>.*?<\/tr>/.exec(html)?.[0] ?? ""
    const [subscriptions, begun, , , reads, , rows, changes] = [...row.matchAll(/<td[^>]*>([^<]*)/g)].map(
      ([, text]) => Number(text),
    )
    expect({ subscriptions, begun, changes }).toEqual({ subscriptions: 1, begun: 1, changes: 1 })
    expect(reads).toBeGreaterThan(0)
    expect(rows).toBeGreaterThan(0)
    expect(html).toMatch(/<code>chat\.listMessages<\/code>.*?<\/tr>/)
    for (const secret of [member.email, thread._id, thread.title, NO_ID]) expect(html).not.toContain(secret)
  })

  it("are linked from the operator's menu only", async () => {
    await sql`update users set onboarding_completed = true`
    expect(await (await operator("/dashboard")).text()).toContain('href="/admin"')
    expect(await (await member("/dashboard")).text()).not.toContain('href="/admin"')
  })
})

describe("access to the operator's pages", () => {
  /** Every URL and every verb, as a page, as data, and as data of one route. */
  const asks: [path: string, fields?: Record<string, string>][] = [
    ...PAGES.flatMap((path): [string][] => [[path], [`${path}.data`]]),
    ["/admin/people.data?_routes=routes%2Fadmin%2Fpeople"],
    ["/admin/waitlist/export"],
    ["/ADMIN/people"],
    ...Object.values(operatorOperations).flatMap(({ name, input }) => {
      const values = Object.entries(SAMPLES).filter(([field]) => field in input.entries)
      const fields = fieldsFor({ name }, Object.fromEntries(values))
      return ["/admin", "/admin?index", "/admin/people", "/admin/people.data", "/admin/emails.data"].map(
        (path): [string, Record<string, string>] => [path, fields],
      )
    }),
    ["/admin/history", form("retryEmail")],
    ["/admin/waitlist/export", form("invite", { email: "friend@example.org" })],
    ["/admin/nothing"],
  ]

  async function knock(send: (path: string, init?: RequestInit) => Promise<Response>) {
    const [row] = await sql`select clerk_id from users where email = ${member.email}`
    const statuses = new Map<string, number>()
    for (const [path, fields] of asks) {
      const body = new URLSearchParams(fields)
      body.set(VALUES, (body.get(VALUES) ?? "").replace(SAMPLES.userId, String(row?.["clerk_id"])))
      const init = fields ? { method: "POST", body } : {}
      const response = await send(path, init)
      statuses.set(`${path} ${fields?.[OPERATION] ?? ""}`, response.status)
      expect(await response.text()).not.toMatch(/ADMIN_EMAILS|operator@example\.org|On the waitlist/)
    }
    return statuses
  }

  it("is denied to anyone else who is signed in, for reading and changing", async () => {
    expect(new Set((await knock(member)).values())).toEqual(new Set([404]))
    await expectNothingChanged()
  })

  it("is denied to a listed address that is not verified", async () => {
    const unverified = await enter("unverified@example.org")
    expect(new Set((await knock(unverified)).values())).toEqual(new Set([404]))
    await expectNothingChanged()
  })

  it("is denied to an operator's API key, or their session in a header", async () => {
    const session = decodeURIComponent(operator.cookies()["tideline.session_token"] ?? "")
    const key = await operator.apiKey()
    // React Router answers a request for data with 202 where a page would be redirected.
    for (const [credential, statuses] of [
      // At a URL without a page, a program is told that there is none, or to send a key.
      [key, [401, 404]],
      [session, [302, 202, 401]],
    ] as const) {
      const withBearer = (path: string, init: RequestInit = {}) =>
        fetch(app.origin + path, {
          ...init,
          redirect: "manual",
          headers: { authorization: `Bearer ${credential}` },
        })
      expect(new Set((await knock(withBearer)).values())).toEqual(new Set(statuses))
      await expectNothingChanged()
    }
  })

  it("sends visitors to sign in, and reveals nothing else", async () => {
    const visitor = openBrowser(app)
    for (const [asked, status] of await knock(visitor)) expect([202, 302], asked).toContain(status)
    await expectNothingChanged()
  })

  it("is denied to requests that another site triggers in the operator's browser", async () => {
    const forged = await operator("/admin/waitlist", {
      method: "POST",
      headers: { origin: "https://evil.example" },
      body: new URLSearchParams(form("invite", { email: "friend@example.org" })),
    })
    expect(forged.status).toBe(403)
    await expectNothingChanged()
  })
})

describe("people", () => {
  it("are found by a part of their address, in any capitalisation", async () => {
    await sql`insert into users (clerk_id, email) values ('percent', '100%_ada@example.org')`
    expect(await find("MEMBER")).toContain("member@example.org")
    expect(await find("%_a")).toContain("100%_ada@example.org")
    expect(await find("%_a")).not.toContain("member@example.org")
    expect(await find("nobody")).toContain("No email address contains “nobody”.")
  })

  it("are listed in pages of fifty", async () => {
    await sql`insert into users (clerk_id, email)
      select 'crowd_' || n, 'crowd-' || n || '@example.org' from generate_series(1, 60) n`
    const first = await (await operator("/admin/people?q=crowd-")).text()
    expect(first.match(/crowd-\d+@example\.org<|crowd-\d+@example\.org(?= )/g)?.length).toBeGreaterThan(0)
    expect(first).toContain("crowd-60@")
    expect(first).not.toContain("crowd-10@")
    const next = /href="(\?[^"]*before=[^"]*)"/.exec(first)?.[1]?.replaceAll("&amp;", "&") ?? ""
    const second = await (await operator(`/admin/people${next}`)).text()
    expect(second).toContain("crowd-10@")
    expect(second).not.toContain("crowd-60@")
    expect(second).not.toMatch(/href="[^"]*before=/)
    expect((await operator("/admin/people?before=nonsense&q=")).status).toBe(200)
    for (const page of ["people", "spaces", "security"])
      expect((await operator(`/admin/${page}?q=a%00b`)).status).toBe(200)
  })

  it("can be given another plan, which applies from their next request, with an email and a record of who did it", async () => {
    const person = await enter("plan@example.org")
    const userId = await idOf(person)
    const limits = () => limitsAsFelt(person)
    expect(await limits()).toEqual({ chat: "1", files: "1000", largeFile: 413 })

    expect(await (await operator("/admin/people?q=plan&did=x")).text()).toContain(
      'value="/admin/people?q=plan&amp;did=:_id"',
    )
    const done = await act("/admin/people?q=plan", form("changePlan", { userId, plan: "pro" }))
    expect(done.page).toContain("Done: you changed the plan of plan@example.org from free to pro.")
    expect(done.location).toMatch(/^\/admin\/people\?q=plan&did=/)
    const [row] = await sql`select u.plan as record, a.plan as account from users u
      join auth.user a on a.id = u.clerk_id where u.clerk_id = ${userId}`
    expect(row).toEqual({ record: "pro", account: "pro" })
    expect(await limits()).toEqual({ chat: "2", files: "2000", largeFile: 201 })
    expect(await (await person("/dashboard/account")).text()).toContain("2 kB")
    await findEmail(app, person.email, /plan/i)

    expect(await act("/admin/people", form("changePlan", { userId, plan: "pro" }))).toMatchObject({
      status: 409,
      page: expect.stringContaining("is on the pro plan already."),
    })
    await act("/admin/people", form("changePlan", { userId, plan: "free" }))
    expect((await limits()).chat).toBe("0")
    expect(await history(2)).toEqual([
      "operator@example.org changed the plan of plan@example.org from pro to free",
      "operator@example.org changed the plan of plan@example.org from free to pro",
    ])
  })

  it("are suspended and allowed again, with a note of who did it", async () => {
    const person = await enter("suspended@example.org")
    const userId = await idOf(person)
    expect(await find("suspended@")).not.toContain("Allow again")
    const done = await act("/admin/people?q=suspended", form("suspend", { userId }))
    expect(done.page).toContain("Done: you suspended suspended@example.org.")
    expect(done.page).toContain("Allow again")
    expect((await person("/dashboard")).status).toBe(302)
    expect(await act("/admin/people", form("suspend", { userId }))).toMatchObject({
      status: 409,
      page: expect.stringContaining("suspended@example.org is suspended already."),
    })
    await act("/admin/people", form("allow", { userId }))
    expect((await person("/dashboard")).status).toBe(302)
    expect((await (await signIn(app, person))("/dashboard")).status).toBe(200)
    expect(await act("/admin/people", form("allow", { userId }))).toMatchObject({ status: 409 })
    expect(await history(2)).toEqual([
      "operator@example.org allowed suspended@example.org again",
      "operator@example.org suspended suspended@example.org",
    ])
  })

  it("cannot be suspended if they are the operator or do not exist", async () => {
    const own = await act("/admin/people", form("suspend", { userId: await idOf(operator) }))
    expect(own).toMatchObject({ status: 403, page: expect.stringContaining("suspend your own account") })
    expect((await operator("/admin")).status).toBe(200)
    const nobody = await act("/admin/people", form("suspend", { userId: "nobody" }))
    expect(nobody).toMatchObject({ status: 410, page: expect.stringContaining("no longer exists") })
  })

  it("receive a link to a new password, which is shown once and works once", async () => {
    const person = await enter("forgetful@example.org")
    const shown = await act("/admin/people", form("makePasswordLink", { userId: await idOf(person) }))
    const token = /\/sign-in\/new-password\?token=(\w+)/.exec(shown.page)?.[1] ?? ""
    expect(await history(1)).toEqual([
      "operator@example.org created a password link for forgetful@example.org",
    ])
    expect(await (await operator("/admin/history")).text()).not.toContain(token)
    const choose = () =>
      openBrowser(app)("/sign-in/new-password", {
        method: "POST",
        body: new URLSearchParams({ token, password: "remembered this time" }),
      })
    expect((await choose()).status).toBe(303)
    expect((await choose()).status).toBe(400)
    expect((await person("/dashboard")).status).toBe(302)
    await signIn(app, { email: person.email, password: "remembered this time" })
  })

  it("receive no such link if they are listed as operators", async () => {
    const refused = await act("/admin/people", form("makePasswordLink", { userId: await idOf(operator) }))
    expect(refused).toMatchObject({
      status: 403,
      page: expect.stringContaining("npm run user -- reset-password operator@example.org"),
    })
    expect(refused.page).not.toContain("token=")
  })

  it("may receive as many concurrent replies as their plan allows, from the next message on", async () => {
    const person = await enter("eager@example.org")
    expect((await ask(person)).status).toBe(202)
    expect((await ask(person)).status).toBe(409)
    await act("/admin/people", form("changePlan", { userId: await idOf(person), plan: "pro" }))
    expect((await ask(person)).status).toBe(202)
    expect((await ask(person)).status).toBe(409)
  })

  it("can be signed out everywhere, sockets included, while their keys keep working", async () => {
    const person = await enter("left-open@example.org")
    const elsewhere = await signIn(app, person)
    const key = await person.apiKey()
    const socket = await openLiveSocket(app, await realtimeToken(elsewhere))
    const done = await act("/admin/people", form("signOut", { userId: await idOf(person) }))
    expect(done.page).toContain("Done: you signed left-open@example.org out everywhere.")
    await socket.until(({ name }) => name === "goodbye")
    for (const browser of [person, elsewhere]) expect((await browser("/dashboard")).status).toBe(302)
    const script = { headers: { authorization: `Bearer ${key}` } }
    expect((await fetch(`${app.origin}/api/files`, script)).status).toBe(200)
    expect((await operator("/admin")).status).toBe(200)
  })

  it("are not changed if they were deleted, and an invalid form is reported", async () => {
    for (const fields of [
      form("signOut", { userId: "nobody" }),
      form("changePlan", { userId: "nobody", plan: "pro" }),
    ])
      expect((await act("/admin/people", fields)).status).toBe(410)
    expect((await act("/admin/people", fieldsFor({ name: "operator.become" }, {}))).status).toBe(400)
    const unknownPlan = form("changePlan", { userId: "nobody", plan: "gold" })
    expect((await act("/admin/people", unknownPlan)).status).toBe(400)
  })
})

describe("the waitlist", () => {
  it("is listed, invited from and exported", async () => {
    await sql`insert into waitlist (email) values ('waiting@example.org')`
    expect(await (await operator("/admin/waitlist")).text()).toContain("waiting@example.org")
    const done = await act("/admin/waitlist", form("invite", { email: "waiting@example.org" }))
    expect(done.page).toContain("Done: you invited waiting@example.org.")
    expect((await findEmail(app, "waiting@example.org", /room for you/)).text).toContain(
      "/sign-up?invitation=",
    )
    const malformed = await act("/admin/waitlist", form("invite", { email: "no address" }))
    expect(malformed.status).toBe(400)
    expect(malformed.page).toContain("Enter an email address such as ada@example.org.")
    const unknown = await act(
      "/admin/waitlist",
      fieldsFor({ name: "operator.expel" }, { email: "waiting@example.org" }),
    )
    expect(unknown.status).toBe(400)
    expect(unknown.page).toContain("This form does not belong to this page.")
    await sql`update waitlist set joined_at = 1`
    expect((await act("/admin/waitlist", form("invite", { email: "Waiting@example.org" }))).status).toBe(409)

    const csv = await operator("/admin/waitlist/export")
    expect(csv.headers.get("content-type")).toContain("text/csv")
    expect(await csv.text()).toMatch(
      /^email,asked_at,confirmed_at,invited_at,joined_at\r\nwaiting@example\.org,\d{4}-.*\r\n$/,
    )
  })
})

describe("emails", () => {
  beforeEach(() => sql`delete from mail_outbox`)

  it("that are parked are sent again, one or all", async () => {
    const [first, second] = [await park("first@example.org"), await park("second@example.org")]
    await park("third@example.org")
    const spent = await park("spent@example.org", 1)
    const page = await (await operator("/admin/emails")).text()
    expect(page).toContain("The mailbox is full.")
    expect(page).not.toContain("secret words")

    expect(await act("/admin/emails", form("retryEmail", { emailId: spent }))).toMatchObject({ status: 409 })
    const done = await act("/admin/emails", form("retryEmail", { emailId: first }))
    expect(done.page).toContain("Done: you resent an email to first@example.org (welcome).")
    await findEmail(app, "first@example.org", /words/)
    expect(await act("/admin/emails", form("retryEmails"))).toMatchObject({ status: 200 })
    for (const to of ["second@example.org", "third@example.org"]) await findEmail(app, to, /words/)
    expect(await act("/admin/emails", form("retryEmail", { emailId: second }))).toMatchObject({ status: 410 })
    expect(await act("/admin/emails", form("retryEmails"))).toMatchObject({ status: 409 })
    expect(await history(2)).toEqual([
      "operator@example.org resent emails: 2 that were parked",
      "operator@example.org resent an email to first@example.org (welcome)",
    ])
  })

  it("can be dropped before they are sent, but not while they are being sent", async () => {
    const emailId = await park("dropped@example.org")
    await sql`update mail_outbox set lease_until = (extract(epoch from now()) * 1000)::bigint + 60000`
    expect(await act("/admin/emails", form("dropEmail", { emailId }))).toMatchObject({ status: 409 })
    await sql`update mail_outbox set lease_until = null`
    expect(await act("/admin/emails", form("dropEmail", { emailId }))).toMatchObject({ status: 200 })
    expect(await sql`select * from mail_outbox where _id = ${emailId}`).toHaveLength(0)
    expect(await act("/admin/emails", form("dropEmail", { emailId }))).toMatchObject({ status: 410 })
    expect(await act("/admin/emails", form("dropEmail", { emailId: "all" }))).toMatchObject({ status: 400 })
  })
})

describe("replies in progress", () => {
  it("are listed without their text, and can be stopped", async () => {
    const person = await enter("asks@example.org")
    const asked = await ask(person, "/slow secret")
    const { answerId } = (await asked.json()) as { answerId: string }
    const page = await (await operator("/admin")).text()
    expect(page).toContain("asks@example.org")
    expect(page).not.toContain("secret")

    const done = await act("/admin", form("stopReply", { answerId }))
    expect(done.page).toContain("Done: you stopped a reply to asks@example.org.")
    await expect
      .poll(() => sql`select status from chat_turns where _id = ${answerId}`, { timeout: 10_000 })
      .toEqual([{ status: "stopped" }])
    expect(await act("/admin", form("stopReply", { answerId }))).toMatchObject({ status: 409 })
  })
})

describe("the operators' history", () => {
  it("can be appended to, but not changed or removed, and is not visible live", async () => {
    const count = async () => (await sql`select * from operator_acts`).length
    const before = await count()
    expect(before).toBeGreaterThan(0)
    for (const statement of [
      "update operator_acts set detail = 'nothing'",
      "update operator_acts set facts = '{}'",
      "update operator_acts set operator_email = 'somebody.else@example.org'",
      "delete from operator_acts",
      "truncate operator_acts",
    ])
      await expect(sql.unsafe(statement), statement).rejects.toThrow("only added to")
    expect(await count()).toBe(before)
    expect(await sql`select * from pg_publication_tables where tablename = 'operator_acts'`).toHaveLength(0)
  })

  it("does not name anyone whose account is deleted", async () => {
    const person = await enter("leaves@example.org")
    await act("/admin/people", form("changePlan", { userId: await idOf(person), plan: "pro" }))
    const gone = await person("/dashboard/account", {
      method: "POST",
      body: new URLSearchParams({ intent: "delete-account", confirmation: person.password }),
    })
    expect(gone.status).toBe(303)
    expect(await history(1)).toEqual([
      "operator@example.org changed the plan of somebody whose account was deleted from free to pro",
    ])
    const rows = await sql<{ row: string }[]>`select operator_acts::text as row from operator_acts`
    expect(rows.filter(({ row }) => row.includes("leaves@"))).toEqual([])
  })

  it("cannot be forged through a URL", async () => {
    const [row] = await sql<{ _id: string }[]>`insert into operator_acts (act, operator_id, subject_email)
      values ('invite', 'somebody else', 'made-up@example.org') returning _id`
    for (const did of [row?._id ?? "", "<b>hello</b>", NO_ID])
      expect(await (await operator(`/admin?did=${encodeURIComponent(did)}`)).text()).not.toContain("Done:")
  })
})

describe("with Clerk as the provider", () => {
  inAll("the pages open for its primary address, and leave plans and sessions to Clerk", async () => {
    const clerk = await startClerk()
    const withClerk = await startTideline({
      ADMIN_EMAILS: "boss@example.org",
      ...clerk.settings,
    })
    try {
      const browserOf = async (id: string) => {
        const email = `${id}@example.org`
        clerk.users.set(`user_${id}`, { id: `user_${id}`, email, name: ["Ada", "Lovelace"], plan: "free" })
        const claims = {
          sub: `user_${id}`,
          sid: `sess_${id}`,
          v: 2,
          sts: "active",
          azp: withClerk.origin,
          pla: "u:free",
        }
        return openBrowser(withClerk, { __session: await clerk.mint(claims), __client_uat: "1" })
      }
      const [boss, other] = [await browserOf("boss"), await browserOf("other")]
      expect((await other("/admin")).status).toBe(404)
      const page = await boss("/admin/people")
      expect(page.status).toBe(200)
      const html = await page.text()
      expect(html).toContain("Plans and sessions are managed in Clerk")
      expect(html).toContain('href="https://dashboard.clerk.com"')
      expect(html).not.toMatch(/Upgrade to|Sign out everywhere|Suspend|password link/)
      for (const fields of [
        form("changePlan", { userId: "user_other", plan: "pro" }),
        form("signOut", { userId: "user_other" }),
        form("suspend", { userId: "user_other" }),
        form("allow", { userId: "user_other" }),
        form("makePasswordLink", { userId: "user_other" }),
      ]) {
        const answer = await boss("/admin/people", { method: "POST", body: new URLSearchParams(fields) })
        expect(answer.status).toBe(403)
      }
    } finally {
      await withClerk.stop()
      clerk.close()
    }
  })
})

/** Somebody with a record. */
async function enter(email: string): Promise<Person> {
  const person = await signUp(app, { name: "Ada", email })
  await person("/onboarding")
  await sql`update users set onboarding_completed = true where email = ${email}`
  return person
}

async function idOf(person: Person): Promise<string> {
  const [row] = await sql<{ clerk_id: string }[]>`select clerk_id from users where email = ${person.email}`
  return row?.clerk_id ?? ""
}

function form(name: keyof typeof operatorOperations, values: object = {}): Record<string, string> {
  return fieldsFor(operatorOperations[name], values)
}

/** Submits the operator's form, and resolves with the page after it. */
async function act(path: string, fields: Record<string, string>) {
  const body = new URLSearchParams(fields)
  if (fields[OPERATION] !== operatorOperations.makePasswordLink.name)
    body.set(NEXT, `${path}${path.includes("?") ? "&" : "?"}did=:_id`)
  const response = await operator(path, { method: "POST", body })
  const location = response.headers.get("location")
  if (response.status !== 303 || !location)
    return { status: response.status, location, page: await response.text() }
  const page = await operator(location)
  return { status: page.status, location, page: await page.text() }
}

/** The newest entry of the history, as the page shows it. */
async function history(most: number): Promise<string[]> {
  const html = await (await operator("/admin/history")).text()
  return [
    ...html.matchAll(
      /<p class="[^"]*font-medium[^"]*">([^<]*operator@example\.org [^<]*?) ?<(?:!--[^>]*-->)?/g,
    ),
  ]
    .map(([, words = ""]) => words.trim())
    .slice(0, most)
}

/**
 * What a person's next requests are allowed: chat requests left, the largest file that tus
 * announces, and whether one of 1500 bytes is accepted.
 */
async function limitsAsFelt(person: Person) {
  const chat = await person("/api/chat", { method: "POST", body: "no JSON" })
  const tus = await person("/api/files/uploads", { method: "OPTIONS" })
  const name = `${crypto.randomUUID()}.bin`
  const upload = await person(`/api/files?name=${name}`, { method: "POST", body: "x".repeat(1500) })
  return {
    chat: chat.headers.get("x-ratelimit-remaining"),
    files: tus.headers.get("tus-max-size"),
    largeFile: upload.status,
  }
}

/** By the requests of `knock`. */
async function expectNothingChanged() {
  expect(await sql`select * from operator_acts`).toHaveLength(0)
  expect(await sql`select * from waitlist`).toHaveLength(0)
  expect(await sql`select plan from users where email = ${member.email}`).toEqual([{ plan: "free" }])
  expect((await member("/dashboard")).status).toBe(200)
}

/** The page of the people with this text in their email address. */
async function find(q: string): Promise<string> {
  return (await operator(`/admin/people?${new URLSearchParams({ q })}`)).text()
}

/** An email that the mail server rejected. */
async function park(to: string, expiresAt: number | null = null): Promise<string> {
  const [row] = await sql<{ _id: string }[]>`
    insert into mail_outbox (kind, cause, recipient, message_id, subject, text, html, state, next_attempt_at,
      expires_at, last_error)
    values ('welcome', ${to}, ${to}, ${`<${to}>`}, 'A few words', 'secret words', 'secret words', 'parked', 0,
      ${expiresAt}, 'The mailbox is full.')
    returning _id`
  return row?._id ?? ""
}

/** In a conversation of its own, without waiting for the reply. */
async function ask(person: Person, text = "/slow"): Promise<Response> {
  const made = await postJson(person, "/api/chat/threads", { title: "The sea" })
  const { thread } = (await made.json()) as { thread: ThreadSummary }
  const messages = [{ id: "q1", role: "user", parts: [{ type: "text", text }] }]
  return person("/api/chat", postAsync({ threadId: thread._id, messages }))
}
