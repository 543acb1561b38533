import { UnsecuredJWT, SignJWT, type JWTPayload } from "jose"
import postgres from "postgres"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { startTideline, type TidelineApp } from "../../support/app.ts"
import { openLiveSocket, realtimeToken } from "../../support/live.ts"
import { addPasskey } from "../../support/passkeys.ts"
import { openBrowser, postJson, signIn, signUp, type Person } from "../../support/people.ts"
import { addSecondFactor } from "../../support/second-factor.ts"
import {
  CLIENT_ID,
  CLIENT_SECRET,
  openHostileProvider,
  type HostileProvider,
} from "../../support/hostile-provider.ts"

type Browser = ReturnType<typeof openBrowser>

const EVENT = "http://schemas.openid.net/event/backchannel-logout"

let app: TidelineApp
let sql: postgres.Sql
let hostile: HostileProvider
let other: HostileProvider
beforeAll(async () => {
  hostile = await openHostileProvider()
  other = await openHostileProvider("OTHER")
  app = await startTideline({
    ...hostile.env,
    ...other.env,
    OIDC_OTHER_DOMAINS: "example.com, Example.net",
    OIDC_OTHER_LABEL: "The <Other> One",
    TRUSTED_PROXIES: "1",
  })
  sql = postgres(app.databaseUrl, { max: 1, onnotice() {} })
})
afterAll(async () => {
  await sql.end()
  await app.stop()
  await Promise.all([hostile.close(), other.close()])
})

let senders = 0

/** Begins a sign-in, and resolves to the parameters sent to the provider. */
async function begin(browser: Browser, name = "hostile", query = "") {
  const from = { "x-forwarded-for": `203.0.113.${(senders += 1) % 250}` }
  const sent = await browser(`/sign-in/with/${name}${query}`, { headers: from })
  const location = new URL(sent.headers.get("location") ?? "")
  const { state, nonce = "", ...others } = Object.fromEntries(location.searchParams)
  return { state: state ?? "", nonce, others, location }
}

function claimsFor(sub: string, nonce: string): JWTPayload {
  const now = Math.floor(Date.now() / 1000)
  const { issuer: iss } = hostile
  const email = `${sub}@example.org`
  return { iss, sub, aud: CLIENT_ID, iat: now, exp: now + 300, nonce, email, email_verified: true, name: sub }
}

function answerWith(idToken: string, from = hostile) {
  const tokens = { access_token: "an access token", token_type: "Bearer", id_token: idToken }
  from.answer((response) =>
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(tokens)),
  )
}

function comeBack(browser: Browser, state: string, name = "hostile", query = "&code=a-code") {
  return browser(`/sign-in/with/${name}/callback?state=${state}${query}`)
}

/** The whole flow, with valid claims changed by `change`. */
async function enter(
  sub: string,
  change: (claims: JWTPayload) => JWTPayload = (claims) => claims,
  browser = openBrowser(app),
) {
  const { state, nonce } = await begin(browser)
  answerWith(await hostile.sign(change(claimsFor(sub, nonce))))
  const response = await comeBack(browser, state)
  return { browser, response, location: response.headers.get("location") }
}

function without(claims: JWTPayload, name: string): JWTPayload {
  return Object.fromEntries(Object.entries(claims).filter(([each]) => each !== name))
}

async function accounts(email: string) {
  return (await sql`select 1 from auth.user where email = ${email}`).length
}

async function isSignedIn(browser: Browser) {
  return (await browser("/onboarding")).status === 200
}

async function keyOf(browser: Browser): Promise<string> {
  const made = await postJson(browser, "/api/auth/api-key/create", { name: "a script" })
  return ((await made.json()) as { key: string }).key
}

async function statusWith(key: string) {
  return (await fetch(`${app.origin}/api/files`, { headers: { authorization: `Bearer ${key}` } })).status
}

