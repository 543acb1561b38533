import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { inAll } from "../support/all.ts"
import { from } from "../support/api.ts"
import { startTideline, type TidelineApp } from "../support/app.ts"
import { startClerk } from "../support/clerk.ts"
import { runBuiltCommand } from "../support/commands.ts"
import { findEmail, type Email } from "../support/inbox.ts"
import { openBrowser, postJson, signIn, signUp, type Person } from "../support/people.ts"
import { withTideline } from "../support/with-tideline.ts"

const { app, sql } = withTideline({ settings: { TRUSTED_PROXIES: "1" } })

test("an address joins with a plain form, and the page confirms it", async () => {
  const page = await (await fetch(`${app.origin}/waitlist`)).text()
  expect(page).toMatch(/<form[^>]* method="post"/)
  expect(page).toMatch(/<input[^>]* name="email"/)

  const response = await signOn("ada@example.org")
  expect(response.status).toBe(302)
  expect(response.headers.get("location")).toBe("/waitlist?joined")
  expect(await (await fetch(`${app.origin}/waitlist?joined`)).text()).toContain("Check your inbox")
  expect(await stored()).toEqual(["ada@example.org"])
})

test("an address is stored once in any capitalisation, with identical responses", async () => {
  const answers = []
  for (const email of ["grace@example.org", "Grace@Example.ORG", "  grace@example.org "]) {
    const { status, headers } = await signOn(email)
    answers.push([status, headers.get("location")])
  }
  expect(new Set(answers.map(String)).size).toBe(1)
  expect((await stored()).filter((email) => /grace/i.test(email))).toEqual(["grace@example.org"])
})

test("the same address from fifty concurrent forms is stored once", async () => {
  const responses = await Promise.all(
    Array.from({ length: 50 }, (_, i) => signOn("crowd@example.org", `203.0.113.${i}`)),
  )
  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([302]))
  expect((await stored()).filter((email) => email === "crowd@example.org")).toHaveLength(1)
})

test("an address is confirmed by the link in its email and a button, and by nothing less", async () => {
  await signOn("mary@example.org")
  const message = await findEmail(app, "mary@example.org", /Confirm your place/)
  const link = linkIn(message, "/waitlist/confirm")

  for (const method of ["GET", "HEAD", "GET"]) expect((await fetch(link, { method })).status).toBe(200)
  expect(await placeOf("mary@example.org")).toMatchObject({ confirmed_at: null })
  expect(await (await fetch(link)).text()).toMatch(/<form[^>]* method="post"/)

  for (let press = 0; press < 2; press++) {
    const pressed = await openBrowser(app)(link, { method: "POST" })
    expect([pressed.status, pressed.headers.get("location")]).toEqual([302, "/waitlist/confirm?confirmed"])
  }
  expect(await (await fetch(`${app.origin}/waitlist/confirm?confirmed`)).text()).toContain(
    "You are on the list",
  )
  expect((await placeOf("mary@example.org"))?.["confirmed_at"]).not.toBeNull()
})

test.each([
  ["no token", () => ""],
  ["a made-up one", () => "?token=nonsense"],
  ["one for another row", (token: string) => `?token=${token.replace(/^[^.]+/, crypto.randomUUID())}`],
  ["one with a later expiry", (token: string) => `?token=${token.replace(/\.\d+\./, ".9999999999.")}`],
  ["a truncated one", (token: string) => `?token=${token.slice(0, -3)}`],
])("%s confirms nothing", async (_what, forge) => {
  const email = `forged-${crypto.randomUUID()}@example.org`
  await signOn(email)
  const link = new URL(linkIn(await findEmail(app, email, /Confirm/), "/waitlist/confirm"))
  const forged = `/waitlist/confirm${forge(link.searchParams.get("token") ?? "")}`
  expect((await fetch(app.origin + forged)).status).toBe(400)
  expect((await openBrowser(app)(forged, { method: "POST" })).status).toBe(400)
  expect(await placeOf(email)).toMatchObject({ confirmed_at: null })
})

test("a confirmation link is not an invitation, and an invitation does not confirm a place", async () => {
  await signOn("mixed@example.org")
  const confirm = new URL(linkIn(await findEmail(app, "mixed@example.org", /Confirm/), "/waitlist/confirm"))
  await operate("invite", "mixed@example.org")
  const invite = new URL(linkIn(await findEmail(app, "mixed@example.org", /room for you/), "/sign-up"))
  const page = await fetch(`${app.origin}/sign-up?invitation=${confirm.searchParams.get("token")}`)
  expect(await page.text()).not.toContain("mixed@example.org")
  const swapped = `/waitlist/confirm?token=${invite.searchParams.get("invitation")}`
  expect((await openBrowser(app)(swapped, { method: "POST" })).status).toBe(400)
})

