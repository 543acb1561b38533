import { dirname } from "node:path"
import { beforeEach, describe, expect, test } from "vitest"
import { openDatabase } from "#db/client.ts"
import { authSecurityEvent } from "#db/schema/security.ts"
import { deleteOldRows } from "#server/old-rows.ts"
import { operatorOperations } from "#server/operator/operations-contract.ts"
import { formFor } from "../../support/forms.ts"
import { runBuiltCommand } from "../../support/commands.ts"
import { findEmail, type Email } from "../../support/inbox.ts"
import { openBrowser, postJson, signIn, signUp, type Person } from "../../support/people.ts"
import { addSecondFactor } from "../../support/second-factor.ts"
import { withTideline } from "../../support/with-tideline.ts"

const FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"

const { app, sql, newPerson } = withTideline({
  settings: { ADMIN_EMAILS: "boss@example.org" },
  connections: 2,
})

// All of them come from one network, and each needs the whole limit.
beforeEach(() => sql`delete from auth.rate_limit`)

let count = 0
function newAccount(): Promise<Person> {
  count += 1
  return signUp(app, { name: "Ada", email: `account${count}@example.org` })
}

interface Row {
  event: string
  way: string | null
  facts: Record<string, unknown> | null
  address: string | null
  user_agent: string | null
}

/** Newest first. */
const logOf = ({ email }: { email: string }) => sql<Row[]>`
  select event, way, facts, address, user_agent from auth.security_event
  where user_id = (select id from auth.user where email = ${email}) order by _id desc`

const countAll = async () => (await sql`select 1 from auth.security_event`).length

const change = (person: Person, intent: string, fields: Record<string, string> = {}) =>
  person("/dashboard/account", { method: "POST", body: new URLSearchParams({ intent, ...fields }) })

async function noticesTo({ email }: { email: string }) {
  const rows = await sql<{ subject: string }[]>`
    select subject from mail_outbox where recipient = ${email} and kind = 'security-notice' order by _id`
  return rows.map(({ subject }) => subject)
}

/** Signs in by a browser with this name, and without cookies. */
async function enterIn(
  userAgent: string,
  { email, password }: Pick<Person, "email" | "password">,
  entered = password,
) {
  const browser = openBrowser(app)
  return browser("/api/auth/sign-in/email", {
    method: "POST",
    headers: { "content-type": "application/json", "user-agent": userAgent },
    body: JSON.stringify({ email, password: entered }),
  })
}

