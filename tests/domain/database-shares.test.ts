import { sql } from "drizzle-orm"
import postgres from "postgres"
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from "vitest"
import { openDatabase, type OpenDatabase } from "#db/client.ts"
import { openConnectionPool, openOneConnection } from "#live/check"
import { isBusy, isOutage } from "../../live/postgres/outage.ts"
import { createShares } from "#db/shares.ts"
import { setTimeLimits } from "#db/time-limits.ts"
import { createTestDatabase } from "../support/postgres.ts"
import { withResource } from "../support/with-resource.ts"

const database = withResource(createTestDatabase)
let psql: postgres.Sql
let open: OpenDatabase

beforeAll(async () => {
  psql = postgres(database.url, { max: 1, onnotice: () => {} })
  await psql`create table ropes (_id int primary key, length int)`
  await psql`insert into ropes values (1, 0), (2, 0)`
  await setTimeLimits(database.url)
  open = openDatabase(database.url, { connections: 4 })
})
afterAll(async () => {
  await open.close()
  await psql.end()
})

/** A transaction that somebody left open in psql. */
async function holdRope() {
  const held = Promise.withResolvers<void>()
  const release = Promise.withResolvers<void>()
  const over = psql.begin(async (transaction) => {
    await transaction`update ropes set length = 1 where _id = 1`
    held.resolve()
    await release.promise
  })
  await held.promise
  return () => {
    release.resolve()
    return over
  }
}

it("connections of a burst close when they are no longer used, and two stay", async () => {
  const application = `burst ${process.pid}`
  const pool = openConnectionPool(6, (onclose) => openOneConnection(database.url, { application, onclose }), {
    idleTimeout: 100,
  })
  const opened = async () => {
    const rows = await psql`select 1 from pg_stat_activity where application_name = ${application}`
    return rows.length
  }
  const gate = Promise.withResolvers<void>()
  const burst = Array.from({ length: 6 }, () =>
    pool.useClient(async (client) => {
      await client`select 1`
      await gate.promise
    }),
  )
  await expect.poll(opened).toBe(6)
  gate.resolve()
  await Promise.all(burst)
  await expect.poll(opened, { timeout: 10_000 }).toBe(2)
  expect(await pool.useClient((client) => client`select 1 as one`)).toHaveLength(1)
  await pool.close()
})

it("one person's waiting requests leave connections to others, are refused by name, and can be retried", async () => {
  const release = await holdRope()
  const lengthen = () => open.dbFor("ada").execute(sql`update ropes set length = length + 1 where _id = 1`)
  const waiting = Promise.allSettled(Array.from({ length: 10 }, lengthen))
  const others = await open
    .dbFor("grace")
    .execute(sql`update ropes set length = 5 where _id = 2 returning length`)
  expect([...others]).toEqual([{ length: 5 }])
  expect([...(await open.db.execute(sql`select 1 as one`))]).toEqual([{ one: 1 }])
  const refused = await waiting
  for (const each of refused) {
    const error: unknown = each.status === "rejected" ? each.reason : null
    expect([isBusy(error), isOutage(error)]).toEqual([true, true])
  }
  await release()
  await lengthen()
  expect([...(await psql`select length from ropes order by _id`)]).toEqual([{ length: 2 }, { length: 5 }])
})

it("one person's long queue is not refused while it moves, for half a minute at most", async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const shares = createShares()
  const queue = (count: number) =>
    Promise.allSettled(
      Array.from({ length: count }, () =>
        shares.use("ada", () => new Promise((resolve) => setTimeout(resolve, 1100))),
      ),
    )
  const fifty = queue(50)
  await vi.advanceTimersByTimeAsync(60_000)
  expect((await fifty).filter(({ status }) => status === "fulfilled")).toHaveLength(50)
  const hundred = queue(100)
  await vi.advanceTimersByTimeAsync(60_000)
  // The 28th three begin after 29.7 s.
  expect((await hundred).filter(({ status }) => status === "fulfilled")).toHaveLength(84)
})

it("a probe has a connection of its own, no matter who holds the others", async () => {
  const release = await holdRope()
  const waiting = Promise.allSettled(
    ["ada", "grace", "mary", "joan"].map((person) =>
      open.dbFor(person).execute(sql`update ropes set length = 0 where _id = 1`),
    ),
  )
  expect([...(await open.probe.execute(sql`select 1 as one`))]).toEqual([{ one: 1 }])
  await release()
  expect((await waiting).map(({ status }) => status)).toEqual(Array(4).fill("fulfilled"))
})

it("every session limits its waiting time, no matter who opens it, except where the operator set a limit", async () => {
  const show = async () => {
    const session = postgres(database.url, { max: 1 })
    const [row] = await session`
      select current_setting('lock_timeout') as lock, current_setting('statement_timeout') as statement,
        current_setting('idle_in_transaction_session_timeout') as idle`
    await session.end()
    return row
  }
  expect(await show()).toEqual({ lock: "4s", statement: "30s", idle: "15s" })
  const name = new URL(database.url).pathname.slice(1)
  await psql.unsafe(`alter role current_user in database "${name}" set statement_timeout = '2min'`)
  await Promise.all([setTimeLimits(database.url), setTimeLimits(database.url)])
  expect(await show()).toEqual({ lock: "4s", statement: "2min", idle: "15s" })
})
