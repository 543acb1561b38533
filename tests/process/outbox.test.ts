import PostalMime from "postal-mime"
import postgres from "postgres"
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest"
import { accountPageOperations } from "#server/accounts/page-operations-contract.ts"
import { userOperations } from "#server/users/operations-contract.ts"
import { formFor } from "../support/forms.ts"
import { inAll } from "../support/all.ts"
import { amount } from "../realtime/support/form.ts"
import { startTideline, type TidelineApp } from "../support/app.ts"
import { startClerk } from "../support/clerk.ts"
import { openBrowser, postJson, signUp } from "../support/people.ts"
import { openSmtpReceiver, type SmtpReceiver } from "../support/smtp.ts"

const PEOPLE = amount(24, 100)
/** How many of them sign up at the same time. */
const AT_ONCE = 4

let receiver: SmtpReceiver
let first: TidelineApp
let second: TidelineApp
let sql: postgres.Sql

beforeAll(async () => {
  receiver = await openSmtpReceiver()
  first = await startTideline({ SMTP_URL: receiver.url, TRUSTED_PROXIES: "1" })
  second = await startAnother()
  sql = postgres(first.databaseUrl, { max: 2 })
})

afterAll(async () => {
  await sql.end()
  await second.stop()
  await first.stop()
  await receiver.stop()
})

beforeEach(async () => {
  await delivered()
  receiver.received.length = 0
})

/** Another process on the same database. */
function startAnother() {
  return startTideline({ DATABASE_URL: first.databaseUrl, SMTP_URL: receiver.url, TRUSTED_PROXIES: "1" })
}

describe("a mail server that is down during many sign-ups, with processes being killed", () => {
  test("loses no email: each arrives, and twice only if a process died while sending it", async () => {
    await receiver.stop()
    const doomed = [await startAnother(), await startAnother()] as const
    const acknowledged: string[] = []
    const join = async (app: TidelineApp, i: number) => {
      const email = `person-${i}@example.org`
      const body = JSON.stringify({ name: `Person ${i}`, email, password: "an engine of brass" })
      const headers = {
        "content-type": "application/json",
        origin: app.origin,
        "x-forwarded-for": `198.51.100.${i}`,
      }
      const response = await fetch(`${app.origin}/api/auth/sign-up/email`, { method: "POST", body, headers })
      if (response.status === 200) acknowledged.push(email)
    }

    // The first is killed in the middle of the sign-ups, and its clients switch to the other.
    const numbers = Array.from({ length: PEOPLE }, (_, i) => i)
    let isKilled = false
    await Promise.all(
      numbers.slice(0, AT_ONCE).map(async (worker) => {
        for (const i of numbers.filter((each) => each % AT_ONCE === worker)) {
          if (acknowledged.length >= 0.4 * PEOPLE && !isKilled)
            isKilled = process.kill(doomed[0].pid, "SIGKILL")
          await join(doomed[0], i).catch(() => join(doomed[1], i).catch(() => {}))
        }
      }),
    )
    // Those of the others that were under way at the kill may be stored without an answer.
    expect(acknowledged.length).toBeGreaterThan(PEOPLE - AT_ONCE)
    expect(receiver.received).toEqual([])

    // The mail server comes back, and the second is killed while it sends.
    await receiver.start()
    await makeDue()
    await expect.poll(() => receiver.received.length, { timeout: 30_000 }).toBeGreaterThan(10)
    process.kill(doomed[1].pid, "SIGKILL")
    await delivered()

    const arrived = new Map<string, string[]>()
    for (const { envelope, source } of receiver.received) {
      const to = envelope.to.join()
      const { messageId = "" } = await PostalMime.parse(source)
      arrived.set(to, [...(arrived.get(to) ?? []), messageId])
    }
    expect(acknowledged.filter((email) => !arrived.has(email))).toEqual([])
    const twice = [...arrived.values()].filter((ids) => ids.length > 1)
    expect(twice.length).toBeLessThanOrEqual(5) // what one process sends at the same time
    for (const ids of twice) expect(new Set(ids).size).toBe(1)
    await Promise.all(doomed.map((app) => app.stop()))
  }, 120_000)
})

