import { beforeEach, describe, expect, test } from "vitest"
import { MOST_PASSKEYS } from "#server/accounts/passkey-contract.ts"
import { operatorOperations } from "#server/operator/operations-contract.ts"
import { formFor } from "../../support/forms.ts"
import { findEmail } from "../../support/inbox.ts"
import { openBrowser, postJson, signIn, type Person } from "../../support/people.ts"
import {
  addPasskey,
  askForChallenge,
  beginPasskey,
  changeAccount,
  enterWith,
  openPasskey,
  type Passkey,
} from "../../support/passkeys.ts"
import { addSecondFactor } from "../../support/second-factor.ts"
import { withTideline } from "../../support/with-tideline.ts"

const VERIFY = "/api/auth/passkey/verify-authentication"

const { app, sql, newPerson } = withTideline({
  settings: { ADMIN_EMAILS: "boss@example.org, chief@example.org" },
  connections: 2,
})

// All of them come from one network, and each needs the whole limit.
beforeEach(() => sql`delete from auth.rate_limit`)

async function newHolder() {
  const person = await newPerson()
  return { person, passkey: await addPasskey(app, person) }
}

type Browser = ReturnType<typeof openBrowser>

async function enter(passkey: Passkey, browser: Browser = openBrowser(app)) {
  const entered = await enterWith(browser, passkey.assert(await askForChallenge(browser)))
  expect([entered.status, entered.headers.get("location")]).toEqual([303, "/dashboard"])
  return browser
}

const isSignedIn = async (browser: Browser) => (await browser("/api/files")).status === 200

test("the script of the sign-in page runs when its form is there, also from the cache", async () => {
  const html = await (await fetch(`${app.origin}/sign-in`)).text()
  const tag = /<script type="module"[^>]*use-passkey[^>]*>/.exec(html)
  expect(tag?.index).toBeGreaterThan(html.indexOf("data-passkey"))
  expect(tag?.[0]).not.toContain("async")
})

/** Where the sign-in page is told why nobody was signed in. */
async function refusalOf(response: Response) {
  expect(response.status).toBe(302)
  return new URL(response.headers.get("location") ?? "", app.origin).searchParams.get("problem")
}

const passkeysOf = ({ email }: Person) => sql<{ id: string; name: string; last_used_at: Date | null }[]>`
  select p.id, p.name, p.last_used_at from auth.passkey p join auth.user u on u.id = p.user_id
  where u.email = ${email} order by p.created_at`

const eventsOf = async ({ email }: Person) =>
  (
    await sql<{ event: string; way: string | null }[]>`
      select event, way from auth.security_event
      where user_id = (select id from auth.user where email = ${email}) order by _id`
  ).map(({ event, way }) => (way ? `${event}: ${way}` : event))

const insertPasskey = ({ email }: Person) => sql`
  insert into auth.passkey (id, name, public_key, user_id, credential_id, counter, device_type, backed_up)
  select gen_random_uuid(), 'old', '', id, gen_random_uuid(), 0, 'singleDevice', false
  from auth.user where email = ${email}`

const remove = async (person: Person, current = person.password) => {
  const [passkey] = await passkeysOf(person)
  return changeAccount(person, { intent: "remove-passkey", passkeyId: passkey?.id ?? "", current })
}