describe("signing in by a provider", () => {
  test("asks it with a code challenge, a state and a nonce, which are new each time", async () => {
    const [one, two] = [await begin(openBrowser(app)), await begin(openBrowser(app))]
    expect(one.location.origin).toBe(hostile.issuer)
    expect(one.others).toMatchObject({
      client_id: CLIENT_ID,
      code_challenge_method: "S256",
      redirect_uri: `${app.origin}/sign-in/with/hostile/callback`,
      response_type: "code",
      scope: "openid email profile",
    })
    for (const field of ["state", "nonce"] as const) expect(one[field]).not.toBe(two[field])
    expect(one.others["code_challenge"]).not.toBe(two.others["code_challenge"])
  })

  test("creates an account, and finds it again when its address has changed there", async () => {
    const first = await enter("ada")
    expect([first.response.status, first.location]).toEqual([302, "/dashboard"])
    expect(first.response.headers.get("cache-control")).toContain("no-store")
    expect(hostile.requests.at(-1)?.get("code_verifier")).toMatch(/^[\w-]{43,}$/)
    expect(await isSignedIn(first.browser)).toBe(true)
    await enter("ada", (claims) => ({ ...claims, email: "ada.changed@example.org" }))
    const users = await sql`
      select email, email_verified, holder_confirmed, name from auth.user where email like 'ada%'`
    expect(users).toEqual([
      { email: "ada@example.org", email_verified: true, holder_confirmed: false, name: "ada" },
    ])
  })

  test("is in the security log, and a second browser is told of by email", async () => {
    const own = openBrowser(app)
    const notices = () => sql`
      select subject from mail_outbox where recipient = 'logged@example.org' and kind = 'security-notice'`
    await enter("logged", undefined, own)
    await enter("logged", undefined, own)
    expect(await notices()).toEqual([])
    await enter("logged")
    expect(await notices()).toEqual([{ subject: "New sign-in to your account (Tideline)" }])
    const log = await sql`select event, way from auth.security_event
      where user_id = (select id from auth.user where email = 'logged@example.org') order by _id`
    const signedIn = { event: "signed-in", way: "provider" }
    expect(log).toEqual([{ event: "account-created", way: null }, signedIn, signedIn, signedIn])
  })

  test("leads on to a path of this site and nowhere else", async () => {
    for (const [wanted, led] of [
      ["/dashboard/files?view=all", "/dashboard/files?view=all"],
      ["https://evil.example/", "/dashboard"],
      ["//evil.example", "/dashboard"],
      ["/\\evil.example", "/dashboard"],
    ]) {
      const browser = openBrowser(app)
      const { state, nonce } = await begin(browser, "hostile", `?redirect_url=${encodeURIComponent(wanted!)}`)
      answerWith(await hostile.sign(claimsFor("ada", nonce)))
      expect((await comeBack(browser, state)).headers.get("location")).toBe(led)
    }
  })

  test("is offered by a button for each provider", async () => {
    for (const path of ["/sign-in", "/sign-up"]) {
      const html = await (await openBrowser(app)(path)).text()
      expect(html).toContain('href="/sign-in/with/hostile?redirect_url=')
      expect(html).toContain("Hostile")
      expect(html).toContain("The &lt;Other&gt; One")
    }
  })

  test("is limited for each network", async () => {
    const browser = openBrowser(app)
    const from = { headers: { "x-forwarded-for": "198.51.100.9" } }
    const places = []
    for (let count = 0; count < 32; count++)
      places.push((await browser("/sign-in/with/hostile", from)).headers.get("location"))
    expect(places.slice(0, 30).every((place) => place?.startsWith(hostile.issuer))).toBe(true)
    expect(places.slice(30)).toEqual(Array(2).fill("/sign-in?problem=too-many-attempts"))
  })

  test("signs out here, and offers to sign out there", async () => {
    const { browser } = await enter("ada")
    const out = await browser("/sign-out", { method: "POST" })
    expect(out.headers.get("location")).toBe("/sign-in?signed_out=hostile")
    expect(await isSignedIn(browser)).toBe(false)
    const page = await (await browser("/sign-in?signed_out=hostile")).text()
    expect(page).toContain('href="/sign-out/with/hostile"')
    expect((await browser("/sign-out/with/hostile")).headers.get("location")).toBe("/sign-in")
  })
})

