import { createHook } from "node:async_hooks"
import { pino } from "pino"
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest"
import { accountHooks } from "#server/accounts/identity-hooks.ts"
import { authRateLimit } from "#db/schema/auth.ts"
import { openEmbeddedIdentity } from "#server/adapters/identity/embedded.ts"
import type { AccountForms } from "#server/ports/account-forms.ts"
import { listOutbox } from "#server/mail/outbox.ts"
import { createTestDatabase } from "../support/postgres.ts"

// Nearly all of the time that a response takes.
let derivations = 0
const counting = createHook({
  init(_id, type) {
    if (type === "ARGON2REQUEST") derivations += 1
  },
})

const SECRET = "a secret for tests, and for nothing else"
const ORIGIN = "http://localhost:3000"
const PASSWORD = "an engine of brass"

let database: Awaited<ReturnType<typeof createTestDatabase>>
let identity: Awaited<ReturnType<typeof openEmbeddedIdentity>>
const log = pino({ level: "silent" })

beforeAll(async () => {
  counting.enable()
  database = await createTestDatabase()
  identity = await openEmbeddedIdentity({
    origin: ORIGIN,
    issuer: ORIGIN,
    authSecret: SECRET,
    signup: "open",
    sso: [],
    verification: "required",
    secondFactor: "optional",
    db: database.db,
    log,
    hooks: accountHooks(
      { origin: ORIGIN, identity: { authSecret: SECRET, signup: "open" }, securityLogDays: 365 },
      log,
    ),
  })
  await signUp("known@example.org")
})
afterAll(async () => {
  counting.disable()
  await identity.close()
  await database.close()
})
beforeEach(async () => {
  await database.db.delete(authRateLimit)
})

describe("addresses with and without an account cost the same work", () => {
  test("at sign-in", async () => {
    const known = await workOf(() => signInWrongly("known@example.org"))
    expect(known).toEqual(await workOf(() => signInWrongly("unknown@example.org")))
    expect(known).toMatchObject({ derivations: 1, ok: false })
  })

  test("at sign-up, with one email each", async () => {
    const known = await workOf(() => signUp("known@example.org"))
    expect(known).toEqual(await workOf(() => signUp("newcomer@example.org")))
    expect(known).toMatchObject({ derivations: 1, emails: 1, ok: true })
  })

  test("at a password reset, whose email is written after the response is sent", async () => {
    const { emails: _, ...known } = await workOf(() => askForReset("known@example.org"))
    expect(await workOf(() => askForReset("unknown@example.org"))).toMatchObject(known)
    expect(known).toMatchObject({ derivations: 0, ok: true })
  })
})

function forms(): AccountForms {
  if (!identity.forms) throw new Error("The embedded provider has forms.")
  return identity.forms
}

function visit() {
  const request = new Request(`${ORIGIN}/sign-up`, { headers: { origin: ORIGIN } })
  return { request, address: "203.0.113.7" }
}

function signUp(email: string) {
  return forms().signUp(visit(), { name: "Ada", email, password: PASSWORD })
}

function signInWrongly(email: string) {
  return forms().signIn(visit(), { email, password: "not the password" })
}

function askForReset(email: string) {
  return forms().requestPasswordReset(visit(), { email })
}

/** How long a response took, and what it contains. */
async function workOf(answer: () => Promise<object>) {
  const before = { derivations, emails: await emails() }
  const { ok, problem, headers } = (await answer()) as { ok: boolean; problem?: string; headers?: Headers }
  const made = {
    derivations: derivations - before.derivations,
    emails: (await emails()) - before.emails,
  }
  return { ...made, ok, problem, headers: [...(headers ?? [])].map(withoutToken) }
}

/** Every sign-up gives its browser another token. */
function withoutToken([name, value]: [string, string]) {
  return [name, value.replace(/(?<=sign_up=)[\w-]+/, "…")]
}

async function emails() {
  return (await listOutbox(database)).length
}
