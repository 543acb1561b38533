import { beforeEach, describe, expect, test } from "vitest"
import { findEmail } from "../../support/inbox.ts"
import { openLiveSocket, realtimeToken } from "../../support/live.ts"
import { openBrowser, postJson, signIn, signUp, type Person } from "../../support/people.ts"
import { addSecondFactor } from "../../support/second-factor.ts"
import { readZip } from "../../support/zip.ts"
import { withTideline } from "../../support/with-tideline.ts"

type Browser = ReturnType<typeof openBrowser>

const PAGE = "/sign-in/new-address"

const { app, sql } = withTideline({
  settings: { ADMIN_EMAILS: "boss@example.org,boss2@example.org,boss3@example.org" },
  connections: 2,
})

// All of them come from one network, and each needs the whole limit.
beforeEach(() => sql`delete from auth.rate_limit`)

let count = 0
/** Onboarded, with a confirmed address. `next` is an address that nobody has. */
async function newPerson({ isConfirmed = true } = {}): Promise<Person & { next: string }> {
  count += 1
  const person = await signUp(app, { name: "Ada", email: `ada${count}@example.org` })
  await person("/onboarding")
  await sql`update users set onboarding_completed = true`
  if (isConfirmed) await sql`update auth.user set email_verified = true where email = ${person.email}`
  return Object.assign(person, { next: `new${count}@example.org` })
}

const post = (browser: Browser, path: string, fields: Record<string, string>) =>
  browser(path, { method: "POST", body: new URLSearchParams(fields) })

const request = (person: Person, email: string, more: Record<string, string> = {}) =>
  post(person, "/dashboard/account", { intent: "change-address", email, current: person.password, ...more })

/** The newest email about a change to this address. */
async function linkTo(email: string, kind = "confirm-address-change"): Promise<string> {
  const [row] = await sql<{ message_id: string; subject: string }[]>`
    select subject from mail_outbox where recipient = ${email} and kind = ${kind} order by _id desc limit 1`
  if (!row) throw new Error(`${email} got no email.`)
  const { text } = await findEmail(app, email, new RegExp(row.subject))
  return /http\S*\/sign-in\/new-address\?token=([\w-]+)/.exec(text)?.[1] ?? ""
}

const emailsTo = (email: string) =>
  sql`select kind from mail_outbox where recipient = ${email} and kind like '%address-change%'`

const decide = async (browser: Browser, token: string, intent: "confirm" | "stop") =>
  (await post(browser, PAGE, { token, intent })).headers.get("location")

const accountOf = async (email: string) =>
  (await sql`select id, email_verified, holder_confirmed from auth.user where email = ${email}`)[0]

