import { execFile } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import postgres from "postgres"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { inAll } from "../../support/all.ts"
import { startTideline, type TidelineApp } from "../../support/app.ts"
import { PUBLISHABLE_KEY, SECRET_KEY } from "../../support/clerk.ts"
import { runBuiltCommand } from "../../support/commands.ts"
import { openBrowser, signIn, signUp } from "../../support/people.ts"
import { addSecondFactor } from "../../support/second-factor.ts"

const COMMAND = join(import.meta.dirname, "../../../server/commands/user.ts")

interface Outcome {
  code: number
  output: string
}

/** Runs `npm run user -- ...words` from the sources, with these settings and in its own folder. */
function operate(env: Record<string, string>, ...words: string[]): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), "tideline-user-"))
  const settings = {
    PATH: process.env["PATH"] ?? "",
    AUTH_SECRET: "a secret for tests, and for nothing else",
    ...env,
  }
  return new Promise((resolve) => {
    const command = [COMMAND, ...words]
    execFile(process.execPath, command, { cwd: folder, env: settings }, (error, stdout, stderr) => {
      rmSync(folder, { recursive: true, force: true })
      resolve({ code: error ? Number(error.code) : 0, output: (stdout + stderr).trim() })
    })
  })
}

/** As the containers run it, from the build, which starts in a fraction of the time. */
async function operateBuilt(
  app: TidelineApp,
  env: Record<string, string>,
  ...words: string[]
): Promise<Outcome> {
  const { code, output } = await runBuiltCommand("user", words, { folder: dirname(app.dataDir), env })
  return { code, output: output.trim() }
}

