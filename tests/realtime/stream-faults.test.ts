import { setTimeout as sleep } from "node:timers/promises"
import postgres from "postgres"
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from "vitest"
import { ReferenceClient } from "./support/client.ts"
import { killStreams, startCluster, type Cluster } from "./support/cluster.ts"
import { startEngine, type Engine } from "./support/engine.ts"
import { amount, LONG } from "./support/form.ts"
import { expectEqual } from "./support/oracle.ts"

let cluster: Cluster
let engine: Engine
const clients: ReferenceClient[] = []

beforeAll(async () => {
  cluster = await startCluster({ max_prepared_transactions: "5" })
  engine = await startEngine(cluster.url, {
    anchorMs: 300,
    windowMs: 3000,
    transactionChanges: 5000,
    reportMs: 500,
  })
})

afterAll(async () => {
  await engine.close()
  await cluster.stop()
})

afterEach(async () => {
  const used = clients.splice(0)
  for (const client of used) client.close()
  await cluster.sql.unsafe("delete from messages; delete from threads")
  expect(used.flatMap(({ violations }) => violations)).toEqual([])
})

async function connect() {
  const client = new ReferenceClient(engine.url, "ada")
  clients.push(client)
  await client.connect()
  return client
}

/** Writes until it is stopped; does not count writes that failed because the database was down. */
function startWriting(threadId: string) {
  let stopping = false
  let written = 0
  let sql = postgres(cluster.url, { max: 1, onnotice: () => {} })
  const done = (async () => {
    for (let n = 0; !stopping; n++) {
      try {
        // One statement, so that a failure leaves nothing behind.
        await sql`insert into messages (_id, thread_id, owner, body)
          values (${`${threadId}${n}a`}, ${threadId}, 'ada', ''), (${`${threadId}${n}b`}, ${threadId}, 'ada', '')`
        written += 2
        await sleep(1)
      } catch {
        sql.end({ timeout: 0 }).catch(() => {})
        sql = postgres(cluster.url, { max: 1, onnotice: () => {} })
        await sleep(20)
      }
    }
    await sql.end({ timeout: 1 })
  })()
  async function stop() {
    stopping = true
    await done
    return written
  }
  onTestFinished(async () => {
    await stop()
  })
  return { stop }
}