describe("the security log records", () => {
  test("an account that is created, and each sign-in with its browser and address", async () => {
    const person = await newPerson()
    expect((await enterIn(FIREFOX, person)).status).toBe(200)
    const [signedIn, created, ...more] = await logOf(person)
    expect(created).toMatchObject({ event: "account-created", address: "127.0.0.1" })
    expect(signedIn).toEqual({
      event: "signed-in",
      way: "password",
      facts: { newBrowser: true },
      address: "127.0.0.1",
      user_agent: FIREFOX,
    })
    expect(more).toEqual([])
  })

  test("failed sign-ins of an account that exists, five an hour at most", async () => {
    const person = await newPerson()
    for (let attempt = 0; attempt < 7; attempt++)
      expect((await enterIn(FIREFOX, person, "a wrong password of many words")).status).toBe(401)
    const failed = async () => (await logOf(person)).filter(({ event }) => event === "sign-in-failed")
    await expect.poll(async () => (await failed()).length).toBe(5)
    expect((await failed())[0]).toMatchObject({ way: "password", user_agent: FIREFOX })
    const other = await newPerson()
    const entries = await countAll()
    await enterIn(FIREFOX, { ...person, email: "nobody@example.org" })
    await enterIn(FIREFOX, other, "a wrong password of many words")
    await expect.poll(async () => (await logOf(other))[0]?.event).toBe("sign-in-failed")
    expect(await countAll()).toBe(entries + 1)
  })

  test("keys that are created and deleted, on the account page and at the endpoints, without the key", async () => {
    const person = await newPerson()
    const key = await person.apiKey()
    const page = await (
      await change(person, "create-key", { name: "a backup", days: "30", chat: "on" })
    ).text()
    const shown = /tide_\w{20,}/.exec(page)?.[0] ?? ""
    expect(shown).not.toBe("")
    const keys = await sql<{ id: string; name: string }[]>`select id, name from auth.apikey
      where reference_id = (select id from auth.user where email = ${person.email})`
    const idOf = (name: string) => keys.find((each) => each.name === name)?.id ?? ""
    await change(person, "delete-key", { keyId: idOf("a backup") })
    await postJson(person, "/api/auth/api-key/delete", { keyId: idOf("a script") })
    const log = await logOf(person)
    expect(log.slice(0, 4).map(({ event, facts }) => [event, facts?.["name"]])).toEqual([
      ["key-deleted", "a script"],
      ["key-deleted", "a backup"],
      ["key-created", "a backup"],
      ["key-created", "a script"],
    ])
    expect(log.map(({ address }) => address)).toEqual(log.map(() => "127.0.0.1"))
    for (const secret of [key, shown]) expect(JSON.stringify(log)).not.toContain(secret)
  })

  test("nothing of another person's key, which is not deleted", async () => {
    const [person, other] = [await newPerson(), await newPerson()]
    await other.apiKey()
    const [key] = await sql<{ id: string }[]>`select id from auth.apikey
      where reference_id = (select id from auth.user where email = ${other.email})`
    expect((await change(person, "delete-key", { keyId: key?.id ?? "" })).status).toBe(404)
    const refused = await postJson(person, "/api/auth/api-key/delete", { keyId: key?.id ?? "" })
    expect(refused.ok).toBe(false)
    for (const each of [person, other])
      expect((await logOf(each)).map(({ event }) => event)).not.toContain("key-deleted")
  })

  test("a changed password, a reset one, and browsers that are signed out", async () => {
    const person = await newPerson()
    await enterIn(FIREFOX, person)
    await change(person, "end-other-sessions")
    const next = "another engine of brass and cards"
    const refused = await change(person, "change-password", { current: "not my password", password: next })
    expect(refused.status).toBe(403)
    await change(person, "change-password", { current: person.password, password: next })
    await postJson(person, "/api/auth/request-password-reset", { email: person.email })
    const { text } = await findEmail(app, person.email, /reset/i)
    const token = /token=(\w+)/.exec(text)?.[1] ?? ""
    await postJson(openBrowser(app), "/api/auth/reset-password", { token, newPassword: person.password })
    expect((await logOf(person)).slice(0, 3).map(({ event }) => event)).toEqual([
      "password-reset",
      "password-changed",
      "sessions-ended",
    ])
    expect(JSON.stringify(await logOf(person))).not.toContain("engine of brass")
  })

  test("a second factor from its set-up to its end, and what a sign-in showed of it", async () => {
    const person = await newPerson()
    const phone = await addSecondFactor(person, person.password)
    const { password } = person
    const browser = openBrowser(app)
    await postJson(browser, "/api/auth/sign-in/email", { email: person.email, password })
    const wrong = await postJson(browser, "/api/auth/two-factor/verify-totp", { code: "000000" })
    expect(wrong.status).toBe(401)
    await postJson(browser, "/api/auth/two-factor/verify-totp", { code: phone.code() })
    const proof = { current: password, code: phone.recoveryCodes[0] ?? "" }
    const codes = await (await change(person, "renew-recovery-codes", proof)).text()
    const fresh = /\b[a-z2-9]{5}-[a-z2-9]{5}\b/.exec(codes.slice(codes.indexOf("shown again")))?.[0] ?? ""
    await change(person, "remove-second-factor", { current: password, code: fresh })
    await expect
      .poll(async () =>
        (await logOf(person)).map(({ event, way }) => (way ? `${event} ${way}` : event)).toSorted(),
      )
      .toEqual([
        "account-created",
        "recovery-codes-renewed",
        "second-factor-added",
        "second-factor-removed",
        "sign-in-failed code",
        "signed-in code",
      ])
  })

  test("what an operator and the server's command do, and the operator's page says who it was", async () => {
    const person = await newPerson()
    const boss = await signUp(app, { name: "Boss", email: "boss@example.org" })
    await boss("/onboarding")
    await sql`update auth.user set email_verified = true, holder_confirmed = true where email = ${boss.email}`
    await addSecondFactor(boss, boss.password)
    const [{ id } = { id: "" }] = await sql<
      { id: string }[]
    >`select id from auth.user where email = ${person.email}`
    const { signOut, suspend, allow } = operatorOperations
    for (const operation of [signOut, suspend, allow])
      await boss("/admin/people", formFor(operation, { userId: id }))
    const env = { DATABASE_URL: app.databaseUrl, APP_URL: app.origin }
    const command = ["plan", person.email, "pro"]
    expect((await runBuiltCommand("user", command, { folder: dirname(app.dataDir), env })).code).toBe(0)
    expect((await logOf(person)).slice(0, 4).map(({ event, facts }) => [event, facts])).toEqual([
      ["plan-changed", { onServer: true }],
      ["allowed", {}],
      ["suspended", {}],
      ["sessions-ended", {}],
    ])
    const page = await (await boss(`/admin/security?q=${person.email.slice(0, -4)}`)).text()
    expect(page).toContain(`${person.email}: Account suspended`)
    expect(page).toContain(" · boss@example.org")
    expect(page).not.toContain(`${boss.email}: `)
    const again = await signIn(app, person)
    const own = await (await again("/dashboard/account/security")).text()
    expect(own).toContain("Account suspended")
    expect(own).not.toContain("boss@example.org")
  })
})