describe("an ID token is refused that", () => {
  const past = Math.floor(Date.now() / 1000) - 3600
  test.each<[string, (claims: JWTPayload) => Promise<string> | string]>([
    ["names another issuer", (claims) => hostile.sign({ ...claims, iss: "https://evil.example" })],
    ["is for another client", (claims) => hostile.sign({ ...claims, aud: "another-client" })],
    [
      "is for this client and was given to another",
      (claims) => hostile.sign({ ...claims, aud: [CLIENT_ID, "another-client"], azp: "another-client" }),
    ],
    ["has another nonce", (claims) => hostile.sign({ ...claims, nonce: "another" })],
    ["has no nonce", (claims) => hostile.sign(without(claims, "nonce"))],
    ["has expired", (claims) => hostile.sign({ ...claims, iat: past, exp: past + 60 })],
    ["never expires", (claims) => hostile.sign(without(claims, "exp"))],
    ["has no subject", (claims) => hostile.sign(without(claims, "sub"))],
    ["is not signed", (claims) => new UnsecuredJWT(claims).encode()],
    ["is signed with another key", (claims) => hostile.sign(claims, { byOther: true })],
    [
      "is signed with the client's secret",
      (claims) =>
        new SignJWT(claims)
          .setProtectedHeader({ alg: "HS256" })
          .sign(new TextEncoder().encode(CLIENT_SECRET)),
    ],
    ["is nonsense", () => "nonsense"],
  ])("%s", async (_, forge) => {
    const browser = openBrowser(app)
    const { state, nonce } = await begin(browser)
    answerWith(await forge(claimsFor("victim", nonce)))
    const response = await comeBack(browser, state)
    expect(response.headers.get("location")).toBe("/sign-in?problem=response-refused")
    expect(await isSignedIn(browser)).toBe(false)
    expect(await accounts("victim@example.org")).toBe(0)
  })
})

describe("a response is refused", () => {
  test("that was used before, although the token would still be good", async () => {
    const browser = openBrowser(app)
    const { state, nonce } = await begin(browser)
    answerWith(await hostile.sign(claimsFor("ada", nonce)))
    expect((await comeBack(browser, state)).headers.get("location")).toBe("/dashboard")
    const again = openBrowser(app, browser.cookies())
    expect((await comeBack(again, state)).headers.get("location")).toBe("/sign-in?problem=attempt-expired")
  })

  test("that arrives in another browser than the one that began", async () => {
    const [victim, attacker] = [openBrowser(app), openBrowser(app)]
    await begin(victim)
    const { state, nonce } = await begin(attacker)
    answerWith(await hostile.sign(claimsFor("attacker", nonce)))
    expect((await comeBack(victim, state)).headers.get("location")).toBe("/sign-in?problem=attempt-expired")
    expect(await isSignedIn(victim)).toBe(false)
  })

  test("that answers a sign-in at another provider", async () => {
    const browser = openBrowser(app)
    const { state, nonce } = await begin(browser, "other")
    answerWith(await hostile.sign(claimsFor("ada", nonce)))
    expect((await comeBack(browser, state, "hostile")).headers.get("location")).toBe(
      "/sign-in?problem=attempt-expired",
    )
  })

  test.each([
    ["cancelled", "&error=access_denied&error_description=%3Cb%3ENo%3C/b%3E", "cancelled"],
    ["reports an error of its own", "&error=server_error&error_description=secret", "response-refused"],
    ["has no code", "", "response-refused"],
    ["has an unknown state", "&code=a&state=unknown", "attempt-expired"],
  ])("if it %s, with a sentence and nothing of what was sent", async (_, query, problem) => {
    const browser = openBrowser(app)
    const { state } = await begin(browser)
    const known = query.includes("state=") ? "" : state
    const address = `/sign-in/with/hostile/callback?${known ? `state=${known}` : ""}${query}`
    const location = (await browser(address)).headers.get("location") ?? ""
    expect(location).toBe(`/sign-in?problem=${problem}`)
    const page = await (await browser(location)).text()
    expect(page).toContain('role="alert"')
    expect(page).not.toMatch(/secret|<b>No|server_error/)
  })

  test.each<[string, Parameters<HostileProvider["answer"]>[0]]>([
    ["leads elsewhere", (response) => response.writeHead(307, { location: `${other.issuer}/token` }).end()],
    ["is an error", (response) => response.writeHead(400).end('{"error":"invalid_grant"}')],
    [
      "is endless",
      (response) =>
        response.writeHead(200, { "content-type": "application/json" }).end(" ".repeat(2_000_000)),
    ],
  ])("if the token endpoint's answer %s", async (_, answer) => {
    const browser = openBrowser(app)
    const { state } = await begin(browser)
    hostile.answer(answer)
    const asked = other.requests.length
    expect((await comeBack(browser, state)).headers.get("location")).toMatch(/^\/sign-in\?problem=/)
    expect(other.requests.length).toBe(asked)
    expect(await isSignedIn(browser)).toBe(false)
  })

  test("of a provider that is not set", async () => {
    for (const path of ["/sign-in/with/nobody", "/sign-in/with/nobody/callback?state=a&code=b"])
      expect((await openBrowser(app)(path)).headers.get("location")).toBe("/sign-in?problem=unknown-provider")
  })
})

