import postgres from "postgres"
import { beforeAll, expect, it } from "vitest"
import { startTideline, type TidelineApp } from "../support/app.ts"
import { ada as adaLovelace, grace as graceHopper, signUp } from "../support/people.ts"

const DAY = "interval '1 day'"

let app: TidelineApp
let sql: postgres.Sql

beforeAll(async () => {
  app = await startTideline()
  sql = postgres(app.databaseUrl, { max: 1, onnotice() {} })
  return async () => {
    await sql.end()
    await app.stop()
  }
})

it("a database without disk space answers the reads of people, known and new, and refuses their writes", async () => {
  const ada = await signUp(app, adaLovelace)
  expect((await ada("/api/files?name=a.txt", { method: "POST", body: "a" })).status).toBe(201)
  // Has a session, and no record yet.
  const grace = await signUp(app, graceHopper)
  // Old enough to be extended.
  await sql.unsafe(
    `update auth.session set updated_at = updated_at - 3 * ${DAY}, expires_at = expires_at - 3 * ${DAY}`,
  )
  await fill()
  const paths = ["/api/files", "/api/chat/threads", "/dashboard", "/dashboard/files", "/dashboard/account"]
  const statuses = async (person: (path: string) => Promise<Response>) =>
    Promise.all(paths.map(async (path) => [path, (await person(path)).status]))
  const answered = paths.map((path) => [path, expect.toBeOneOf([200, 302])])
  expect(await statuses(ada)).toEqual(answered)
  expect(await statuses(grace)).toEqual(answered)
  for (const person of [ada, grace]) {
    const refused = await person("/api/files?name=b.txt", { method: "POST", body: "b" })
    expect(await refused.json()).toMatchObject({ reason: "database-full" })
    expect(refused.status).toBe(503)
  }
})

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
