import { drizzle } from "drizzle-orm/postgres-js"
import { pino } from "pino"
import { beforeAll, beforeEach, describe, expect, test } from "vitest"
import { authOptions } from "#server/adapters/identity/embedded/auth.ts"
import { openLiveSocket, realtimeToken } from "../../support/live.ts"
import { openBrowser, postJson, signIn, signUp, type Person } from "../../support/people.ts"
import { addSecondFactor } from "../../support/second-factor.ts"
import { withTideline } from "../../support/with-tideline.ts"

/** What each plugin of better-auth gives a browser or a program, that could pass for a session. */
const VALUES_OF: Record<string, string[]> = {
  jwt: ["a realtime token"],
  "confirm-address": ["the mark of a browser that signed up"],
  "enter-by-provider": [],
  "api-key": ["an API key"],
  "two-factor": ["the challenge after a password", "the mark of a trusted browser"],
  passkey: ["a passkey's challenge"],
  "require-verification": [],
  afterwards: [],
}
const VALUES = ["a signed session", "a session's token", "a password", ...Object.values(VALUES_OF).flat()]

type Carrier = (value: string) => Record<string, string>

const CARRIERS: Record<string, Carrier> = {
  "a bearer": (value) => ({ authorization: `Bearer ${value}` }),
  "a bearer beside the cookie": (value) => ({ authorization: `Bearer ${value}`, cookie: holder.cookie() }),
  "another scheme": (value) => ({ authorization: `Session ${value}` }),
  "the header of API keys": (value) => ({ "x-api-key": value }),
  "the header that sessions used to be announced in": (value) => ({ "set-auth-token": value }),
  "another cookie": (value) => ({ cookie: `tideline.auth_token=${encodeURIComponent(value)}` }),
}

/** What is refused to the cookie of a session that has not shown its second factor. */
const REFUSALS = {
  "removing the second factor with a wrong code": {
    path: "/two-factor/disable",
    body: () => ({ password: holder.password, code: "000000" }),
    refusal: [401, "INVALID_CODE"],
  },
  "new recovery codes with a wrong code": {
    path: "/two-factor/generate-backup-codes",
    body: () => ({ password: holder.password, code: "000000" }),
    refusal: [401, "INVALID_CODE"],
  },
  "a wrong code": {
    path: "/two-factor/verify-totp",
    body: () => ({ code: "000000" }),
    refusal: [401, "INVALID_CODE"],
  },
  "a wrong recovery code": {
    path: "/two-factor/verify-backup-code",
    body: () => ({ code: "aaaaa-aaaaa" }),
    refusal: [401, "INVALID_BACKUP_CODE"],
  },
  "a key without the second factor": {
    path: "/api-key/create",
    body: () => ({ name: "a script" }),
    refusal: [403, "SECOND_FACTOR_NEEDED"],
  },
  "a password that is the person's address": {
    path: "/change-password",
    body: () => ({ currentPassword: holder.password, newPassword: holder.email }),
    refusal: [400, "PASSWORD_TOO_COMMON"],
  },
  "an app beside a passkey that was not shown": {
    path: "/two-factor/enable",
    body: () => ({ password: holder.password }),
    refusal: [403, "PASSKEY_NEEDED"],
  },
}

let values: Record<string, string>
const { app, sql, holder } = withTideline({
  people: { holder: { name: "Ada", email: "ada.lovelace@example.org" } },
})

beforeAll(async () => {
  const mark = valueOf(holder, "sign_up")
  const first = openBrowser(app)
  const { email, password } = holder
  const entered = await postJson(first, "/api/auth/sign-in/email", { email, password })
  const { token } = (await entered.json()) as { token: string }
  const key = await holder.apiKey()
  const realtime = await realtimeToken(holder)
  const phone = await addSecondFactor(holder, password)
  const trusting = openBrowser(app)
  await postJson(trusting, "/api/auth/sign-in/email", { email, password })
  const challenge = valueOf(trusting, "two_factor")
  await postJson(trusting, "/api/auth/two-factor/verify-totp", { code: phone.code(), trustDevice: true })
  const asked = openBrowser(app)
  await asked("/api/auth/passkey/generate-authenticate-options")
  values = {
    "a signed session": valueOf(holder, "session_token"),
    "a session's token": token,
    "a password": password,
    "a realtime token": realtime,
    "an API key": key,
    "the challenge after a password": challenge,
    "the mark of a trusted browser": valueOf(trusting, "trust_device"),
    "the mark of a browser that signed up": mark,
    "a passkey's challenge": valueOf(asked, "passkey_challenge"),
  }
  const [{ id }] = await sql<[{ id: string }]>`select id from auth.user where email = ${email}`
  await sql`insert into auth.passkey (id, name, public_key, user_id, credential_id, counter, device_type, backed_up)
    values ('p', 'a phone', 'none', ${id}, 'none', 0, 'singleDevice', false)`
})