describe("an email address", () => {
  test.each([
    ["false", false],
    ["the text true", "true"],
    ["missing", undefined],
  ])("makes and links no account if its verification is %s", async (_, verified) => {
    const owner = await signUp(app, { name: "Grace", email: `grace${String(verified)}@example.org` })
    for (const sub of [`grace${String(verified)}`, `nobody${String(verified)}`]) {
      const { location } = await enter(sub, (claims) => ({ ...claims, email_verified: verified }))
      expect(location).toBe("/sign-in?problem=address-unverified")
    }
    expect(await accounts(`nobody${String(verified)}@example.org`)).toBe(0)
    expect(await isSignedIn(owner)).toBe(true)
  })

  test("that the provider verified links a confirmed account, which keeps its password and keys", async () => {
    const mary = { name: "Mary", email: "mary@example.org" }
    const owner = await signUp(app, mary)
    await sql`update auth.user set email_verified = true where email = ${mary.email}`
    const key = await owner.apiKey()
    const { browser } = await enter("mary")
    expect(await isSignedIn(browser)).toBe(true)
    expect(await accounts(mary.email)).toBe(1)
    expect([await isSignedIn(owner), await statusWith(key)]).toEqual([true, 200])
    await signIn(app, mary)
  })

  test("leads to the code of an authenticator app, which an account without a password can set up and turn off", async () => {
    const { browser } = await enter("grace")
    const authenticator = await addSecondFactor(browser)
    const again = await enter("grace")
    const asked = await again.browser("/dashboard/account")
    expect(asked.headers.get("location")).toMatch(/^\/second-factor\?redirect_url=/)
    const shown = await postJson(again.browser, "/api/auth/two-factor/verify-totp", {
      code: authenticator.code(),
    })
    expect(shown.status).toBe(200)
    expect((await again.browser("/onboarding")).status).toBe(200)
    const off = (code: string) => postJson(again.browser, "/api/auth/two-factor/disable", { code })
    expect((await off("123456")).status).toBe(401)
    expect((await off(authenticator.recoveryCodes[0] ?? "")).status).toBe(200)
  })

  test("does not let an account with a password leave it out when it sets up an app", async () => {
    const edith = { name: "Edith", email: "edith@example.org" }
    await signUp(app, edith)
    await sql`update auth.user set email_verified = true where email = ${edith.email}`
    const { browser } = await enter("edith")
    await expect(addSecondFactor(browser)).rejects.toThrow("No second factor was begun: 400")
  })

  test("that was never confirmed leaves nothing to the person who signed up with it", async () => {
    const joan = { name: "Joan", email: "joan@example.org" }
    const claimant = await signUp(app, joan)
    const key = await claimant.apiKey()
    await claimant("/onboarding")
    await sql`update users set onboarding_completed = true where email = ${joan.email}`
    await addSecondFactor(claimant, claimant.password)
    await addPasskey(app, claimant)
    const { browser } = await enter("joan")
    expect((await browser("/dashboard")).status).toBe(200)
    expect([(await claimant("/dashboard")).status, await statusWith(key)]).toEqual([302, 401])
    await expect(signIn(app, joan)).rejects.toThrow("401")
    const factors = await sql`
      select id from auth.passkey union all select id from auth.two_factor`
    expect(factors).toEqual([])
  })

  test("of another domain than the provider's makes and links no account", async () => {
    for (const email of [
      "a@example.org",
      "mary@example.org",
      "a@notexample.com",
      "a@example.com.evil.example",
    ])
      expect(await enterAtOther(email)).toBe("/sign-in?problem=domain-refused")
    expect(await enterAtOther("a@example.com")).toBe("/dashboard")
    expect(await enterAtOther("A@EXAMPLE.NET")).toBe("/dashboard")
  })

  test("makes nobody an operator", async () => {
    const { browser } = await enter("boss")
    expect((await browser("/admin")).status).toBe(404)
  })
})