describe("the operator's command, while a server runs", () => {
  let app: TidelineApp
  let sql: postgres.Sql
  beforeAll(async () => {
    app = await startTideline({ SIGNUP: "open" })
    sql = postgres(app.databaseUrl, { max: 2 })
  })
  afterAll(async () => {
    await sql.end()
    await app.stop()
  })
  const user = (...words: string[]) =>
    operateBuilt(app, { DATABASE_URL: app.databaseUrl, APP_URL: app.origin }, ...words)

  test("lists accounts with their plans", async () => {
    await signUp(app, { name: "Ada Lovelace", email: "ada@example.org" })
    const { code, output } = await user("list")
    expect(code).toBe(0)
    expect(output).toMatch(/^ada@example\.org\s+free\s+not confirmed\s+\d{4}-\d\d-\d\d\s+Ada Lovelace$/m)
  })

  test("changes a plan in the account and in the person's record, and records the change", async () => {
    const send = await signUp(app, { name: "Grace Hopper", email: "grace@example.org" })
    await send("/onboarding")
    expect(await user("plan", "Grace@example.org", "pro")).toEqual({
      code: 0,
      output: "grace@example.org is on the pro plan.",
    })
    const [row] = await sql`
      select account.plan as account, record.plan as record from auth.user account
      join users record on record.clerk_id = account.id where account.email = 'grace@example.org'`
    expect(row).toEqual({ account: "pro", record: "pro" })
    expect(await sql`select act, operator_id, subject_email, facts from operator_acts`).toEqual([
      {
        act: "change-plan",
        operator_id: null,
        subject_email: "grace@example.org",
        facts: { onServer: true, plans: { previous: "free", next: "pro" } },
      },
    ])
    expect(await user("plan", "grace@example.org", "pro")).toMatchObject({ code: 1 })
  })

  test("suspends a person at a running server, and allows them again", async () => {
    const mary = { name: "Mary", email: "suspended@example.org" }
    const send = await signUp(app, mary)
    await send("/onboarding")
    expect(await user("suspend", mary.email)).toMatchObject({
      code: 0,
      output: expect.stringContaining(`npm run user -- allow ${mary.email}`),
    })
    expect((await send("/onboarding")).status).toBe(302)
    await expect(signIn(app, mary)).rejects.toThrow("403")
    expect((await user("list")).output).toMatch(/^suspended@example\.org\s+free\s+suspended\s/m)
    expect(await user("suspend", mary.email)).toMatchObject({ code: 1 })
    expect((await user("allow", mary.email)).code).toBe(0)
    await signIn(app, mary)
    const acts =
      await sql`select act, facts from operator_acts where subject_email = ${mary.email} order by _id`
    expect(acts).toEqual(["suspend", "allow"].map((act) => ({ act, facts: { onServer: true } })))
  })

  test("does not suspend the last operator", async () => {
    const [one, two] = [
      { name: "One", email: "one@example.org" },
      { name: "Two", email: "two@example.org" },
    ]
    for (const person of [one, two]) await signUp(app, person)
    await sql`update auth.user set email_verified = true, holder_confirmed = true where name in ('One', 'Two')`
    const env = {
      DATABASE_URL: app.databaseUrl,
      APP_URL: app.origin,
      ADMIN_EMAILS: "one@example.org,two@example.org",
    }
    expect((await operateBuilt(app, env, "suspend", one.email)).code).toBe(0)
    const refused = await operateBuilt(app, env, "suspend", two.email)
    expect(refused).toMatchObject({ code: 1, output: expect.stringContaining("This is the last operator.") })
    await signIn(app, two)
  })

  test("creates a link that resets a password", async () => {
    await signUp(app, { name: "Alan Turing", email: "alan@example.org" })
    const { output } = await user("reset-password", "alan@example.org")
    const token = new URL(output.split("\n").at(-1) ?? "").searchParams.get("token") ?? ""
    const body = new URLSearchParams({ token, password: "an enigma no longer" })
    const saved = await openBrowser(app)("/sign-in/new-password", { method: "POST", body })
    expect(saved.headers.get("location")).toBe("/sign-in?reset")
    await signIn(app, { email: "alan@example.org", password: "an enigma no longer" })
  })

  inAll("removes a second factor, and records that it did", async () => {
    const katherine = { name: "Katherine Johnson", email: "katherine@example.org" }
    const person = await signUp(app, katherine)
    await person("/onboarding")
    await addSecondFactor(person, person.password)
    const { code, output } = await user("remove-factors", katherine.email)
    expect([code, output]).toEqual([0, expect.stringContaining(`${app.origin}/second-factor`)])
    const elsewhere = await signIn(app, katherine)
    expect((await elsewhere("/api/files")).status).toBe(200)
    expect(await sql`select act, facts from operator_acts where subject_email = ${katherine.email}`).toEqual([
      { act: "remove-factors", facts: { onServer: true } },
    ])
    expect(await user("remove-factors", katherine.email)).toEqual({
      code: 1,
      output: "katherine@example.org has no second factor.",
    })
  })

  test("creates an account whose owner chooses the password, once", async () => {
    const { output } = await user("create", "Mary@example.org", "Mary Somerville")
    const token = new URL(output.split("\n").at(-1) ?? "").searchParams.get("token") ?? ""
    const body = new URLSearchParams({ token, password: "mechanism of the heavens" })
    expect((await openBrowser(app)("/sign-in/new-password", { method: "POST", body })).status).toBe(303)
    await signIn(app, { email: "mary@example.org", password: "mechanism of the heavens" })
    const again = await user("create", "mary@example.org", "Mary")
    expect(again).toEqual({
      code: 1,
      output: "An account with the address mary@example.org already exists.",
    })
  })

  test("creates an API key that opens the HTTP API", async () => {
    await signUp(app, { name: "Emmy Noether", email: "emmy@example.org" })
    const { output } = await user("api-key", "emmy@example.org", "backup")
    const headers = { authorization: `Bearer ${output.split("\n").at(-1)}` }
    expect((await fetch(`${app.origin}/api/files`, { headers })).status).toBe(200)
  })

  test.each([
    [["plan", "nobody@example.org", "pro"], "There is no account with the address nobody@example.org"],
    [["plan", "ada@example.org", "platinum"], "Usage"],
    [["plan", "ada@example.org"], "Usage"],
    [["reset-password", "no address"], "Usage"],
    [["drop", "everything"], "Usage"],
    [[], "Usage"],
  ])("refuses %j and says why", async (words, reason) => {
    const { code, output } = await user(...words)
    expect(code).toBe(1)
    expect(output).toContain(reason)
  })
})

describe("the operator's command", () => {
  inAll("uses the running server's embedded PostgreSQL, or starts it", async () => {
    const app = await startTideline({ DATABASE_URL: "" })
    try {
      await signUp(app, { name: "Ada Lovelace", email: "ada@example.org" })
      const user = (...words: string[]) => operateBuilt(app, { DATA_DIR: app.dataDir }, ...words)
      expect((await user("plan", "ada@example.org", "pro")).output).toContain("on the pro plan")
      expect((await user("list")).output).toMatch(/^ada@example\.org\s+pro/)
      process.kill(app.pid, "SIGTERM")
      await app.exited
      expect((await user("list")).output).toMatch(/^ada@example\.org\s+pro/)
    } finally {
      await app.stop()
    }
  })

  inAll("says where accounts are managed with Clerk", async () => {
    const env = {
      CLERK_SECRET_KEY: SECRET_KEY,
      CLERK_PUBLISHABLE_KEY: PUBLISHABLE_KEY,
      JWT_ISSUER_DOMAIN: "https://clerk.example.test",
    }
    const { code, output } = await operate(env, "list")
    expect(code).toBe(1)
    expect(output).toContain("Accounts are at Clerk here")
  })
})
