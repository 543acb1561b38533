import pino from "pino"
import postgres from "postgres"
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest"
import { users, type User } from "#db/schema/users.ts"
import { openSuspension } from "#server/adapters/identity/embedded/suspension.ts"
import { announce } from "#server/live.ts"
import { suspendPerson } from "#server/operator/suspension.ts"
import { createTestDatabase } from "../support/postgres.ts"
import { withResource } from "../support/with-resource.ts"

const log = pino({ level: "silent" })

const database = withResource(createTestDatabase)
let sql: postgres.Sql
let other: postgres.Sql
beforeAll(async () => {
  sql = postgres(database.url, { max: 1, onnotice() {} })
  other = postgres(database.url, { max: 1, onnotice() {} })
})
afterAll(() => Promise.all([sql.end(), other.end()]))
beforeEach(async () => {
  await sql`delete from auth.user`
  await sql`delete from users`
  await sql`insert into auth.user (id, name, email, email_verified, holder_confirmed)
    select name, name, name || '@example.org', true, true from unnest(array['ada', 'grace']) as name`
})

test("a session that is being created while its person is suspended ends with the others", async () => {
  const created = await begin(sql, newSession)
  const suspended = suspend(other)
  await waitsForLock()
  await created.commit()
  await suspended
  expect(await goodSessions()).toBe(0)
})

test("a session that is created after its person was suspended, and before that is committed, is refused", async () => {
  const suspended = await begin(sql, suspend)
  const created = expect(newSession(other)).rejects.toThrow("this account is suspended")
  await waitsForLock()
  await suspended.commit()
  await created
  expect(await goodSessions()).toBe(0)
})

test("a session that ended with a suspension is not renewed", async () => {
  await newSession(sql)
  await suspend(sql)
  await expect(sql`update auth.session set expires_at = now() + interval '7 days'`).rejects.toThrow(
    "suspended",
  )
  expect(await goodSessions()).toBe(0)
})

test("of two operators who suspend each other one is left", async () => {
  const [ada, grace] = [await recordOf("ada"), await recordOf("grace")]
  const outcomes = await Promise.allSettled([suspendAs(ada, "grace"), suspendAs(grace, "ada")])
  expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"])
  expect(await sql`select 1 from auth.user where suspended_at is null`).toHaveLength(1)
})

/** Runs `work` in a transaction that stays open until `commit`. */
async function begin(on: postgres.Sql, work: (on: postgres.Sql) => Promise<unknown>) {
  await on`begin`
  await work(on)
  return { commit: () => on`commit` }
}

function newSession(on: postgres.Sql): Promise<unknown> {
  return on`insert into auth.session (id, token, user_id, expires_at)
    values (gen_random_uuid(), gen_random_uuid(), 'ada', now() + interval '7 days')`.execute()
}

function suspend(on: postgres.Sql): Promise<unknown> {
  return on`update auth.user set suspended_at = now() where id = 'ada'`.execute()
}

function waitsForLock() {
  return expect.poll(countWaiting).toBe(1)
}

async function countWaiting() {
  const waiting = await database.db.execute(
    "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
  )
  return waiting.length
}

async function goodSessions() {
  return (await sql`select 1 from auth.session where expires_at > now()`).length
}

async function recordOf(name: string): Promise<User> {
  const [user] = await database.db
    .insert(users)
    .values({ clerkId: name, email: `${name}@example.org` })
    .returning()
  if (!user) throw new Error("The user did not come back from the database.")
  return user
}

function suspendAs(user: User, userId: string) {
  const { db } = database
  const adminEmails = ["ada@example.org", "grace@example.org"]
  const config = { adminEmails, origin: "http://localhost:3000", securityLogDays: 365 }
  const session = { userId: user.clerkId, sessionId: null, plan: "free", via: "cookie" } as const
  const scope = { db, log, announce, config, identity: { suspension: openSuspension(db) } }
  return suspendPerson(scope, { session, user }, { userId })
}
