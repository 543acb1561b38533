import postgres from "postgres"
import { afterAll, beforeAll, expect, test } from "vitest"
import { amount, seeded } from "../realtime/support/form.ts"
import { startFleet, type Fleet } from "../support/fleet.ts"
import { signUp } from "../support/people.ts"
import { createTestDatabase } from "../support/postgres.ts"
import { openReturningSocket } from "../support/returning-socket.ts"
import { startTraffic } from "../support/traffic.ts"
import { withResource } from "../support/with-resource.ts"

const PEOPLE = amount(2, 4)
const SOCKETS_EACH = 3
/**
 * Built sources of an older version, to upgrade from and roll back to, provided by `npm run
 * test:older`.
 */
const older = process.env["OLDER_SOURCES"]
/** The versions that the processes are replaced with, in order; undefined is the current build. */
const turns = older ? [undefined, older] : [undefined]

const database = withResource(createTestDatabase)
let sql: postgres.Sql
let fleet: Fleet

beforeAll(async () => {
  sql = postgres(database.url, { max: 2 })
  fleet = await startFleet(database.url, {
    env: { DRAIN_DELAY: "3", TRUSTED_PROXIES: "1" },
    ...(older && { sources: older }),
  })
})
afterAll(async () => {
  await fleet.stop()
  await sql.end()
})

test("three processes restart in turn without a failed request or a commit missed by a socket", async () => {
  const people = await Promise.all(
    Array.from({ length: PEOPLE }, (_, n) => signUp(fleet, { name: "Ada", email: `ada-${n}@example.org` })),
  )
  const sockets = await Promise.all(
    people.flatMap((person) =>
      Array.from({ length: SOCKETS_EACH }, () => openReturningSocket(fleet.origin, person)),
    ),
  )
  const traffic = startTraffic(fleet.origin, people, {
    chance: seeded("a rolling restart"),
    deeds: ["talk", "talk", "store", "look", "join"],
    rest: older ? 0 : amount(50, 0),
  })
  for (const sources of turns) {
    for (const member of fleet.members) {
      const before = traffic.served()
      expect(await member.end("SIGTERM")).toBe(0)
      expect(traffic.served()).toBeGreaterThan(before)
      await member.start(sources)
      await fleet.whenReady()
    }
  }
  await traffic.stop()
  for (const member of fleet.members) expect(await member.metric("tideline_realtime_broken_tables")).toBe(0)

  const { ledger } = traffic
  const failed = ledger.refused.length + ledger.wrong.length + fleet.balancer.failures.length
  process.stdout.write(`a rolling restart: ${traffic.served()} requests, ${failed} failed\n`)
  expect([...ledger.refused, ...ledger.wrong, ...fleet.balancer.failures]).toEqual([])
  const rows = await sql<{ _id: string; title: string }[]>`select _id, title from chat_threads`
  expect(new Map(rows.map(({ _id, title }) => [_id, new Set([title])]))).toEqual(ledger.titles)
  for (const socket of sockets) {
    const shown = await socket.finish(sql)
    expect(socket.ended.goodbyes).toBeGreaterThan(0)
    expect(socket.ended.losses).toBe(0)
    expect(shown.threads.map(({ _id, title }) => ({ _id, title }))).toEqual(
      Array.from(
        await sql`
        select t._id, title from chat_threads t join users u on u._id = t.user_id
        where email = ${socket.person.email} order by t._id`,
      ),
    )
    expect(shown.files.map(({ _id }) => _id)).toEqual(
      (
        await sql`select f._id from files f join users u on u._id = f.user_id where email = ${socket.person.email} order by f._id`
      ).map((row) => row["_id"]),
    )
    expect(socket.client.violations).toEqual([])
    // Each list was read once and then updated by changes. A version that watches other tables may
    // have it read again.
    if (!older) expect(socket.client.seen).toMatchObject({ rows: 2, resets: 0 })
  }
}, 240_000)