describe("a change of email address", () => {
  test("happens once both addresses confirmed it, and not before", async () => {
    const person = await newPerson()
    const { email, next, password } = person
    const socket = await openLiveSocket(app, await realtimeToken(person))
    const page = await (await request(person, next)).text()
    expect(page).toContain("We&#x27;ve emailed both addresses.")
    expect(page).toContain(`${email}, ${next}`)
    // A program that checks links for viruses changes nothing.
    const fromNext = await linkTo(next)
    expect((await openBrowser(app)(`${PAGE}?token=${fromNext}`)).status).toBe(200)
    expect(await decide(openBrowser(app), fromNext, "confirm")).toBe(`${PAGE}?done=waiting`)
    expect(await accountOf(next)).toBeUndefined()
    expect(await decide(openBrowser(app), await linkTo(email), "confirm")).toBe(`${PAGE}?done=changed`)
    expect(await accountOf(email)).toBeUndefined()
    expect(await accountOf(next)).toMatchObject({ email_verified: true, holder_confirmed: false })
    const [record] =
      await sql`select email from users where clerk_id = (select id from auth.user where email = ${next})`
    expect(record).toEqual({ email: next })
    // Its browser goes on, and signing in takes the new address.
    expect((await person("/dashboard")).status).toBe(200)
    await signIn(app, { email: next, password })
    await expect(signIn(app, { email, password })).rejects.toThrow("401")
    socket.close()
    const { text } = await findEmail(app, email, /address was changed/)
    expect(text).toContain("no longer uses this one")
  })

  test("happens in either order, and each link counts once", async () => {
    const person = await newPerson()
    await request(person, person.next)
    const [first, second] = [await linkTo(person.email), await linkTo(person.next)]
    expect(await decide(openBrowser(app), first, "confirm")).toBe(`${PAGE}?done=waiting`)
    expect(await decide(openBrowser(app), first, "confirm")).toBe(`${PAGE}?done=expired`)
    expect(await decide(openBrowser(app), second, "confirm")).toBe(`${PAGE}?done=changed`)
    expect(await decide(openBrowser(app), second, "confirm")).toBe(`${PAGE}?done=expired`)
    expect((await openBrowser(app)(`${PAGE}?token=${second}`)).status).toBe(400)
  })

  test("is stopped by either address, or on the account page", async () => {
    for (const stop of ["previous", "next", "page"] as const) {
      const person = await newPerson()
      await request(person, person.next)
      const [previous, next] = [await linkTo(person.email), await linkTo(person.next)]
      if (stop === "page")
        expect((await post(person, "/dashboard/account", { intent: "stop-address-change" })).status).toBe(200)
      else
        expect(await decide(openBrowser(app), stop === "next" ? next : previous, "stop")).toBe(
          `${PAGE}?done=stopped`,
        )
      expect(await decide(openBrowser(app), next, "confirm")).toBe(`${PAGE}?done=expired`)
      expect(await decide(openBrowser(app), previous, "stop")).toBe(`${PAGE}?done=expired`)
      expect(await accountOf(person.email)).toBeDefined()
    }
  })

  test("takes the password, and a code if there is a second factor", async () => {
    const person = await newPerson()
    const wrong = await request(person, person.next, { current: "a wrong password" })
    expect([wrong.status, await wrong.text()]).toEqual([403, expect.stringContaining("not your password")])
    const phone = await addSecondFactor(person, person.password)
    for (const code of ["", "000000"]) expect((await request(person, person.next, { code })).status).toBe(401)
    expect(await emailsTo(person.next)).toEqual([])
    const [recovery = ""] = phone.recoveryCodes
    expect((await request(person, person.next, { code: recovery })).status).toBe(200)
    expect((await request(person, person.next, { code: recovery })).status).toBe(401)
    expect((await request(person, person.next, { code: phone.code() })).status).toBe(200)
    expect((await request(person, person.next, { code: phone.lastCode() })).status).toBe(401)
  })

  test("is refused for the address that the account has, and for what is none", async () => {
    const person = await newPerson()
    const same = await request(person, person.email.toUpperCase())
    expect([same.status, await same.text()]).toEqual([
      400,
      expect.stringContaining("your email address already"),
    ])
    expect((await request(person, "nonsense")).status).toBe(400)
    expect((await request(person, `${"a".repeat(250)}@example.org`)).status).toBe(400)
    expect(await emailsTo(person.email)).toEqual([])
  })

  test("can be requested five times an hour", async () => {
    const person = await newPerson()
    const statuses = []
    for (let time = 0; time < 6; time++) statuses.push((await request(person, person.next)).status)
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429])
  })

  test("looks the same for an address that has an account, whose owner is told", async () => {
    const [person, other, owner] = [await newPerson(), await newPerson(), await newPerson()]
    const pages = []
    for (const [who, email] of [
      [other, other.next],
      [person, owner.email],
    ] as const) {
      const response = await request(who, email)
      const text = (await response.text()).replaceAll(email, "ADDRESS").replaceAll(who.email, "OWN")
      pages.push([
        response.status,
        text.slice(text.indexOf("Changing to"), text.indexOf("Change email address")),
      ])
    }
    expect(pages[0]?.[1]).toContain("ADDRESS")
    expect(pages[1]).toEqual(pages[0])
    expect(await emailsTo(owner.email)).toEqual([{ kind: "address-change-attempted" }])
    const { text } = await findEmail(app, owner.email, /already has a Tideline account/)
    expect(text).not.toContain("token=")
    // The address that the account has may confirm: nothing comes of it.
    expect(await decide(openBrowser(app), await linkTo(person.email), "confirm")).toBe(`${PAGE}?done=waiting`)
    expect(await accountOf(person.email)).toBeDefined()
  })

  test("comes to nothing if somebody signs up with the address in the meantime", async () => {
    const person = await newPerson()
    await request(person, person.next)
    await signUp(app, { name: "Grace", email: person.next })
    await decide(openBrowser(app), await linkTo(person.email), "confirm")
    expect(await decide(openBrowser(app), await linkTo(person.next), "confirm")).toBe(`${PAGE}?done=expired`)
    expect(await accountOf(person.email)).toBeDefined()
  })

  test("expires, and ends with another one, a new password and a suspension", async () => {
    const ends: ((person: Person & { next: string }) => Promise<unknown>)[] = [
      () => sql`update auth.address_change set expires_at = 1`,
      (person) => request(person, "another@example.org"),
      (person) =>
        post(person, "/dashboard/account", {
          intent: "change-password",
          current: person.password,
          password: "another engine of brass and cards",
        }),
      (person) => sql`update auth.user set suspended_at = now() where email = ${person.email}`,
    ]
    for (const end of ends) {
      const person = await newPerson()
      // Read to its end: a suspension ends responses that are on their way.
      await (await request(person, person.next)).text()
      const [previous, next] = [await linkTo(person.email), await linkTo(person.next)]
      await end(person)
      for (const token of [previous, next])
        expect(await decide(openBrowser(app), token, "confirm")).toBe(`${PAGE}?done=expired`)
      expect(await accountOf(person.email)).toBeDefined()
    }
  })

  test("ends the links to a new password that the previous address got", async () => {
    const person = await newPerson()
    await postJson(person, "/api/auth/request-password-reset", { email: person.email })
    const { text } = await findEmail(app, person.email, /^Reset/)
    const token = /token=(\w+)/.exec(text)?.[1] ?? ""
    await request(person, person.next)
    for (const email of [person.email, person.next]) await decide(person, await linkTo(email), "confirm")
    expect(await accountOf(person.next)).toBeDefined()
    const newPassword = "another engine of brass and cards"
    const reset = await postJson(openBrowser(app), "/api/auth/reset-password", { token, newPassword })
    expect(reset.status).toBe(400)
  })

  test("is in the security log, and both addresses are in the archive and gone with the account", async () => {
    const person = await newPerson()
    await sql`insert into waitlist (email) values (${person.email})`
    await request(person, person.next)
    for (const email of [person.email, person.next]) await decide(person, await linkTo(email), "confirm")
    const log = await (await person("/dashboard/account/security")).text()
    expect(log).toContain(`Email address changed: ${person.next}`)
    const archive = readZip(Buffer.from(await (await person("/dashboard/account/export")).arrayBuffer()))
    expect(archive.flat().join("\n")).toContain(person.email)
    // Somebody else has the former address now.
    await signUp(app, { name: "Grace", email: person.email })
    const removed = await post(person, "/dashboard/account", {
      intent: "delete-account",
      confirmation: person.password,
    })
    expect(removed.status).toBe(303)
    expect(await sql`select 1 from waitlist where email = ${person.email}`).toEqual([])
    expect(
      await sql`select 1 from mail_outbox where recipient = ${person.email} and kind <> 'verify-address'`,
    ).toEqual([])
    expect(
      await sql`select 1 from mail_outbox where recipient = ${person.email} and kind = 'verify-address'`,
    ).toHaveLength(1)
  })

  test("is refused to people who sign in by a provider only", async () => {
    const person = await newPerson()
    await sql`update auth.account set provider_id = 'oidc:https://login.example.org', password = null
      where user_id = (select id from auth.user where email = ${person.email})`
    const page = await (await person("/dashboard/account")).text()
    expect(page).toContain("comes from your sign-in provider")
    expect(page).not.toContain('value="change-address"')
    const refused = await request(person, person.next)
    expect([refused.status, await refused.text()]).toEqual([
      403,
      expect.stringContaining("comes from your sign-in provider"),
    ])
  })

  test("needs a browser's session, and not an API key or another site's form", async () => {
    const person = await newPerson()
    const fields = new URLSearchParams({
      intent: "change-address",
      email: person.next,
      current: person.password,
    })
    const send = (headers: Record<string, string>) =>
      fetch(`${app.origin}/dashboard/account`, { method: "POST", body: fields, headers, redirect: "manual" })
    expect((await send({ authorization: `Bearer ${await person.apiKey()}` })).status).toBe(401)
    expect((await send({ cookie: person.cookie(), origin: "https://evil.example" })).status).toBe(403)
    expect(await emailsTo(person.next)).toEqual([])
  })
})

