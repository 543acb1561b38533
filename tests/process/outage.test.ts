import { readFileSync, renameSync } from "node:fs"
import { join } from "node:path"
import { sql } from "drizzle-orm"
import { describe, expect, it } from "vitest"
import { openDatabase } from "#db/client.ts"
import { inAll } from "../support/all.ts"
import { postJson, signUp } from "../support/people.ts"
import { withTideline } from "../support/with-tideline.ts"

const { app } = withTideline({ settings: { DATABASE_URL: "", TRUSTED_PROXIES: "1" } })

describe("PostgreSQL killed under load", () => {
  it("fails the requests of that moment with a clear 503, and loses nothing that was acknowledged", async () => {
    const acknowledged: string[] = []
    const refused: Response[] = []
    let isBack = false
    let kills = 0
    let sent = 0
    const client = async () => {
      while (!isBack) {
        sent += 1
        const email = `person-${sent}@example.org`
        const response = await joinWaitlist(email)
        if (response.status === 302) acknowledged.push(email)
        else refused.push(response)
        if (kills === 0 && acknowledged.length > 50) {
          kills = 1
          process.kill(postmasterPid(), "SIGKILL")
        }
        isBack = refused.length > 0 && response.status === 302
      }
    }
    await Promise.all(Array.from({ length: 8 }, client))

    expect(refused.length).toBeGreaterThan(0)
    for (const response of refused) {
      expect(response.status).toBe(503)
      expect(response.headers.get("retry-after")).toBe("5")
      const text = await response.text()
      expect(text).toContain("Tideline cannot reach its database")
      expect(text).not.toMatch(/ECONN|postgres|at .*\.js/i)
    }
    expect((await joinWaitlist("after@example.org")).status).toBe(302)
    expect(
      app.log.filter((line) => line.includes('"PostgreSQL ended unexpectedly; starting it again"')),
    ).toHaveLength(1)
    await app.logged("PostgreSQL runs again")

    const { db, close } = openDatabase(ownersUrl())
    const rows = await db.execute<{ email: string }>(sql`select email from waitlist`)
    await close()
    const kept = new Set(rows.map((row) => row.email))
    expect(acknowledged.filter((email) => !kept.has(email))).toEqual([])
  })
})

describe("connections to PostgreSQL that end in the middle of transactions", () => {
  inAll("fail the uploads of that moment, but neither earlier ones nor the process", async () => {
    const person = await signUp(app, { name: "Grace", email: "grace@example.org" })
    const operator = openDatabase(ownersUrl(), { connections: 1 })
    const acknowledged: string[] = []
    const refused: number[] = []
    let rounds = 0
    const upload = async (sender: number) => {
      for (let count = 0; rounds < 10; count++) {
        const name = `${sender}-${count}.txt`
        const response = await person(`/api/files?name=${name}`, { method: "POST", body: name })
        if (response.status === 201) acknowledged.push(name)
        else refused.push(response.status)
      }
    }
    const endConnections = async () => {
      for (; rounds < 10; rounds++) {
        const enough = acknowledged.length + 10
        while (acknowledged.length < enough) await operator.db.execute(sql`select pg_sleep(0.01)`)
        await operator.db.execute(sql`
          select pg_terminate_backend(pid) from pg_stat_activity
          where application_name = 'tideline' and pid <> pg_backend_pid()`)
      }
    }
    await Promise.all([endConnections(), ...Array.from({ length: 6 }, (_, sender) => upload(sender))])

    expect(refused.filter((status) => status !== 503)).toEqual([])
    expect(refused.length).toBeGreaterThan(0)
    const rows = await operator.db.execute<{ name: string }>(sql`select file_name as name from files`)
    await operator.close()
    const kept = new Set(rows.map((row) => row.name))
    expect(acknowledged.filter((name) => !kept.has(name))).toEqual([])
    expect(app.log.filter((line) => line.includes("ends the process"))).toEqual([])
  })
})

describe("a sign-up whose connection to PostgreSQL ends halfway", () => {
  it("is asked to try again, and not blamed on its input", async () => {
    const operator = openDatabase(ownersUrl(), { connections: 1 })
    await operator.db.execute(sql`
      create function auth.hang_up() returns trigger language plpgsql as
        'begin perform pg_terminate_backend(pg_backend_pid()); return new; end'`)
    await operator.db.execute(
      sql`create trigger hang_up before insert on auth.user for each row execute function auth.hang_up()`,
    )
    const account = { name: "Emmy", email: "emmy@example.org", password: "an engine of brass and cards" }
    const send = () =>
      fetch(`${app.origin}/api/auth/sign-up/email`, {
        method: "POST",
        headers: { "content-type": "application/json", origin: app.origin },
        body: JSON.stringify(account),
      })
    const refused = await send()
    await operator.db.execute(sql`drop function auth.hang_up cascade`)
    await operator.close()
    expect(refused.status).toBe(503)
    expect(refused.headers.get("retry-after")).toBe("5")
    expect((await send()).status).toBe(200)
  })
})