test("one address gets three emails with valid links, and none once it is confirmed, with identical responses", async () => {
  const answers = []
  for (let i = 0; i < 6; i++) {
    // The link holds the second.
    if (i > 0)
      await sql`update mail_outbox set cause = cause || ${String(i)} where recipient = 'flood@example.org'`
    const { status, headers } = await signOn("Flood@example.org".replace("F", i % 2 ? "F" : "f"))
    answers.push(`${status} ${headers.get("location")}`)
  }
  expect(new Set(answers)).toEqual(new Set(["302 /waitlist?joined"]))
  expect(await lettersTo("flood@example.org")).toBe(3)

  await sql`update waitlist set confirmed_at = 1 where email = 'flood@example.org'`
  await sql`delete from mail_outbox where recipient = 'flood@example.org'`
  const { status, headers } = await signOn("flood@example.org")
  expect(`${status} ${headers.get("location")}`).toBe("302 /waitlist?joined")
  expect(await lettersTo("flood@example.org")).toBe(0)
})

test.each([
  ["", "Enter your email address."],
  ["   ", "Enter your email address."],
  ["ada", "Enter an email address such as ada@example.org."],
  ["ada@", "Enter an email address such as ada@example.org."],
  ["ada@example.org, eve@example.org", "Enter an email address such as ada@example.org."],
  ["ada@example.org\r\nBcc: eve@example.org", "Enter an email address such as ada@example.org."],
  [`${"a".repeat(250)}@example.org`, "An email address can have up to 254 characters."],
])("%j is refused at its field, and kept there", async (email, words) => {
  const before = await stored()
  const response = await signOn(email)
  expect(response.status).toBe(400)
  const page = await response.text()
  expect(page).toContain(words)
  expect(page).toMatch(/aria-invalid="true"/)
  if (email.trim() && !/[\r\n]/.test(email)) expect(page).toContain(`value="${email}"`)
  expect(await stored()).toEqual(before)
})

test("what was typed comes back as text", async () => {
  const page = await (await signOn(`"><script>alert(1)</script>`)).text()
  expect(page).not.toContain("<script>alert(1)")
  expect(page).toContain("&quot;&gt;&lt;script&gt;alert(1)")
})