// The limits are of the network and of the account, and each attempt needs all of them.
beforeEach(async () => {
  await sql`delete from auth.rate_limit`
  await sql`update auth.session set second_factor = false`
})

test("the plugins of better-auth are those whose credentials are tried here, and none reads a header", () => {
  const { plugins } = authOptions({
    origin: "http://localhost:3000",
    issuer: "http://localhost:3000",
    authSecret: "a secret for tests, and for nothing else",
    signup: "open",
    verification: "optional",
    secondFactor: "optional",
    db: drizzle(sql),
    log: pino({ level: "silent" }),
    mailResetLink: () => {},
    mailVerificationLink: async () => {},
    mailSignUpAttempted: async () => {},
    isSuspended: async () => false,
    record: async () => {},
    afterResponse: () => {},
    invitations: { isFor: async () => false, redeem: async () => false },
  })
  expect(plugins.map(({ id }) => id).toSorted()).toEqual(Object.keys(VALUES_OF).toSorted())
  expect(Object.keys(values).toSorted()).toEqual(VALUES.toSorted())

  const read = new Set<string>()
  const headers = new Proxy(new Headers(), {
    get: (target, key) => (name: string) => {
      read.add(`${String(key)} ${name}`)
      return Reflect.apply(Reflect.get(target, key) as () => unknown, target, [name])
    },
  })
  for (const plugin of plugins) {
    const before = "hooks" in plugin ? (plugin.hooks as { before?: Hook[] }).before : undefined
    for (const { matcher } of before ?? [])
      for (const { path } of Object.values(REFUSALS)) matcher({ path, headers, request: { headers } })
  }
  expect([...read]).toEqual([])
})

interface Hook {
  matcher(call: object): unknown
}

describe.each(Object.entries(REFUSALS))("%s", (_, { path, body, refusal }) => {
  test("is refused to the cookie of a session, and changes nothing", async () => {
    const before = await state()
    expect(await send(path, body(), { cookie: holder.cookie() })).toEqual(refusal)
    expect(await state()).toEqual(before)
  })

  test.each(Object.keys(CARRIERS))("is refused to every other credential as %s", async (carrier) => {
    const before = await state()
    const reached = []
    for (const value of VALUES) {
      const outcome = await send(path, body(), CARRIERS[carrier]?.(values[value] ?? "") ?? {})
      // No check of the account ran, because there was no session.
      if (outcome[0] !== 401 || outcome[1] === refusal[1]) reached.push([value, ...outcome])
    }
    expect(reached).toEqual([])
    expect(await state()).toEqual(before)
  })
})

test("no other credential passes for the session's own cookie", async () => {
  for (const value of VALUES.filter((each) => each !== "a signed session")) {
    const cookie = `tideline.session_token=${encodeURIComponent(values[value] ?? "")}`
    expect([value, (await send("/api-key/create", { name: "a script" }, { cookie }))[0]]).toEqual([
      value,
      401,
    ])
  }
})

test("a session opens nothing outside of /api/auth as a header, and no socket", async () => {
  const session = values["a signed session"] ?? ""
  for (const path of ["/api/files", "/api/realtime/token", "/dashboard", "/admin"]) {
    const response = await fetch(app.origin + path, {
      redirect: "manual",
      headers: { authorization: `Bearer ${session}` },
    })
    expect([path, response.status]).toEqual([path, path.startsWith("/api") ? 401 : 302])
  }
  await expect(openLiveSocket(app, session)).rejects.toThrow()
})

test("no response announces a session outside of its cookie", async () => {
  const person = await signUp(app, { name: "Grace", email: "grace@example.org" })
  const { email, password } = person
  const response = await postJson(openBrowser(app), "/api/auth/sign-in/email", { email, password })
  expect(response.headers.getSetCookie()).not.toEqual([])
  expect(response.headers.get("set-auth-token")).toBeNull()
  expect(response.headers.get("access-control-expose-headers")).toBeNull()
  expect((await signIn(app, person)).cookies()).toHaveProperty(["tideline.session_token"])
})

function valueOf({ cookies }: Pick<Person, "cookies">, name: string): string {
  const [, value] = Object.entries(cookies()).find(([key]) => key.includes(name)) ?? []
  return decodeURIComponent(value ?? "")
}

async function send(path: string, body: object, headers: Record<string, string>) {
  const response = await fetch(`${app.origin}/api/auth${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", origin: app.origin, ...headers },
    body: JSON.stringify(body),
  })
  const { code } = (await response.json().catch(() => ({}))) as { code?: string }
  return [response.status, code]
}

async function state() {
  return [
    await sql`select id, token from auth.session order by id`,
    await sql`select id from auth.apikey order by id`,
    await sql`select user_id, secret, backup_codes, verified from auth.two_factor`,
    await sql`select user_id, password from auth.account order by id`,
  ]
}