describe("signing in with a passkey", () => {
  test("takes nothing else, and leads where the person wanted to go", async () => {
    const { person, passkey } = await newHolder()
    const browser = openBrowser(app)
    const assertion = passkey.assert(await askForChallenge(browser))
    const entered = await enterWith(browser, assertion, "/dashboard/files")
    expect([entered.status, entered.headers.get("location")]).toEqual([303, "/dashboard/files"])
    expect(await isSignedIn(browser)).toBe(true)
    expect((await passkeysOf(person))[0]?.last_used_at).toBeInstanceOf(Date)
    expect(await eventsOf(person)).toEqual(["account-created", "passkey-added", "signed-in: passkey"])
    await findEmail(app, person.email, /passkey/i)
  })

  test("leads nowhere outside of the site", async () => {
    const { passkey } = await newHolder()
    const browser = openBrowser(app)
    const assertion = passkey.assert(await askForChallenge(browser))
    const entered = await enterWith(browser, assertion, "//evil.example")
    expect(entered.headers.get("location")).toBe("/dashboard")
  })

  test("skips the code of an account with an authenticator app", async () => {
    const person = await newPerson()
    await addSecondFactor(person, person.password)
    const passkey = await addPasskey(app, person)
    expect(await isSignedIn(await enter(passkey))).toBe(true)
  })

  test("works by the endpoint alone", async () => {
    const { passkey } = await newHolder()
    const browser = openBrowser(app)
    const response: unknown = JSON.parse(passkey.assert(await askForChallenge(browser)))
    expect((await postJson(browser, VERIFY, { response: response as object })).status).toBe(200)
    expect(await isSignedIn(browser)).toBe(true)
  })

  test("ends the session that it replaces in the browser", async () => {
    const { person, passkey } = await newHolder()
    const before = openBrowser(app, person.cookies())
    await enter(passkey, person)
    expect(await isSignedIn(person)).toBe(true)
    expect(await isSignedIn(before)).toBe(false)
  })

  test("says nothing of who has passkeys", async () => {
    await newHolder()
    const options = await openBrowser(app)("/api/auth/passkey/generate-authenticate-options")
    const told = (await options.json()) as object
    expect(Object.keys(told).toSorted()).toEqual(["challenge", "rpId", "timeout", "userVerification"])
  })
})

describe("a passkey is refused", () => {
  test("for another challenge than the one given", async () => {
    const { person, passkey } = await newHolder()
    const browser = openBrowser(app)
    await askForChallenge(browser)
    const answer = passkey.assert(Buffer.from("made up").toString("base64url"))
    expect(await refusalOf(await enterWith(browser, answer))).toBe("passkey-refused")
    expect(await isSignedIn(browser)).toBe(false)
    await expect.poll(() => eventsOf(person)).toContain("sign-in-failed: passkey")
    // What anybody can send is no error of the server.
    expect(app.log.filter((line) => line.includes('"level":50'))).toEqual([])
  })

  test("when its answer is sent again", async () => {
    const { passkey } = await newHolder()
    const browser = openBrowser(app)
    const answer = passkey.assert(await askForChallenge(browser))
    const again = openBrowser(app, browser.cookies())
    expect((await enterWith(browser, answer)).status).toBe(303)
    expect(await refusalOf(await enterWith(again, answer))).toBe("passkey-refused")
    expect(await isSignedIn(again)).toBe(false)
  })

  test("for the challenge of another browser", async () => {
    const { passkey } = await newHolder()
    const [victim, attacker] = [openBrowser(app), openBrowser(app)]
    await askForChallenge(victim)
    const answer = passkey.assert(await askForChallenge(attacker))
    expect(await refusalOf(await enterWith(victim, answer))).toBe("passkey-refused")
    expect(await refusalOf(await enterWith(openBrowser(app), answer))).toBe("passkey-refused")
  })

  test("without a fingerprint, face or PIN", async () => {
    const { passkey } = await newHolder()
    const browser = openBrowser(app)
    const answer = passkey.assert(await askForChallenge(browser), { isVerified: false })
    expect(await refusalOf(await enterWith(browser, answer))).toBe("passkey-refused")
    expect(await isSignedIn(browser)).toBe(false)
  })

  test.each([
    ["origin", { origin: "https://evil.example" }],
    ["host name", { rpId: "evil.example" }],
  ])("from another %s", async (_, fault) => {
    const { passkey } = await newHolder()
    const browser = openBrowser(app)
    const answer = passkey.assert(await askForChallenge(browser), fault)
    expect(await refusalOf(await enterWith(browser, answer))).toBe("passkey-refused")
  })

  test("when nobody has it, or no longer", async () => {
    const { person, passkey } = await newHolder()
    const browser = openBrowser(app)
    const unknown = openPasskey(app).assert(await askForChallenge(browser))
    expect(await refusalOf(await enterWith(browser, unknown))).toBe("passkey-unknown")
    expect((await remove(person)).status).toBe(200)
    const removed = passkey.assert(await askForChallenge(browser))
    expect(await refusalOf(await enterWith(browser, removed))).toBe("passkey-unknown")
    const page = await browser("/sign-in?problem=passkey-unknown")
    expect(await page.text()).toContain("known here")
  })

  test("signed with another key", async () => {
    const { passkey } = await newHolder()
    const browser = openBrowser(app)
    const forged = JSON.parse(openPasskey(app).assert(await askForChallenge(browser))) as object
    const answer = JSON.stringify({ ...forged, id: passkey.id, rawId: passkey.id })
    expect(await refusalOf(await enterWith(browser, answer))).toBe("passkey-refused")
  })

  test("when its owner is suspended, whose sessions it opened end", async () => {
    const { person, passkey } = await newHolder()
    const opened = await enter(passkey)
    await sql`update auth.user set suspended_at = now() where email = ${person.email}`
    // The request that runs at that moment is cut off.
    await expect.poll(() => isSignedIn(opened).catch(() => null)).toBe(false)
    const browser = openBrowser(app)
    const answer = passkey.assert(await askForChallenge(browser))
    expect(await refusalOf(await enterWith(browser, answer))).toBe("account-suspended")
    expect(await isSignedIn(browser)).toBe(false)
  })

  test("when the form is sent from another site", async () => {
    const { passkey } = await newHolder()
    const browser = openBrowser(app)
    const response = passkey.assert(await askForChallenge(browser))
    const forged = await browser("/sign-in/passkey", {
      method: "POST",
      headers: { origin: "https://evil.example" },
      body: new URLSearchParams({ response }),
    })
    expect(forged.status).toBe(403)
    expect(await isSignedIn(browser)).toBe(false)
  })

  test.each(["", "no JSON", "{}", "x".repeat(60_000)])("if it is none", async (answer) => {
    const browser = openBrowser(app)
    await askForChallenge(browser)
    expect(await refusalOf(await enterWith(browser, answer))).toBe("passkey-refused")
  })

  test("after thirty tries in a minute from one network", async () => {
    const browser = openBrowser(app)
    const answer = openPasskey(app).assert(await askForChallenge(browser))
    const problems = []
    for (let tries = 0; tries < 31; tries += 1)
      problems.push(await refusalOf(await enterWith(browser, answer)))
    expect([problems.at(29), problems.at(30)]).toEqual(["passkey-refused", "too-many-attempts"])
  })
})