describe("two processes and two tabs", () => {
  test("send one welcome email when onboarding completes", async () => {
    const ada = await signUp(first, { name: "Ada Lovelace", email: "ada@example.org" })
    await beginOnboarding(ada, "Ada Lovelace")
    const elsewhere = openBrowser(second, ada.cookies())
    const tabs = [ada, elsewhere, ada, elsewhere, ada, elsewhere]
    await Promise.all(tabs.map((tab) => complete(tab)))
    await complete(elsewhere)
    await delivered()
    expect(subjectsTo("ada@example.org").toSorted()).toEqual([
      "Confirm your email address for Tideline",
      "Welcome to Tideline",
    ])
  })

  test("send one email for each plan change", async () => {
    const grace = await signUp(first, { name: "Grace Hopper", email: "grace@example.org" })
    await grace("/onboarding")
    const [account] = await sql`select id from auth.user where email = 'grace@example.org'`
    const elsewhere = openBrowser(second, grace.cookies())
    for (const plan of ["pro", "free"]) {
      await sql`update auth.user set plan = ${plan} where email = 'grace@example.org'`
      const truth = { clerkId: account?.["id"], email: "grace@example.org", name: "Grace Hopper", plan }
      const tabs = [grace, elsewhere, grace, elsewhere]
      const answers = await Promise.all(tabs.map((tab) => postJson(tab, "/api/users/sync", truth)))
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    }
    await delivered()
    const emails = subjectsTo("grace@example.org").filter((subject) => /plan/.test(subject))
    expect(emails).toEqual(["Your Tideline plan has changed", "Your Tideline plan has changed"])
  })

  inAll("do the same with Clerk as the provider", async () => {
    const clerk = await startClerk()
    const env = {
      ...clerk.settings,
      SMTP_URL: receiver.url,
    }
    const one = await startTideline(env)
    const other = await startTideline({ ...env, DATABASE_URL: one.databaseUrl })
    const mary = { id: "user_mary", email: "mary@example.org", plan: "free" as "free" | "pro" }
    clerk.users.set("user_mary", { ...mary, name: ["Mary", "Somerville"] })
    const enter = async (app: TidelineApp) => {
      const claims = {
        sub: "user_mary",
        sid: "sess_mary",
        v: 2,
        sts: "active",
        azp: app.origin,
        pla: "u:free",
      }
      return openBrowser(app, { __session: await clerk.mint(claims), __client_uat: "1" })
    }
    const tabs = [await enter(one), await enter(other)]
    const [tab] = tabs
    if (!tab) throw new Error("There is no tab.")
    await beginOnboarding(tab, "Mary Somerville")
    await Promise.all(tabs.map((each) => complete(each)))

    clerk.users.set("user_mary", { ...mary, name: ["Mary", "Somerville"], plan: "pro" })
    const truth = { clerkId: "user_mary", email: "mary@example.org", name: "Mary Somerville", plan: "pro" }
    await Promise.all(tabs.map((each) => postJson(each, "/api/users/sync", truth)))
    await expect
      .poll(() => subjectsTo("mary@example.org").toSorted(), { timeout: 20_000 })
      .toEqual(["Welcome to Tideline", "Your Tideline plan has changed"])
    await other.stop()
    await one.stop()
    clerk.close()
  })
})

describe("a process that is told to stop", () => {
  test("leaves unsent emails to the next one", async () => {
    await receiver.stop()
    const leaving = await startAnother()
    await signUp(leaving, { name: "Emmy Noether", email: "emmy@example.org" })
    leaving.log.length = 0
    await leaving.stop()
    expect(await leaving.exited).toBe(0)
    await receiver.start()
    await delivered()
    expect(subjectsTo("emmy@example.org")).toEqual(["Confirm your email address for Tideline"])
  })
})

describe("an email that crashes its sender", () => {
  test("is parked, logged without its address, and delays no other", async () => {
    const poison = await openSmtpReceiver({
      onRcptTo: ({ address }, _session, answer) =>
        address.startsWith("poison")
          ? answer(Object.assign(new Error("Mailbox unknown"), { responseCode: 550 }))
          : answer(),
    })
    const app = await startTideline({ SMTP_URL: poison.url })
    await signUp(app, { name: "Poison", email: "poison@example.org" })
    await signUp(app, { name: "Ada", email: "ada@example.org" })
    const entry = await app.logged("email parked after failed delivery; action needed")
    expect(entry).toMatchObject({
      kind: "verify-address",
      reason: "The mail server answered: 550 Mailbox unknown",
    })
    expect(app.log.join("\n")).not.toContain("poison@example.org")
    await expect
      .poll(() => poison.received.map(({ envelope }) => envelope.to.join()))
      .toEqual(["ada@example.org"])
    await app.stop()
    await poison.stop()
  })
})

/** Lets waits and leases expire, as time would. */
function makeDue() {
  return sql`update mail_outbox set next_attempt_at = 0, lease_until = null where state = 'queued'`
}

/** Resolves when no email is waiting. */
async function delivered() {
  await expect.poll(hurry, { timeout: 40_000, interval: 200 }).toBe(0)
}

/**
 * Ends waits, and leases old enough that their process must have been killed. Resolves to how many
 * emails are left.
 */
async function hurry() {
  await sql`update mail_outbox set next_attempt_at = 0 where state = 'queued' and lease_until is null`
  await sql`update mail_outbox set lease_until = 0 where state = 'queued' and lease_until
    < (extract(epoch from clock_timestamp()) * 1000)::bigint + 110000`
  const [row] = await sql<{ emails: number }[]>`
    select count(*)::int as emails from mail_outbox where state = 'queued'`
  return row?.emails
}

function subjectsTo(address: string): string[] {
  return receiver.received
    .filter(({ envelope }) => envelope.to.includes(address))
    .map(({ source }) => /^subject: (.*)$/im.exec(source)?.[1]?.trim() ?? "")
}

async function beginOnboarding(browser: ReturnType<typeof openBrowser>, name: string) {
  await browser("/onboarding", formFor(userOperations.finishOnboardingStep, { step: "welcome" }))
  await browser("/onboarding", formFor(accountPageOperations.finishProfile, { name }))
}

function complete(browser: ReturnType<typeof openBrowser>) {
  return browser("/onboarding", formFor(userOperations.completeOnboarding, {}))
}