describe("an address that was never confirmed", () => {
  test("has no say: its link only stops the change", async () => {
    const person = await newPerson({ isConfirmed: false })
    await request(person, person.next)
    const previous = await linkTo(person.email)
    const page = await (await openBrowser(app)(`${PAGE}?token=${previous}`)).text()
    expect(page).toContain("Stop the change")
    expect(page).not.toContain('value="confirm"')
    expect(await decide(openBrowser(app), previous, "confirm")).toBe(`${PAGE}?done=expired`)
    expect(await decide(openBrowser(app), await linkTo(person.next), "confirm")).toBe(`${PAGE}?done=changed`)
    expect(await accountOf(person.next)).toMatchObject({ email_verified: true })
  })
})

const standing = async (person: Person) => (await person("/admin")).status

describe("the address of an operator", () => {
  test("makes nobody an operator who only opens the link, wherever they are signed in", async () => {
    for (const at of ["nowhere", "another account"]) {
      await sql`delete from auth.user where email = 'boss@example.org'`
      const person = await newPerson()
      await addSecondFactor(person, person.password)
      await sql`update auth.two_factor set verified = false`
      await request(person, "boss@example.org")
      await sql`update auth.two_factor set verified = true`
      await decide(person, await linkTo(person.email), "confirm")
      const browser = at === "nowhere" ? openBrowser(app) : await newPerson()
      expect(await decide(browser, await linkTo("boss@example.org"), "confirm")).toBe(`${PAGE}?done=changed`)
      expect(await accountOf("boss@example.org")).toMatchObject({ holder_confirmed: false })
      expect(await standing(person)).toBe(403)
    }
  })

  test("makes an operator of who confirms it in the browser of the account, with a second factor", async () => {
    const person = await newPerson()
    await request(person, "boss2@example.org")
    await decide(person, await linkTo(person.email), "confirm")
    expect(await decide(person, await linkTo("boss2@example.org"), "confirm")).toBe(`${PAGE}?done=changed`)
    expect(await accountOf("boss2@example.org")).toMatchObject({ holder_confirmed: true })
    expect(await standing(person)).toBe(403)
    await addSecondFactor(person, person.password)
    expect(await standing(person)).toBe(200)
  })

  test("is an operator's no more once it changes to another", async () => {
    const person = await newPerson()
    await sql`update auth.user set email = 'boss3@example.org', holder_confirmed = true where email = ${person.email}`
    await sql`update users set email = 'boss3@example.org' where email = ${person.email}`
    const phone = await addSecondFactor(person, person.password)
    expect(await standing(person)).toBe(200)
    await request(person, person.next, { code: phone.code() })
    for (const email of ["boss3@example.org", person.next])
      await decide(person, await linkTo(email), "confirm")
    expect(await accountOf(person.next)).toBeDefined()
    expect(await standing(person)).toBe(404)
  })
})