test("a suspended person is not signed in by a provider either, and is told why", async () => {
  await enter("suspended")
  await sql`update auth.user set suspended_at = now() where email = 'suspended@example.org'`
  const { browser, location } = await enter("suspended")
  expect(location).toBe("/sign-in?problem=account-suspended")
  expect(await (await browser(location ?? "")).text()).toContain("This account is suspended")
  expect(await isSignedIn(browser)).toBe(false)
})

test("a person without a password deletes the account with their email address", async () => {
  const { browser } = await enter("leaving")
  await browser("/onboarding")
  await sql`update users set onboarding_completed = true`
  const page = await (await browser("/dashboard/account")).text()
  expect(page).toContain("no password here")
  const account = await browser("/dashboard/account/export")
  expect(Buffer.from(await account.arrayBuffer()).toString("latin1")).toContain("account.json")
  const leave = (confirmation: string) => {
    const body = new URLSearchParams({ intent: "delete-account", confirmation })
    return browser("/dashboard/account", { method: "POST", body })
  }
  expect((await leave("another@example.org")).status).toBe(403)
  expect((await leave("leaving@example.org")).status).toBe(303)
  expect(await accounts("leaving@example.org")).toBe(0)
})

describe("a logout token", () => {
  test("with a session's id ends what began with that session, and nothing else", async () => {
    const [one, two] = [
      await enter("charles", (claims) => ({ ...claims, sid: "one" })),
      await enter("charles", (claims) => ({ ...claims, sid: "two" })),
    ]
    const key = await keyOf(one.browser)
    const socket = await openLiveSocket(app, await realtimeToken(one.browser as unknown as Person))
    const answer = await logout(await hostile.sign(logoutClaims({ sub: "charles", sid: "one" })))
    expect([answer.status, answer.headers.get("cache-control")]).toEqual([200, "no-store"])
    await socket.until(({ name }) => name === "goodbye")
    expect([await isSignedIn(one.browser), await isSignedIn(two.browser)]).toEqual([false, true])
    expect(await statusWith(key)).toBe(200)
  })

  test("without one ends everything of the person, keys included", async () => {
    const [one, two] = [await enter("dorothy"), await enter("dorothy")]
    const bystander = await enter("bystander")
    const key = await keyOf(one.browser)
    expect((await logout(await hostile.sign(logoutClaims({ sub: "dorothy" })))).status).toBe(200)
    expect([await isSignedIn(one.browser), await isSignedIn(two.browser), await statusWith(key)]).toEqual([
      false,
      false,
      401,
    ])
    expect(await isSignedIn(bystander.browser)).toBe(true)
  })

  test("for somebody who has no account here is accepted", async () => {
    expect((await logout(await hostile.sign(logoutClaims({ sub: "nobody" })))).status).toBe(200)
  })

  test.each<[string, (claims: JWTPayload) => Promise<string> | string]>([
    ["is not signed", (claims) => new UnsecuredJWT(claims).encode()],
    ["is signed with another key", (claims) => hostile.sign(claims, { byOther: true })],
    [
      "is signed with the client's secret",
      (claims) =>
        new SignJWT(claims)
          .setProtectedHeader({ alg: "HS256" })
          .sign(new TextEncoder().encode(CLIENT_SECRET)),
    ],
    ["names another issuer", (claims) => hostile.sign({ ...claims, iss: other.issuer })],
    ["is for another client", (claims) => hostile.sign({ ...claims, aud: "another-client" })],
    ["is old", (claims) => hostile.sign({ ...claims, iat: Number(claims.iat) - 3600 })],
    ["has expired", (claims) => hostile.sign({ ...claims, exp: Number(claims.iat) - 300 })],
    ["is of the future", (claims) => hostile.sign({ ...claims, iat: Number(claims.iat) + 3600 })],
    ["has no time", (claims) => hostile.sign(without(claims, "iat"))],
    ["has no id", (claims) => hostile.sign(without(claims, "jti"))],
    ["has a nonce", (claims) => hostile.sign({ ...claims, nonce: "a nonce" })],
    ["is no logout event", (claims) => hostile.sign({ ...claims, events: { "http://else": {} } })],
    ["has no events, as an ID token", (claims) => hostile.sign(without(claims, "events"))],
    ["names nobody", (claims) => hostile.sign(without(claims, "sub"))],
    ["is nonsense", () => "nonsense"],
    ["is missing", () => ""],
  ])("that %s ends nothing", async (_, forge) => {
    const { browser } = await enter("edsger")
    const refused = await logout(await forge(logoutClaims({ sub: "edsger" })))
    expect([refused.status, await refused.json()]).toEqual([400, { error: "invalid_request" }])
    expect(await isSignedIn(browser)).toBe(true)
  })

  test("that was sent before ends nothing", async () => {
    const token = await hostile.sign(logoutClaims({ sub: "barbara" }))
    await enter("barbara")
    expect((await logout(token)).status).toBe(200)
    const { browser } = await enter("barbara")
    expect((await logout(token)).status).toBe(400)
    expect(await isSignedIn(browser)).toBe(true)
  })

  test("goes to its own provider, by POST", async () => {
    const token = await hostile.sign(logoutClaims({ sub: "ada" }))
    for (const name of ["other", "nobody"]) expect((await logout(token, name)).status).toBe(400)
    expect((await fetch(`${app.origin}/api/sso/hostile/logout`)).status).toBe(405)
  })
})