describe("adding a passkey", () => {
  test("takes the password, whose guesses are counted", async () => {
    const person = await newPerson()
    for (let guesses = 0; guesses < 10; guesses += 1)
      expect(
        (await changeAccount(person, { intent: "begin-passkey", name: "new", current: "a wrong guess" }))
          .status,
      ).toBe(403)
    const current = person.password
    expect((await changeAccount(person, { intent: "begin-passkey", name: "new", current })).status).toBe(429)
  })

  test("is offered by no endpoint", async () => {
    const person = await newPerson()
    expect((await person("/api/auth/passkey/generate-register-options")).status).toBe(404)
    const attestation = JSON.parse(openPasskey(app).attest(await beginPasskey(person))) as object
    const verified = await postJson(person, "/api/auth/passkey/verify-registration", {
      response: attestation,
    })
    expect(verified.status).toBe(404)
  })

  test.each([
    ["with another challenge", { challenge: "bWFkZSB1cA" }],
    ["from another origin", { origin: "https://evil.example" }],
    ["for another host name", { rpId: "evil.example" }],
    ["without verifying the person", { isVerified: false }],
  ])("is refused %s", async (_, fault) => {
    const person = await newPerson()
    const attestation = openPasskey(app).attest(await beginPasskey(person), fault)
    const added = await changeAccount(person, { intent: "add-passkey", name: "phone", attestation })
    expect(added.status).toBe(403)
    expect(await passkeysOf(person)).toEqual([])
  })

  test("is refused for the challenge of another person, and for one that was used", async () => {
    const [person, other] = [await newPerson(), await newPerson()]
    const passkey = openPasskey(app)
    const challenge = await beginPasskey(other)
    const attestation = passkey.attest(challenge)
    const [name = "", value = ""] =
      Object.entries(other.cookies()).find(([key]) => key.includes("passkey_challenge")) ?? []
    const theirs = Object.assign(openBrowser(app, { ...person.cookies(), [name]: value }), person)
    const stolen = openBrowser(app, { ...person.cookies(), [name]: value })
    expect((await changeAccount(stolen, { intent: "add-passkey", name: "phone", attestation })).status).toBe(
      403,
    )
    expect(theirs.email).toBe(person.email)
    expect(await passkeysOf(person)).toEqual([])
    expect((await changeAccount(other, { intent: "add-passkey", name: "phone", attestation })).status).toBe(
      403,
    )
    expect(await passkeysOf(other)).toEqual([])
  })

  test("is refused for a passkey that somebody has already", async () => {
    const { passkey } = await newHolder()
    const other = await newPerson()
    const attestation = passkey.attest(await beginPasskey(other))
    expect((await changeAccount(other, { intent: "add-passkey", name: "copy", attestation })).status).toBe(
      403,
    )
    expect(await passkeysOf(other)).toEqual([])
  })

  test("stops at the limit, also for two at once", async () => {
    const person = await newPerson()
    for (let number = 1; number < MOST_PASSKEYS; number += 1) await insertPasskey(person)
    const other = await signIn(app, person)
    const attestations = [
      openPasskey(app).attest(await beginPasskey(person)),
      openPasskey(app).attest(await beginPasskey(other)),
    ]
    await Promise.all(
      [person, other].map((browser, index) =>
        changeAccount(browser, {
          intent: "add-passkey",
          name: "new",
          attestation: attestations[index] ?? "",
        }),
      ),
    )
    expect((await passkeysOf(person)).length).toBeLessThanOrEqual(MOST_PASSKEYS)
    if ((await passkeysOf(person)).length < MOST_PASSKEYS) await insertPasskey(person)
    const begun = await changeAccount(person, {
      intent: "begin-passkey",
      name: "new",
      current: person.password,
    })
    expect([begun.status, await begun.text()]).toEqual([403, expect.stringContaining("Remove one")])
  })

  test("without a password takes a sign-in within the last 15 minutes", async () => {
    const person = await newPerson()
    await sql`update auth.account set provider_id = 'sso' where user_id = (select id from auth.user where email = ${person.email})`
    await addPasskey(app, person)
    await sql`update auth.session set created_at = now() - interval '16 minutes'
      where user_id = (select id from auth.user where email = ${person.email})`
    const begun = await changeAccount(person, { intent: "begin-passkey", name: "new" })
    expect([begun.status, await begun.text()]).toEqual([403, expect.stringContaining("sign in again")])
  })
})