test("a body that is not a form, or too large, is refused", async () => {
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

test("one address can join twenty times a minute", async () => {
  const statuses = []
  for (let i = 0; i < 21; i++) {
    // What precedes the proxy's own entry is the client's choice.
    statuses.push((await signOn(`many-${i}@example.org`, `203.0.113.${i}, 192.0.2.99`)).status)
  }
  expect(statuses.slice(0, 20)).toEqual(Array.from({ length: 20 }, () => 302))
  expect(statuses.at(-1)).toBe(429)
  // The owner of one IPv6 address has the rest of its network as well.
  const inOneNetwork = []
  for (let i = 0; i < 21; i++)
    inOneNetwork.push((await signOn(`more-${i}@example.org`, `2001:db8:0:7::${i}`)).status)
  expect(inOneNetwork.filter((status) => status === 429)).toHaveLength(1)
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

describe("npm run waitlist", () => {
  test("lists and exports who is waiting, in the order of joining", async () => {
    await signOn("listed@example.org")
    const list = await operate("list")
    expect(list.code).toBe(0)
    expect(list.output).toMatch(/^\d{4}-\d\d-\d\d {2}ada@example\.org +not confirmed$/m)
    expect(list.output).toMatch(/mary@example\.org +confirmed$/m)
    expect(list.output.indexOf("ada@example.org")).toBeLessThan(list.output.indexOf("listed@example.org"))

    const [names, ...lines] = (await operate("export")).output.split("\r\n")
    expect(names).toBe("email,asked_at,confirmed_at,invited_at,joined_at")
    expect(lines).toHaveLength((await stored()).length)
    expect(lines[0]).toMatch(/^ada@example\.org,\d{4}-\d\d-\d\dT[\d:.]+Z,,,$/)
  })

  test("invites an address that is not on the list", async () => {
    const { code, output } = await operate("invite", "new@example.org")
    expect(code).toBe(0)
    const [link = ""] = /http\S+/.exec(output) ?? []
    expect(link.startsWith(`${app.origin}/sign-up?invitation=`)).toBe(true)
    expect(linkIn(await findEmail(app, "new@example.org", /room for you/), "/sign-up")).toBe(link)
    expect(await stored()).toContain("new@example.org")
  })

  test.each([
    [[], "Usage: npm run waitlist"],
    [["invite", "ada@example.org\r\nBcc: eve@example.org"], "Usage: npm run waitlist"],
  ])("prints its usage for %j", async (words, answer) => {
    const { code, output } = await operate(...words)
    expect(code).toBe(1)
    expect(output).toContain(answer)
  })
})

describe("with sign-up closed", () => {
  let closed: TidelineApp
  beforeAll(async () => {
    closed = await startTideline({ SIGNUP: "closed", DATABASE_URL: app.databaseUrl })
  })
  afterAll(() => closed.stop())

  test("the page links to the waitlist", async () => {
    const page = await (await fetch(`${closed.origin}/sign-up`)).text()
    expect(page).toContain("Sign-up is closed here")
    expect(page).toContain('href="/waitlist"')
    expect(page).not.toContain('name="password"')
  })

  test("an invitation lets its address sign up, once", async () => {
    const { output } = await operateOn(closed, "invite", "Invited@example.org")
    const [link = ""] = /http\S+/.exec(output) ?? []
    const page = await (await fetch(link)).text()
    expect(page).toMatch(/<input[^>]*value="Invited@example.org"/)
    expect(page).toMatch(/<input[^>]*readOnly=""/i)

    const form = { name: "Ida Rhodes", email: "Invited@example.org", password: "an engine of brass" }
    const thief = await fill(link, { ...form, email: "thief@example.org" })
    expect(thief.status).toBe(403)
    const entered = await fill(link, form)
    expect([entered.status, entered.headers.get("location")]).toEqual([303, "/onboarding"])

    const spent = await (await fetch(link)).text()
    expect(spent).toContain("This invitation has been used or has expired")
    expect((await fill(link, { ...form, email: "Invited@example.org" })).status).toBe(403)
    expect((await operateOn(closed, "invite", "invited@example.org")).output).toContain(
      "has already used an invitation",
    )
    expect((await operate("list")).output).toMatch(/Invited@example\.org +joined \d{4}/)
  })

  test("the same applies to programs", async () => {
    const account = { name: "P", email: "program@example.org", password: "an engine of brass" }
    const refused = await postJson(openBrowser(closed), "/api/auth/sign-up/email", account)
    expect([refused.status, (await refused.json()).code]).toEqual([403, "SIGNUP_CLOSED"])
  })

  test("an invitation to a space is for people with an account, and both its pages say so", async () => {
    const { owner, space } = await openSpace(closed)
    expect(await (await owner(`/s/${space.slug}/members`)).text()).toContain(
      "only people who have an account already can accept",
    )
    const url = await inviteTo(owner, space._id, "newcomer@example.org")
    const page = await (await fetch(url)).text()
    expect(page).toContain("you need an account to join")
    expect(page).not.toContain("/sign-up")
    const token = url.split("/").at(-1)
    const form = { name: "N", email: "newcomer@example.org", password: "an engine of brass" }
    expect((await fill(`${closed.origin}/sign-up?invitation=${token}`, form)).status).toBe(403)
  })

  function fill(link: string, fields: Record<string, string>) {
    return openBrowser(closed)(link, { method: "POST", body: new URLSearchParams(fields) })
  }
})

describe("with sign-up for those who are invited", () => {
  let invited: TidelineApp
  beforeAll(async () => {
    invited = await startTideline({ SIGNUP: "invited", DATABASE_URL: app.databaseUrl })
  })
  afterAll(() => invited.stop())

  test("an invitation to a space lets its address sign up, unconfirmed, and nobody else", async () => {
    const { owner, space } = await openSpace(invited)
    const email = "guest@example.org"
    const url = await inviteTo(owner, space._id, email)
    const [, address = ""] = /href="([^"]*\/sign-up\?[^"]*)"/.exec(await (await fetch(url)).text()) ?? []
    const link = new URL(address.replaceAll("&amp;", "&"), invited.origin).href
    expect(await (await fetch(link)).text()).toMatch(/<input[^>]*value="guest@example.org"/)

    const form = { name: "Guest", email, password: "an engine of brass" }
    expect((await fill(`${invited.origin}/sign-up`, form)).status).toBe(403)
    expect((await fill(link, { ...form, email: "thief@example.org" })).status).toBe(403)
    const entered = await fill(link, form)
    expect([entered.status, entered.headers.get("location")]).toEqual([303, new URL(url).pathname])
    const [user] = await sql`select email_verified from auth.user where email = ${email}`
    expect(user).toEqual({ email_verified: false })
  })

  test("a link to a space creates no account, and neither does a revoked invitation", async () => {
    const { owner, space } = await openSpace(invited)
    const link = await inviteTo(owner, space._id, "")
    const page = await (await fetch(link)).text()
    expect(page).toContain("An invitation by email does")
    expect(page).not.toContain("/sign-up")
    expect(await (await fetch(`${invited.origin}/sign-up`)).text()).toContain("created by invitation here")
    const url = await inviteTo(owner, space._id, "late@example.org")
    await sql`delete from space_invitations where email = 'late@example.org'`
    const form = { name: "Late", email: "late@example.org", password: "an engine of brass" }
    for (const token of [link, url].map((each) => each.split("/").at(-1)))
      expect((await fill(`${invited.origin}/sign-up?invitation=${token}`, form)).status).toBe(403)
  })

  function fill(link: string, fields: Record<string, string>) {
    return openBrowser(invited)(link, { method: "POST", body: new URLSearchParams(fields) })
  }
})

/** The space of a person who can invite by email. */
async function openSpace(at: TidelineApp) {
  const email = `owner-${crypto.randomUUID()}@example.org`
  await signUp(app, { name: "Owner", email })
  await sql`update auth.user set email_verified = true where email = ${email}`
  const owner = await signIn(at, { email })
  await owner("/onboarding")
  await sql`update users set onboarding_completed = true where email = ${email}`
  const made = await postJson(owner, "/api/spaces", { name: "Engines" })
  const { space } = (await made.json()) as { space: { _id: string; slug: string } }
  return { owner, space }
}

async function inviteTo(owner: Person, spaceId: string, email: string): Promise<string> {
  const body = { role: "reader", ...(email !== "" && { email }) }
  const made = await postJson(owner, `/api/spaces/${spaceId}/invitations`, body)
  return ((await made.json()) as { url: string }).url
}

describe("with sign-up closed and Clerk as the provider", () => {
  inAll("the page links to the waitlist, and shows Clerk's form to anyone invited", async () => {
    const clerk = await startClerk()
    const closed = await startTideline({
      SIGNUP: "closed",
      ...clerk.settings,
    })
    const words = "Sign-up is closed here"
    expect(await (await fetch(`${closed.origin}/sign-up`)).text()).toContain(words)
    const { output } = await operateOn(closed, "invite", "invited@example.org")
    const [link = ""] = /http\S+/.exec(output) ?? []
    const invited = await fetch(link)
    expect(invited.status).toBe(200)
    expect(await invited.text()).not.toContain(words)
    await closed.stop()
    clerk.close()
  })
})

let addresses = 0

function signOn(email: string, forwardedFor = `10.0.${++addresses >> 8}.${addresses & 255}`) {
  const body = new URLSearchParams({ email })
  return from(forwardedFor, openBrowser(app))("/waitlist", { method: "POST", body })
}

async function stored(): Promise<string[]> {
  const rows = await sql<{ email: string }[]>`select email from waitlist order by _id`
  return rows.map(({ email }) => email)
}

async function placeOf(email: string) {
  const [row] = await sql`select confirmed_at, invited_at, joined_at from waitlist where email = ${email}`
  return row
}

async function lettersTo(address: string) {
  const [row] = await sql`
    select count(*)::int as emails from mail_outbox where lower(recipient) = ${address}`
  return row?.["emails"] as number
}

function linkIn({ text }: Email, path: string): string {
  const link = text.split(/\s+/).find((word) => word.startsWith(app.origin + path) || word.includes(path))
  if (!link) throw new Error(`The email has no link to ${path}.`)
  return link
}

const operate = (...words: string[]) => operateOn(app, ...words)

/** Runs the operator's command beside a running server. */
async function operateOn(server: TidelineApp, ...words: string[]): Promise<{ code: number; output: string }> {
  const { code, output } = await runBuiltCommand("waitlist", words, {
    folder: server.dataDir,
    env: { DATABASE_URL: server.databaseUrl, APP_URL: server.origin },
  })
  return { code, output: output.trim() }
}