describe("a session that replaces a provider's", () => {
  test("since an authenticator app was set up ends with the provider's too", async () => {
    const { browser } = await enterWithSid("katherine")
    await addSecondFactor(browser)
    await expectEndedBySid(browser, "katherine")
  })

  test("since an authenticator app was turned off ends with the provider's too", async () => {
    const { recoveryCodes } = await addSecondFactor((await enter("dorothea")).browser)
    const { browser } = await enterWithSid("dorothea")
    for (const [index, path] of ["verify-backup-code", "disable"].entries()) {
      const sent = await postJson(browser, `/api/auth/two-factor/${path}`, { code: recoveryCodes[index] })
      expect(sent.status).toBe(200)
    }
    await expectEndedBySid(browser, "dorothea")
  })

  test("since the password was changed ends with the provider's too", async () => {
    const hedy = { name: "Hedy", email: "hedy@example.org" }
    const { password } = await signUp(app, hedy)
    await sql`update auth.user set email_verified = true where email = ${hedy.email}`
    const { browser } = await enterWithSid("hedy")
    const passwords = { currentPassword: password, newPassword: "a hopping frequency" }
    const change = { ...passwords, revokeOtherSessions: true }
    expect((await postJson(browser, "/api/auth/change-password", change)).status).toBe(200)
    await expectEndedBySid(browser, "hedy")
  })

  test("offers to sign out there", async () => {
    const { browser } = await enter("annie")
    await addSecondFactor(browser)
    const out = await browser("/sign-out", { method: "POST" })
    expect(out.headers.get("location")).toBe("/sign-in?signed_out=hostile")
  })
})