describe("a passkey that is removed", () => {
  test("signs out the browsers that used it, and no others", async () => {
    const { person, passkey } = await newHolder()
    const opened = await enter(passkey)
    expect((await remove(person, "a wrong guess")).status).toBe(403)
    expect(await isSignedIn(opened)).toBe(true)
    expect((await remove(person)).status).toBe(200)
    expect(await isSignedIn(opened)).toBe(false)
    expect(await isSignedIn(person)).toBe(true)
    expect((await eventsOf(person)).at(-1)).toBe("passkey-removed")
  })

  test("leaves the browser in which that was done, without what it had shown", async () => {
    const { person, passkey } = await newHolder()
    await enter(passkey, person)
    expect((await remove(person)).status).toBe(200)
    expect(await isSignedIn(person)).toBe(true)
    const [session] = await sql`select second_factor, passkey_id from auth.session s
      join auth.user u on u.id = s.user_id where u.email = ${person.email}`
    expect(session).toEqual({ second_factor: false, passkey_id: null })
  })

  test("must be one's own, and so must one that is renamed", async () => {
    const { person } = await newHolder()
    const other = await newPerson()
    const [passkey] = await passkeysOf(person)
    const about = { passkeyId: passkey?.id ?? "" }
    const removed = await changeAccount(other, {
      intent: "remove-passkey",
      ...about,
      current: other.password,
    })
    const renamed = await changeAccount(other, { intent: "rename-passkey", ...about, name: "mine" })
    expect([removed.status, renamed.status]).toEqual([404, 404])
    expect((await passkeysOf(person)).map(({ name }) => name)).toEqual(["a phone"])
    await changeAccount(person, { intent: "rename-passkey", ...about, name: "my phone" })
    expect((await passkeysOf(person)).map(({ name }) => name)).toEqual(["my phone"])
  })

  test("goes with the other factors when an operator removes them", async () => {
    const boss = await newOperator("boss@example.org")
    const { person, passkey } = await newHolder()
    const opened = await enter(passkey)
    const [account] = await sql`select id from auth.user where email = ${person.email}`
    const form = formFor(operatorOperations.removeFactors, { userId: String(account?.["id"]) })
    expect(await (await boss("/admin/people")).text()).toContain("Remove second factors")
    expect((await boss("/admin/people", form)).status).toBeLessThan(400)
    expect(await passkeysOf(person)).toEqual([])
    expect(await isSignedIn(opened)).toBe(false)
    expect(await isSignedIn(person)).toBe(true)
  })
})