describe("the page of the security log", () => {
  test("shows a person their own entries, newest first, fifty at a time", async () => {
    const [person, other] = [await newPerson(), await newPerson()]
    await sql`insert into auth.security_event (user_id, event, facts, expires_at)
      select id, 'key-created', jsonb_build_object('name', 'key ' || number), 9999999999999
      from auth.user, generate_series(1, 60) as number where email = ${person.email}`
    await other.apiKey()
    const read = async (path: string) => {
      const html = await (await person(path)).text()
      return { html, keys: [...html.matchAll(/API key created: ([\w ]+)</g)].map(([, name]) => name) }
    }
    const first = await read("/dashboard/account/security")
    expect(first.keys).toHaveLength(50)
    expect(first.keys[0]).toBe("key 60")
    expect(first.html).not.toContain("a script")
    const next = /before=[\w-]+/.exec(first.html)?.[0] ?? ""
    const second = await read(`/dashboard/account/security?${next}`)
    expect(second.keys).toEqual([
      "key 10",
      "key 9",
      "key 8",
      "key 7",
      "key 6",
      "key 5",
      "key 4",
      "key 3",
      "key 2",
      "key 1",
    ])
    expect(second.html).toContain("Account created")
    expect((await read("/dashboard/account/security?before=nonsense")).keys[0]).toBe("key 60")
  })

  test("is in German for who reads German", async () => {
    const person = await newPerson()
    const response = await person("/dashboard/account/security", { headers: { "accept-language": "de" } })
    expect(await response.text()).toContain("Konto angelegt")
  })

  test("opens with a browser's session only, and its operators' half for operators only", async () => {
    const person = await newPerson()
    const headers = { authorization: `Bearer ${await person.apiKey()}` }
    expect((await fetch(`${app.origin}/dashboard/account/security`, { headers })).status).toBe(401)
    expect((await openBrowser(app)("/dashboard/account/security")).status).toBe(302)
    expect((await person("/admin/security")).status).toBe(404)
    expect((await openBrowser(app)("/admin/security")).status).toBe(302)
  })
})

describe("an entry of the security log", () => {
  test("is neither changed nor removed before it expires, and then it is removed", async () => {
    const person = await newPerson()
    for (const statement of [
      "update auth.security_event set event = 'allowed'",
      "update auth.security_event set expires_at = 0",
      "update auth.security_event set user_id = user_id",
      "delete from auth.security_event",
      "truncate auth.security_event",
    ])
      await expect(sql.unsafe(statement), statement).rejects.toThrow("only added to")
    await sql`insert into auth.security_event (user_id, event, address, expires_at)
      select id, 'signed-in', 'long ago', 1 from auth.user where email = ${person.email}`
    const database = openDatabase(app.databaseUrl, { connections: 1 })
    await deleteOldRows(database, authSecurityEvent)
    await database.close()
    expect((await logOf(person)).map(({ event }) => event)).toEqual(["account-created"])
  })

  test("expires after SECURITY_LOG_DAYS", async () => {
    const person = await newPerson()
    const [row] = await sql<{ days: number }[]>`
      select (expires_at - _creation_time) / 86400000.0 as days from auth.security_event
      where user_id = (select id from auth.user where email = ${person.email})`
    expect(Math.round(Number(row?.days))).toBe(365)
  })

  test("goes with its account", async () => {
    const person = await newPerson()
    const [{ id } = { id: "" }] = await sql<
      { id: string }[]
    >`select id from auth.user where email = ${person.email}`
    expect((await change(person, "delete-account", { confirmation: person.password })).status).toBe(303)
    expect(await sql`select 1 from auth.security_event where user_id = ${id}`).toEqual([])
  })

  test("is in no publication", async () => {
    expect(await sql`select * from pg_publication_tables where tablename = 'security_event'`).toHaveLength(0)
  })
})