describe("a signed-in person while PostgreSQL is down", () => {
  it("is told so, and is neither signed out nor shown an internal error", async () => {
    const person = await signUp(app, { name: "Ada", email: "ada@example.org" })
    const cookie = { cookie: person.cookie() }
    const key = { authorization: `Bearer ${await person.apiKey()}` }
    const requests: [string, HeadersInit][] = [
      ["/onboarding", cookie],
      ["/onboarding.data", cookie],
      ["/api/realtime/token", cookie],
      ["/api/files", cookie],
      ["/api/files", key],
    ]
    // Without this file it cannot be started again. An outage that ends by itself may be over before
    // each of the requests has been made.
    const needed = join(app.dataDir, "postgres/data/PG_VERSION")
    renameSync(needed, `${needed} away`)
    process.kill(postmasterPid(), "SIGKILL")
    const seen = requests.map((): number[] => [])
    const askUntil = (status: number) =>
      Promise.all(
        requests.map(async ([path, headers], at) => {
          while (seen[at]!.at(-1) !== status)
            seen[at]!.push((await fetch(app.origin + path, { headers, redirect: "manual" })).status)
        }),
      )
    await askUntil(503)
    renameSync(`${needed} away`, needed)
    await askUntil(200)
    for (const [at, [path]] of requests.entries())
      expect(
        seen[at]!.filter((status) => status !== 200 && status !== 503),
        path,
      ).toEqual([])
  })
})

describe("a change for which PostgreSQL has no disk space", () => {
  it("is refused with that reason, on pages and for programs, and works once there is space", async () => {
    const person = await signUp(app, { name: "Hedy", email: "hedy@example.org" })
    const operator = openDatabase(ownersUrl(), { connections: 1 })
    await operator.db.execute(sql`
      create function be_full() returns trigger language plpgsql as
        $$begin raise exception 'could not extend file' using errcode = '53100'; end$$`)
    for (const table of ["chat_threads", "waitlist"])
      await operator.db.execute(
        sql`create trigger be_full before insert on ${sql.identifier(table)} for each row execute function be_full()`,
      )
    const made = await postJson(person, "/api/chat/threads", { title: "The sea" })
    const joined = await joinWaitlist("nobody@example.org")
    await operator.db.execute(sql`drop function be_full cascade`)
    await operator.close()
    expect(made.status).toBe(503)
    expect(await made.json()).toMatchObject({ reason: "database-full" })
    expect(joined.status).toBe(503)
    expect(await joined.text()).toContain("no disk space left, so nothing was changed")
    expect((await postJson(person, "/api/chat/threads", { title: "The sea" })).status).toBe(201)
  })
})

describe("an unexpected failure", () => {
  it("is JSON under /api, and does not reveal its cause", async () => {
    const person = await signUp(app, { name: "Mary", email: "mary@example.org" })
    const headers = { cookie: person.cookie(), origin: app.origin }
    const operator = openDatabase(ownersUrl(), { connections: 1 })
    await operator.db.execute(sql`alter table uploads rename to uploads_elsewhere`)
    const response = await fetch(`${app.origin}/api/files?name=a.txt`, { method: "POST", body: "a", headers })
    await operator.db.execute(sql`alter table uploads_elsewhere rename to uploads`)
    await operator.close()
    expect(response.status).toBe(500)
    expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8")
    expect(await response.json()).toEqual({
      error: "Internal server error",
      reason: "request-failed",
    })
  })
})

/** The superuser's URL for the embedded PostgreSQL. */
function ownersUrl() {
  const file = readFileSync(join(app.dataDir, "postgres/owner.json"), "utf8")
  return (JSON.parse(file) as { url: string }).url
}

function postmasterPid() {
  return Number.parseInt(readFileSync(join(app.dataDir, "postgres/data/postmaster.pid"), "utf8"), 10)
}

let clients = 0

/** Each from its own address, so that no rate limit interferes. */
function joinWaitlist(email: string) {
  clients += 1
  const from = `10.${(clients >> 16) & 255}.${(clients >> 8) & 255}.${clients & 255}`
  return fetch(`${app.origin}/waitlist`, {
    method: "POST",
    body: new URLSearchParams({ email }),
    headers: { "x-forwarded-for": from },
    redirect: "manual",
  })
}