describe("the stream", () => {
  it("survives repeated terminations of its walsender during writes: each row arrives once, in order, without a reset", async () => {
    const client = await connect()
    const list = await client.follow("messages.inThread", { threadId: "t" })
    const writer = startWriting("t")
    let killed = 0
    while (killed < amount(6, 20)) {
      killed += await killStreams(cluster.sql)
      const rows = list.rows.size
      await client.until(() => list.rows.size > rows, `a row after ${killed} streams were ended`)
    }
    await writer.stop()
    await expectEqual(cluster.sql, client, [list])
    const added = client.events.flatMap((event) => (event.event === "commit" ? event.changes : []))
    expect(new Set(added.map(([, , key]) => key)).size).toBe(added.length)
    expect(client.events.every(({ event }) => event !== "reset")).toBe(true)
    for (const event of client.events) if (event.event === "commit") expect(event.changes.length % 2).toBe(0)
    expect(client.seen.rows).toBe(1)
  })

  it(
    "resumes without waiting for an open transaction, and delivers that transaction whole when it commits",
    async () => {
      const client = await connect()
      const list = await client.follow("messages.inThread", { threadId: "t" })
      const open = postgres(cluster.url, { max: 1, onnotice: () => {} })
      await open.begin(async (sql) => {
        await sql`insert into messages (_id, thread_id, owner) values ('early', 't', 'ada')`
        await sleep(amount(700, 60_000))
        expect(await killStreams(cluster.sql)).toBe(1)
        await cluster.sql`insert into messages (_id, thread_id, owner) values ('later', 't', 'ada')`
        await client.until(() => list.rows.has("later"), "the row written after the kill")
        // The anchor moves past the start of this transaction in the meantime.
        await sleep(amount(700, 10_000))
        await killStreams(cluster.sql)
        await sql`insert into messages (_id, thread_id, owner) values ('late', 't', 'ada')`
      })
      await client.until(() => list.rows.size === 3, "the open transaction's rows")
      const event = client.events.findLast(({ event: name }) => name === "commit")
      expect(event?.event === "commit" && event.changes.map(([, , key]) => key)).toEqual(["early", "late"])
      await open.end()
    },
    amount(30_000, 120_000),
  )

  it.each(["SIGINT", "SIGQUIT", "SIGKILL"] as const)(
    "survives PostgreSQL being stopped by %s: clients keep their connection and rows, and receive everything that was committed",
    async (signal) => {
      const client = await connect()
      const list = await client.follow("messages.inThread", { threadId: signal })
      const writer = startWriting(signal)
      await client.until(() => list.rows.size > 20, "the first rows")
      await cluster.restart(signal)
      const [before] = await cluster.sql`select count(*)::int as n from messages`
      await client.until(() => list.rows.size > Number(before?.["n"]), "rows after the restart")
      const written = await writer.stop()
      await expectEqual(cluster.sql, client, [list])
      expect(list.rows.size).toBeGreaterThanOrEqual(written)
      expect(client.seen).toMatchObject({ rows: 1, resets: 0 })
      expect(client.connected).toBe(true)
    },
    60_000,
  )

  it("delivers a commit exactly once that was streamed before any snapshot saw it", async () => {
    await cluster.set("synchronous_standby_names", "nobody")
    await expect
      .poll(
        async () => (await cluster.admin`show synchronous_standby_names`)[0]?.["synchronous_standby_names"],
      )
      .toBe("nobody")
    const before = Number(engine.realtime.metrics()["changes"] ?? 0)
    const writer = postgres(cluster.url, { max: 1, onnotice: () => {} })
    const stuck = writer`insert into messages (_id, thread_id, owner) values ('1', 't', 'ada')`.execute()
    await expect.poll(() => engine.realtime.metrics()["changes"]).toBe(before + 1)
    expect(await cluster.admin`select 1 from pg_stat_activity where wait_event = 'SyncRep'`).not.toHaveLength(
      0,
    )
    const client = await connect()
    const list = await client.follow("messages.inThread", { threadId: "t" })
    expect([...list.rows.keys()]).toEqual(["1"])
    // A page that is rendered now does not show it, and gets it when it goes live.
    const [page] = await engine.realtime.snapshotOf(
      [{ query: "messages.inThread", args: { threadId: "t" } }],
      { id: "ada" },
    )
    expect(page?.rows).toEqual([])
    const adopted = await client.adopt("messages.inThread", { threadId: "t" }, [], {
      token: page?.have?.token ?? "",
    })
    expect([...adopted.rows.keys()]).toEqual(["1"])
    await cluster.set("synchronous_standby_names", "")
    await stuck
    await expectEqual(cluster.sql, client, [list, adopted])
    expect(client.seen.commits).toBe(0)
    await writer.end()
  })

  it("waits for a right that was streamed before any snapshot saw it: nobody is refused", async () => {
    const client = await connect()
    const own = await client.follow("threads.own", {})
    await cluster.set("synchronous_standby_names", "nobody")
    onTestFinished(() => cluster.set("synchronous_standby_names", ""))
    await expect
      .poll(
        async () => (await cluster.admin`show synchronous_standby_names`)[0]?.["synchronous_standby_names"],
      )
      .toBe("nobody")
    const writer = postgres(cluster.url, { max: 1, onnotice: () => {} })
    const written = writer`insert into threads (_id, owner) values ('early', 'ada')`.execute()
    await client.until(() => own.rows.has("early"), "the thread")
    const question = { query: "messages.inOwnThread", args: { threadId: "early" } }
    const repeated = Number(engine.realtime.metrics()["snapshots_repeated"] ?? 0)
    const followed = client.follow(question.query, question.args)
    const loaded = engine.realtime.snapshotOf([question], { id: "ada" })
    void loaded.catch(() => {})
    await expect
      .poll(() => engine.realtime.metrics()["snapshots_repeated"], { interval: 5 })
      .toBeGreaterThanOrEqual(repeated + 2)
    await cluster.set("synchronous_standby_names", "")
    await written
    expect(await followed).toMatchObject({ refusal: null, state: "live" })
    expect(await loaded).toMatchObject([{ rows: [] }])
    await writer.end()
  })

  it("ends the connection of someone who was signed out before the stream had begun", async () => {
    onTestFinished(async () => {
      await cluster.sql`
        select pg_drop_replication_slot(slot_name) from pg_replication_slots
        where slot_name like 'late_anchor%' and not temporary`
    })
    // The first slot waits for the open transactions.
    const open = postgres(cluster.url, { max: 1 })
    onTestFinished(() => open.end({ timeout: 1 }))
    await open.unsafe("begin")
    await open`select pg_current_xact_id()`
    let isSessionValid = true
    const late = await startEngine(
      cluster.url,
      { name: "late" },
      { isSessionValid: async () => isSessionValid },
      { waitsForStream: false },
    )
    onTestFinished(() => late.close())
    const client = new ReferenceClient(late.url, "ada")
    onTestFinished(() => client.close())
    await client.connect()
    isSessionValid = false
    await late.realtime.revokeUser("ada")
    await open.unsafe("commit")
    await client.until(() => client.goodbye !== null, "goodbye")
    expect(client.goodbye).toMatchObject({ reason: "signed_out" })
  })

  it("delivers a commit that no snapshot sees yet also to a process that starts when the log has moved past it", async () => {
    const limits = { name: "narrow", windowMs: 200, anchorMs: 100 }
    // Runs last: a slot that nothing advances keeps the log for ever. The temporary ones are
    // dropped automatically, some time after their connections end.
    onTestFinished(async () => {
      await cluster.sql`
        select pg_drop_replication_slot(slot_name) from pg_replication_slots
        where slot_name like 'narrow_anchor%' and not temporary`
    })
    const first = await startEngine(cluster.url, limits)
    onTestFinished(() => first.close())
    await cluster.set("synchronous_standby_names", "nobody")
    onTestFinished(() => cluster.set("synchronous_standby_names", ""))
    await expect
      .poll(
        async () => (await cluster.admin`show synchronous_standby_names`)[0]?.["synchronous_standby_names"],
      )
      .toBe("nobody")
    const [before] = await cluster.sql`select pg_current_wal_insert_lsn()::text as lsn`
    const writer = postgres(cluster.url, { max: 1, onnotice: () => {} })
    const stuck = writer`insert into messages (_id, thread_id, owner) values ('1', 't', 'ada')`.execute()
    const moved = async () => {
      const [slot] = await cluster.sql`
        select confirmed_flush_lsn > ${String(before?.["lsn"])}::text::pg_lsn as moved
        from pg_replication_slots where slot_name like 'narrow_anchor%' and not temporary`
      return slot?.["moved"]
    }
    await expect.poll(moved, { timeout: 15_000, interval: 50 }).toBe(true)
    const second = await startEngine(cluster.url, limits)
    onTestFinished(() => second.close())
    const client = new ReferenceClient(second.url, "ada")
    clients.push(client)
    await client.connect()
    const list = await client.follow("messages.inThread", { threadId: "t" })
    await cluster.set("synchronous_standby_names", "")
    await stuck
    await expectEqual(cluster.sql, client, [list])
    expect(list.rows.size).toBe(1)
    await writer.end()
  })

  it("shows nothing of a prepared transaction until it is committed, and nothing of one that is rolled back", async () => {
    const client = await connect()
    const list = await client.follow("messages.inThread", { threadId: "t" })
    const writer = postgres(cluster.url, { max: 1, onnotice: () => {} })
    for (const name of ["kept", "dropped"]) {
      await writer
        .unsafe(
          `begin; insert into messages (_id, thread_id, owner) values ('${name}', 't', 'ada'); prepare transaction '${name}'`,
        )
        .simple()
    }
    await cluster.sql`insert into messages (_id, thread_id, owner) values ('plain', 't', 'ada')`
    await client.until(() => list.rows.has("plain"), "the plain row")
    expect(list.rows.size).toBe(1)
    await writer.unsafe("rollback prepared 'dropped'")
    await writer.unsafe("commit prepared 'kept'")
    await client.until(() => list.rows.has("kept"), "the prepared row")
    await expectEqual(cluster.sql, client, [list])
    await writer.end()
  })

  it("resets only what a huge transaction affects, and stays within its memory", async () => {
    const client = await connect()
    const touched = await client.follow("messages.inThread", { threadId: "touched" })
    const other = await client.follow("messages.inThread", { threadId: "other" })
    await cluster.sql.begin(async (sql) => {
      await sql`insert into messages (_id, thread_id, owner, body)
        select 'touched' || n, case when n % 1000 = 0 then 'touched' else 'elsewhere' || n % 10 end, 'ada', repeat('x', 100)
        from generate_series(1, ${amount(20_000, 200_000)}::int) n`
    })
    await client.until(() => touched.state === "reset", "the reset")
    expect(other.state).toBe("live")
    expect(Number(engine.realtime.metrics()["ring_bytes"])).toBeLessThan(32 * 1024 * 1024)
    await client.renew()
    await expectEqual(cluster.sql, client, [touched, other])
    expect(touched.rows.size).toBe(amount(20, 200))
  })

  it("keeps little log while only unwatched tables are written", async () => {
    await cluster.sql.unsafe("create table if not exists noise (x text)")
    for (let round = 0; round < amount(10, 100); round++) await makeNoise()
    expect(await retained()).toBeGreaterThan(1_000_000)
    // PostgreSQL logs the running transactions every 15 s, and a slot releases the log only up to
    // such a record.
    const moved = async () => {
      await cluster.sql`select pg_log_standby_snapshot()`
      return retained()
    }
    await expect.poll(moved, { timeout: 20_000, interval: 200 }).toBeLessThan(1_000_000)
    await cluster.sql.unsafe("drop table noise")
  })

  it.runIf(LONG)("keeps a bounded log through ten minutes of such writes", { timeout: 700_000 }, async () => {
    await cluster.sql.unsafe("create table noise (x text)")
    let written = 0
    let most = 0
    for (const end = performance.now() + 600_000; performance.now() < end; written += 2_000_000) {
      await makeNoise()
      most = Math.max(most, await retained())
      if (written % 100_000_000 === 0) await cluster.sql`truncate noise`
      await sleep(500)
    }
    process.stdout.write(
      `${written / 1e6} MB of rows written, at most ${Math.round(most / 1e6)} MB of log kept\n`,
    )
    expect(most).toBeLessThan(written / 5)
    await cluster.sql.unsafe("drop table noise")
  })
})