describe("with SIGNUP=sso", () => {
  let closed: TidelineApp
  beforeAll(async () => {
    closed = await startTideline({ ...hostile.env, SIGNUP: "sso" })
  })
  afterAll(() => closed.stop())

  test("the sign-up page has the buttons alone, and a form is refused", async () => {
    const page = await (await openBrowser(closed)("/sign-up")).text()
    expect(page).toContain("/sign-in/with/hostile")
    expect(page).not.toContain('name="password"')
    expect(page).toContain("Accounts are created by single sign-on here.")
    const account = { name: "Ada", email: "ada@example.org", password: "an engine of brass" }
    const refused = await postJson(openBrowser(closed), "/api/auth/sign-up/email", account)
    expect([refused.status, await refused.json()]).toEqual([
      403,
      expect.objectContaining({ code: "SIGNUP_BY_PROVIDER" }),
    ])
    const form = await openBrowser(closed)("/sign-up", { method: "POST", body: new URLSearchParams(account) })
    expect(form.status).toBe(403)
  })
})

test("with SIGNUP=closed a provider signs in to accounts that exist, and creates none", async () => {
  const closed = await startTideline({ ...hostile.env, SIGNUP: "closed", DATABASE_URL: app.databaseUrl })
  try {
    for (const [sub, led] of [
      ["ada", "/dashboard"],
      ["newcomer", "/sign-in?problem=signup-closed"],
    ] as const) {
      const browser = openBrowser(closed)
      const begun = await browser("/sign-in/with/hostile")
      const query = new URL(begun.headers.get("location") ?? "").searchParams
      answerWith(await hostile.sign(claimsFor(sub, query.get("nonce") ?? "")))
      const response = await comeBack(browser, query.get("state") ?? "")
      expect(response.headers.get("location")).toBe(led)
    }
  } finally {
    await closed.stop()
  }
})

test("a provider that is away is no error of the server, and the page says so", async () => {
  const away = await openHostileProvider("AWAY")
  await away.close()
  const server = await startTideline({ ...away.env, DATABASE_URL: app.databaseUrl })
  try {
    const begun = await openBrowser(server)("/sign-in/with/away")
    expect(begun.headers.get("location")).toBe("/sign-in?problem=provider-unreachable")
    const page = await (await openBrowser(server)("/sign-in?problem=provider-unreachable")).text()
    expect(page).toContain("be reached")
  } finally {
    await server.stop()
  }
})

function enterWithSid(sub: string) {
  return enter(sub, (claims) => ({ ...claims, sid: `of ${sub}` }))
}

async function expectEndedBySid(browser: Browser, sub: string) {
  expect(await isSignedIn(browser)).toBe(true)
  expect((await logout(await hostile.sign(logoutClaims({ sid: `of ${sub}` })))).status).toBe(200)
  expect(await isSignedIn(browser)).toBe(false)
}

/** By an email address, with the provider that has domains. */
async function enterAtOther(email: string) {
  const browser = openBrowser(app)
  const { state, nonce } = await begin(browser, "other")
  const claims = { ...claimsFor(email, nonce), iss: other.issuer, email }
  answerWith(await other.sign(claims), other)
  return (await comeBack(browser, state, "other")).headers.get("location")
}

function logout(token: string, name = "hostile") {
  return fetch(`${app.origin}/api/sso/${name}/logout`, {
    method: "POST",
    body: new URLSearchParams({ logout_token: token }),
  })
}

function logoutClaims(about: { sub?: string; sid?: string }): JWTPayload {
  const now = Math.floor(Date.now() / 1000)
  const jti = crypto.randomUUID()
  return {
    iss: hostile.issuer,
    aud: CLIENT_ID,
    iat: now,
    exp: now + 60,
    jti,
    events: { [EVENT]: {} },
    ...about,
  }
}