describe("an email tells the person", () => {
  test("of a new key, a changed password, and a second factor that comes and goes", async () => {
    const person = await newPerson()
    await person.apiKey()
    const next = "another engine of brass and cards"
    await change(person, "change-password", { current: person.password, password: next })
    const phone = await addSecondFactor(person, next)
    await change(person, "remove-second-factor", { current: next, code: phone.code() })
    expect(await noticesTo(person)).toEqual([
      "New API key for your account (Tideline)",
      "Your password was changed (Tideline)",
      "Two-factor authentication is on (Tideline)",
      "Two-factor authentication is off (Tideline)",
    ])
    const { text } = await findEmail(app, person.email, /New API key/)
    expect(text).toContain("“a script”")
    expect(text).toContain("Network address: 127.0.0.1")
    expect(text).toMatch(/Time: .* UTC/)
    expect(text).toContain(`${app.origin}/dashboard/account`)
    expect(text).toContain(`${app.origin}/sign-in/forgot-password`)
  })

  test("of a sign-in in a new browser, and neither of the first one nor of one that is known", async () => {
    const person = await newPerson()
    await person("/sign-out", { method: "POST" })
    const { email, password } = person
    expect((await postJson(person, "/api/auth/sign-in/email", { email, password })).status).toBe(200)
    expect(await noticesTo(person)).toEqual([])
    await enterIn(FIREFOX, person)
    expect(await noticesTo(person)).toEqual(["New sign-in to your account (Tideline)"])
    const { text }: Email = await findEmail(app, person.email, /New sign-in/)
    expect(text).toContain("Browser: Firefox on Linux")
    // A program that signs in every minute.
    await enterIn(FIREFOX, person)
    expect(await noticesTo(person)).toHaveLength(1)
  })

  test("not of the first sign-in to an account that was created on the server", async () => {
    const env = { DATABASE_URL: app.databaseUrl, APP_URL: app.origin }
    const email = "invited@example.org"
    const command = ["create", email, "Invited"]
    const { output } = await runBuiltCommand("user", command, { folder: dirname(app.dataDir), env })
    const token = /token=(\w+)/.exec(output)?.[1] ?? ""
    const password = "an engine of brass and cards"
    await postJson(openBrowser(app), "/api/auth/reset-password", { token, newPassword: password })
    await signIn(app, { email, password })
    expect(await noticesTo({ email })).not.toContain("New sign-in to your account (Tideline)")
    await signIn(app, { email, password })
    expect(await noticesTo({ email })).toContain("New sign-in to your account (Tideline)")
  })

  test("in the language that they read", async () => {
    const person = await newPerson()
    await sql`update users set language = 'de'`
    await person.apiKey()
    const { text } = await findEmail(app, person.email, /Neuer API-Schlüssel/)
    expect(text).toContain("Netzwerkadresse: 127.0.0.1")
    await sql`update users set language = 'en'`
  })

  test("or is only logged as an error if it cannot be queued, and the change is made", async () => {
    const person = await newPerson()
    await sql`create function refuse_email() returns trigger language plpgsql as 'begin raise exception $$no space$$; end'`
    await sql`create trigger refuse_email before insert on mail_outbox for each row
      when (new.kind = 'security-notice') execute function refuse_email()`
    try {
      expect(await person.apiKey()).toMatch(/^tide_/)
    } finally {
      await sql`drop trigger refuse_email on mail_outbox`
      await sql`drop function refuse_email()`
    }
    expect((await logOf(person))[0]).toMatchObject({ event: "key-created" })
    expect(await noticesTo(person)).toEqual([])
    expect(app.log.join("\n")).toContain("could not queue the email about a security event")
  })
})

const keysMade = () =>
  app.log
    .filter((line) => line.includes('"event":"key made"'))
    .map((line) => JSON.parse(line) as { user: string | null; from: string })

test("the account log names the person whose key is created on the account page", async () => {
  const person = await newPerson()
  await change(person, "create-key", { name: "a backup", days: "30", chat: "on" })
  const [{ id } = { id: "" }] = await sql<
    { id: string }[]
  >`select id from auth.user where email = ${person.email}`
  await expect.poll(() => keysMade().at(-1)).toMatchObject({ user: id, from: "127.0.0.1" })
  expect(keysMade().map(({ user }) => user)).not.toContain(null)
})

test("the command removes the second factor of somebody who never opened the dashboard", async () => {
  const person = await newAccount()
  await addSecondFactor(person, person.password)
  const env = { DATABASE_URL: app.databaseUrl, APP_URL: app.origin }
  const command = ["remove-factors", person.email]
  const { code, output } = await runBuiltCommand("user", command, { folder: dirname(app.dataDir), env })
  expect([code, output]).toEqual([0, expect.stringContaining("signs in with the password alone")])
  expect((await logOf(person))[0]).toMatchObject({
    event: "second-factor-removed",
    facts: { onServer: true },
  })
})