describe("a table whose structure changes", () => {
  it("by an added column is followed as before", async () => {
    const client = await connect()
    const list = await client.follow("messages.inThread", { threadId: "t" })
    await cluster.sql`alter table messages add column extra int default 7`
    await cluster.sql`insert into messages (_id, thread_id, owner) values ('1', 't', 'ada')`
    await client.until(() => list.rows.size === 1, "the row")
    expect(list.rows.get("1")).not.toHaveProperty("extra")
    await cluster.sql`alter table messages drop column extra`
    await cluster.sql`insert into messages (_id, thread_id, owner) values ('2', 't', 'ada')`
    await client.until(() => list.rows.size === 2, "the row")
  })

  it("by a dropped column that is read is refused with an error, and served again when it is back", async () => {
    const client = await connect()
    const list = await client.follow("messages.inThread", { threadId: "t" })
    await cluster.sql`alter table messages rename column note to remark`
    await cluster.sql`insert into messages (_id, thread_id, owner) values ('1', 't', 'ada')`
    await client.until(() => list.state === "reset", "the reset")
    await client.renew()
    expect(list.refusal).toMatchObject({ code: "unavailable" })
    expect(engine.realtime.ready()).toMatchObject({ ready: false })
    expect(engine.lines.some(({ level, message }) => level === "error" && message.includes("note"))).toBe(
      true,
    )
    await cluster.sql`alter table messages rename column remark to note`
    await cluster.sql`insert into messages (_id, thread_id, owner) values ('2', 't', 'ada')`
    await expect.poll(() => engine.realtime.ready()).toEqual({ ready: true })
    list.state = "reset"
    await client.renew()
    await expectEqual(cluster.sql, client, [list])
  })

  it("by a changed column type is refused with an error, and served again when it is as before", async () => {
    const client = await connect()
    const list = await client.follow("messages.inThread", { threadId: "t" })
    const other = await client.follow("threads.own", {})
    await cluster.sql`alter table messages alter column note type varchar(100)`
    await cluster.sql`insert into messages (_id, thread_id, owner) values ('1', 't', 'ada')`
    await client.until(() => list.state === "reset", "the reset")
    await client.renew()
    expect(list.refusal).toMatchObject({ code: "unavailable" })
    expect(other.state).toBe("live")
    // Checked in the catalogue, as nothing is written.
    await cluster.sql`alter table messages alter column note type text`
    await expect.poll(() => engine.realtime.ready()).toEqual({ ready: true })
    list.state = "reset"
    await client.renew()
    await expectEqual(cluster.sql, client, [list])
  })

  it("ends the subscriptions whose access it decides, even if they read another table", async () => {
    await cluster.sql`insert into threads (_id, owner) values ('t', 'ada')`
    const client = await connect()
    const list = await client.follow("messages.inOwnThread", { threadId: "t" })
    await cluster.sql`alter table threads rename column title to heading`
    await cluster.sql`update threads set owner = 'eve' where _id = 't'`
    await client.until(() => list.state === "reset", "the reset")
    await cluster.sql`alter table threads rename column heading to title`
    await expect.poll(() => engine.realtime.ready()).toEqual({ ready: true })
    await client.renew()
    expect(list.refusal).toMatchObject({ code: "not_found" })
  })

  it("is noticed even if nothing is written to it", async () => {
    const client = await connect()
    const list = await client.follow("messages.inThread", { threadId: "t" })
    await cluster.sql`alter table messages rename column note to remark`
    await client.until(() => list.state === "reset", "the reset")
    await cluster.sql`alter table messages rename column remark to note`
    await expect.poll(() => engine.realtime.ready()).toEqual({ ready: true })
    await client.renew()
    await expectEqual(cluster.sql, client, [list])
  })

  it("so that a change no longer names a row's previous range is refused until it does", async () => {
    const client = await connect()
    const list = await client.follow("messages.inThread", { threadId: "t" })
    await cluster.sql`insert into messages (_id, thread_id, owner) values ('1', 't', 'ada')`
    await client.until(() => list.rows.size === 1, "the row")
    await cluster.sql`alter table messages replica identity default`
    await cluster.sql`update messages set thread_id = 'u' where _id = '1'`
    await client.until(() => list.state === "reset", "the reset")
    await cluster.sql`alter table messages replica identity using index messages_range`
    await expect.poll(() => engine.realtime.ready()).toEqual({ ready: true })
    await client.renew()
    await expectEqual(cluster.sql, client, [list])
  })

  it("by leaving the publication is refused with an error until it is published again", async () => {
    const client = await connect()
    const list = await client.follow("messages.inThread", { threadId: "t" })
    await cluster.sql`alter publication tideline drop table messages`
    await client.until(() => list.state === "reset", "the reset")
    expect(
      engine.lines.some(({ level, message }) => level === "error" && message.includes("publication")),
    ).toBe(true)
    await cluster.sql`insert into messages (_id, thread_id, owner) values ('unseen', 't', 'ada')`
    await cluster.sql`alter publication tideline add table messages`
    await expect.poll(() => engine.realtime.ready()).toEqual({ ready: true })
    await client.renew()
    await expectEqual(cluster.sql, client, [list])
  })
})

function makeNoise() {
  return cluster.sql`insert into noise select repeat('x', 1000) from generate_series(1, 2000)`
}

/** Bytes of log that the slots retain. */
async function retained() {
  const [slot] = await cluster.sql`
    select pg_current_wal_lsn() - min(restart_lsn) as bytes from pg_replication_slots where database = current_database()`
  return Number(slot?.["bytes"])
}
