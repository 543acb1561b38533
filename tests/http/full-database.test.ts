import { beforeAll, expect, it } from "vitest"
import { ada as adaLovelace, grace as graceHopper, signUp } from "../support/people.ts"
import { withTideline } from "../support/with-tideline.ts"

const DAY = "interval '1 day'"

let count = 0

const { app, sql, ada } = withTideline({ people: { ada: adaLovelace } })
/** Her session is settled. */
beforeAll(() => ada("/onboarding"))

it("a database that was set to read only answers the reads of people, known and new, and refuses their writes", async () => {
  const people = await findPeople()
  await sql.unsafe(`do $$ begin
    execute format('alter database %I set default_transaction_read_only = on', current_database()); end $$`)
  await reconnect()
  await mustOnlyRead(people, "database-outage")
  await sql.unsafe(`begin read write; do $$ begin
    execute format('alter database %I reset default_transaction_read_only', current_database()); end $$; commit`)
  await reconnect()
})

it("a database without disk space answers the reads of people, known and new, and refuses their writes", async () => {
  const people = await findPeople()
  await fill()
  await mustOnlyRead(people, "database-full")
})

/** Browsers and keys, of people with and without a record. */
async function findPeople() {
  const known = await signUp(app, { ...adaLovelace, email: `${++count}.${adaLovelace.email}` })
  expect((await known("/api/files?name=a.txt", { method: "POST", body: "a" })).status).toBe(201)
  // Has a session, and no record yet.
  const fresh = await signUp(app, { ...graceHopper, email: `${count}.${graceHopper.email}` })
  const keys = await Promise.all([known.apiKey(), known.apiKey(), fresh.apiKey()])
  const byKey = keys.map(
    (key) =>
      (path: string, init: RequestInit = {}) =>
        fetch(new URL(path, app.origin), { ...init, headers: { authorization: `Bearer ${key}` } }),
  )
  // One of the keys is in use.
  expect((await byKey[0]!("/api/files")).status).toBe(200)
  // Old enough to be extended, and for another use to be noted.
  await sql.unsafe(
    `update auth.session set updated_at = updated_at - 3 * ${DAY}, expires_at = expires_at - 3 * ${DAY}
      where user_id in (select id from auth.user where email <> 'ada@example.org')`,
  )
  await sql.unsafe(`update auth.apikey set last_request = last_request - ${DAY}`)
  return { browsers: [known, fresh], byKey }
}

async function mustOnlyRead({ browsers, byKey }: Awaited<ReturnType<typeof findPeople>>, reason: string) {
  const api = ["/api/files", "/api/chat/threads"]
  const pages = ["/dashboard", "/dashboard/files", "/dashboard/account"]
  const asked = [
    ...browsers.map((ask) => ({ ask, paths: [...api, ...pages] })),
    ...byKey.map((ask) => ({ ask, paths: api })),
  ]
  for (const { ask, paths } of asked) {
    const answers = await Promise.all(paths.map(async (path) => [path, (await ask(path)).status]))
    expect(answers).toEqual(paths.map((path) => [path, expect.toBeOneOf([200, 302])]))
    const refused = await ask("/api/files?name=b.txt", { method: "POST", body: "b" })
    expect(await refused.json()).toMatchObject({ reason })
    expect(refused.status).toBe(503)
  }
}

/** Every connection is opened again; each that was lost refuses one request. */
async function reconnect() {
  await sql`select pg_terminate_backend(pid) from pg_stat_activity
    where application_name = 'tideline' and datname = current_database()`
  await expect.poll(() => Promise.all(Array.from({ length: 12 }, askAgain))).toEqual(Array(12).fill(200))
}

async function askAgain() {
  return (await ada("/api/files")).status
}

/** Every write fails as on a full disk. */
async function fill() {
  await sql.unsafe(`create function public.no_space() returns trigger language plpgsql as $$
    begin raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$`)
  const tables = await sql<{ name: string }[]>`
    select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname in ('public', 'auth')`
  for (const { name } of tables)
    await sql.unsafe(`create trigger aaa_no_space before insert or update or delete on ${name}
      for each row execute function public.no_space()`)
}