describe("an operator", () => {
  test("opens /admin with a passkey alone, and is asked for it after a password", async () => {
    const chief = await newOperator("chief@example.org")
    expect((await chief("/admin")).status).toBe(200)
    const byPassword = await signIn(app, chief)
    expect((await byPassword("/admin")).status).toBe(403)
    const page = await byPassword("/second-factor?redirect_url=/admin")
    expect(await page.text()).toContain("Use your passkey")
  })

  test("whose password somebody else knows keeps them out: no factor is added or removed with it", async () => {
    const thief = await signIn(app, { email: "chief@example.org" })
    const enabled = await postJson(thief, "/api/auth/two-factor/enable", { password: thief.password })
    expect([enabled.status, await enabled.json()]).toEqual([
      403,
      expect.objectContaining({ code: "PASSKEY_NEEDED" }),
    ])
    const begun = await changeAccount(thief, {
      intent: "begin-passkey",
      name: "new",
      current: thief.password,
    })
    expect([begun.status, await begun.text()]).toEqual([403, expect.stringContaining("with your passkey")])
    expect((await remove(thief)).status).toBe(403)
  })
})

/** Signed in with a passkey. */
async function newOperator(email: string): Promise<Person> {
  const person = await newPerson(email)
  await sql`update auth.user set email_verified = true, holder_confirmed = true where email = ${email}`
  await enter(await addPasskey(app, person), person)
  return person
}

test("a new password ends the sessions of passkeys elsewhere, and leaves the passkeys", async () => {
  const { person, passkey } = await newHolder()
  const opened = await enter(passkey)
  const next = "another engine of brass"
  await changeAccount(person, { intent: "change-password", current: person.password, password: next })
  expect(await isSignedIn(opened)).toBe(false)
  expect(await isSignedIn(await enter(passkey))).toBe(true)
})

describe("a password that is reset by email", () => {
  test("leaves the passkeys of an account whose address was confirmed", async () => {
    const { person, passkey } = await newHolder()
    await sql`update auth.user set email_verified = true where email = ${person.email}`
    await reset(person)
    expect(await isSignedIn(await enter(passkey))).toBe(true)
  })

  test("removes those of an account whose address was not", async () => {
    const { person } = await newHolder()
    await reset(person)
    expect(await passkeysOf(person)).toEqual([])
  })
})

async function reset({ email }: Person) {
  const browser = openBrowser(app)
  await postJson(browser, "/api/auth/request-password-reset", { email })
  const { text } = await findEmail(app, email, /password/i)
  const [, token = ""] = /new-password\?token=([\w-]+)/.exec(text) ?? []
  const newPassword = "another engine of brass"
  const response = await postJson(browser, "/api/auth/reset-password", { token, newPassword })
  expect(response.status).toBe(200)
}

test("the export names passkeys, without what identifies them to anybody", async () => {
  const { person, passkey } = await newHolder()
  const archive = Buffer.from(await (await person("/dashboard/account/export")).arrayBuffer()).toString(
    "latin1",
  )
  expect(archive).toContain('"name": "a phone"')
  expect(archive).not.toContain(passkey.id)
})
