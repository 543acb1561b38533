import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from "vitest"
import { ReferenceClient } from "./support/client.ts"
import { startCluster, type Cluster } from "./support/cluster.ts"
import { amount } from "./support/form.ts"
import { expectEqual } from "./support/oracle.ts"
import { spawnEngine, type EngineProcess } from "./support/spawn-engine.ts"

let cluster: Cluster
const processes: EngineProcess[] = []
const clients: ReferenceClient[] = []

beforeAll(async () => {
  cluster = await startCluster({ wal_sender_timeout: "1s", max_slot_wal_keep_size: "64MB" })
})

afterAll(async () => {
  await cluster.stop()
})

afterEach(async () => {
  const used = clients.splice(0)
  for (const client of used) client.close()
  for (const process of processes.splice(0)) {
    process.signal("SIGCONT")
    await process.end("SIGKILL")
  }
  await cluster.sql.unsafe("delete from messages; delete from threads")
  expect(used.flatMap(({ violations }) => violations)).toEqual([])
})

async function start(limits = {}, version: "this" | "next" = "this") {
  const process = await spawnEngine(cluster.url, { reportMs: 250, anchorMs: 500, ...limits }, version)
  processes.push(process)
  return process
}

async function connect(process: EngineProcess, token = "ada") {
  const client = new ReferenceClient(process.url, token)
  clients.push(client)
  await client.connect()
  return client
}

async function insert(from: number, to: number, threadId = "t") {
  await cluster.sql`insert into messages (_id, thread_id, owner)
    select lpad(n::text, 8, '0'), ${threadId}, 'ada' from generate_series(${from}::int, ${to}::int) n`
}

describe("a process", () => {
  it("that is killed with all its connections is replaced, and every client resumes", async () => {
    const first = await start()
    await insert(1, 50)
    const count = amount(60, 500)
    const all = await Promise.all(Array.from({ length: count }, (_, n) => connect(first, `user${n % 30}`)))
    const lists = await Promise.all(
      all.map((client) => client.follow("messages.inThread", { threadId: "t" })),
    )
    await insert(51, 60)
    await first.end("SIGKILL")
    await insert(61, 70)
    await cluster.sql`delete from messages where _id = '00000001'`
    const second = await start()
    await Promise.all(all.map((client) => client.resume(second.url)))
    for (const [index, client] of all.entries()) {
      await expectEqual(cluster.sql, client, [lists[index]!])
      expect(client.seen).toMatchObject({ rows: 1, changes: 1, resets: 0 })
    }
  })

  it("that is suspended for longer than PostgreSQL's timeout recovers automatically without a gap", async () => {
    const process = await start()
    const client = await connect(process)
    const list = await client.follow("messages.inThread", { threadId: "t" })
    process.signal("SIGSTOP")
    await insert(1, 10)
    const streams = async () => (await cluster.sql`select 1 from pg_stat_replication`).length
    await expect.poll(streams, { message: "streams that PostgreSQL still waits for" }).toBe(0)
    await sleep(amount(0, 7000))
    await insert(11, 20)
    process.signal("SIGCONT")
    await expectEqual(cluster.sql, client, [list])
    expect(client.seen).toMatchObject({ rows: 1, resets: 0 })
  })

  it("that is suspended for longer than the log is kept reports it and reads again, instead of skipping", async () => {
    const stopped = await start({ windowMs: 1000 })
    const other = await start({ windowMs: 1000 })
    const client = await connect(stopped)
    const list = await client.follow("messages.inThread", { threadId: "t" })
    await insert(1, 10)
    await client.until(() => list.rows.size === 10, "the first rows")
    stopped.signal("SIGSTOP")
    const witness = await connect(other)
    const seen = await witness.follow("messages.inThread", { threadId: "t" })
    // Until PostgreSQL ends the stream, its output waits in the socket.
    const streams = () =>
      cluster.sql`select 1 from pg_replication_slots where temporary and database = current_database()`
    await expect.poll(streams, { timeout: 15_000, interval: 50 }).toHaveLength(1)
    await insert(11, 20)
    const [place] = await cluster.sql`select pg_current_wal_flush_lsn()::text as lsn`
    const passed = async () => {
      const [slot] = await cluster.sql`
        select confirmed_flush_lsn > ${String(place?.["lsn"])}::text::pg_lsn as passed
        from pg_replication_slots where not temporary and database = current_database()`
      return slot?.["passed"]
    }
    await insert(21, 21)
    await expect.poll(passed, { timeout: 15_000, interval: 100 }).toBe(true)
    stopped.signal("SIGCONT")
    await client.until(() => list.state === "reset", "the reset")
    await client.renew()
    await expectEqual(cluster.sql, client, [list])
    await expectEqual(cluster.sql, witness, [seen])
    expect(witness.seen.resets).toBe(0)
    expect((await stopped.metrics())["stream_gaps"]).toBe(1)
  })

  it("whose replication slot PostgreSQL invalidated creates another once, and its clients read again", async () => {
    // One segment of the log: PostgreSQL keeps at least one.
    await cluster.set("max_slot_wal_keep_size", "16MB")
    onTestFinished(() => cluster.set("max_slot_wal_keep_size", "64MB"))
    const process = await start({ anchorMs: 600_000 })
    const client = await connect(process)
    const list = await client.follow("messages.inThread", { threadId: "t" })
    await insert(1, 10)
    await client.until(() => list.rows.size === 10, "the first rows")
    process.signal("SIGSTOP")
    // A checkpoint that invalidates a slot waits for its user, and that walsender is stuck until it
    // times out.
    const streams = () =>
      cluster.sql`select 1 from pg_replication_slots where temporary and database = current_database()`
    await expect.poll(streams, { timeout: 15_000, interval: 50 }).toHaveLength(0)
    const lost = async () => {
      await cluster.sql`select pg_logical_emit_message(false, 'flood', repeat('x', 30000000))`
      await cluster.sql`select pg_switch_wal()`
      await cluster.sql`checkpoint`
      const slots = await cluster.sql`
        select wal_status from pg_replication_slots where not temporary and database = current_database()`
      return slots.map((slot) => slot["wal_status"])
    }
    await expect.poll(lost, { timeout: 20_000, interval: 50 }).toEqual(["lost"])
    await insert(11, 20)
    process.signal("SIGCONT")
    await client.until(() => list.state === "reset", "the reset")
    await client.renew()
    await expectEqual(cluster.sql, client, [list])
    expect((await process.metrics())["stream_gaps"]).toBe(1)
    await insert(21, 22)
    await expectEqual(cluster.sql, client, [list])
  })

  it("is replaced in a rolling deployment: it says goodbye, nothing is lost, and no slot remains", async () => {
    let running = [await start(), await start()]
    const all = await Promise.all(Array.from({ length: 10 }, (_, n) => connect(running[n % 2]!, `user${n}`)))
    const lists = await Promise.all(
      all.map((client) => client.follow("messages.inThread", { threadId: "t" })),
    )
    let next = 1
    for (let round = 0; round < amount(2, 6); round++) {
      const old = running[0]!
      const fresh = await start()
      running = [running[1]!, fresh]
      await insert(next, (next += 5))
      next += 1
      const ending = old.end("SIGTERM")
      await insert(next, next)
      next += 1
      await ending
      for (const client of all) {
        if (client.connected) continue
        expect(client.goodbye).toMatchObject({ reason: "draining" })
        await client.resume(fresh.url)
      }
    }
    for (const [index, client] of all.entries()) {
      await expectEqual(cluster.sql, client, [lists[index]!])
      expect(client.seen.rows).toBe(1)
    }
    const slots =
      await cluster.sql`select temporary from pg_replication_slots where database = current_database()`
    expect(slots).toHaveLength(3)
  })

  it("of the next version, which reads other tables, reads everything again without losing a row", async () => {
    const first = await start()
    const client = await connect(first)
    const list = await client.follow("messages.inThread", { threadId: "t" })
    await insert(1, 10)
    const next = await start({}, "next")
    await first.end("SIGTERM")
    await insert(11, 20)
    await client.resume(next.url)
    expect(client.seen).toMatchObject({ rows: 2, changes: 0 })
    await expectEqual(cluster.sql, client, [list])
    // And back, if the next version has to be rolled back.
    const again = await start()
    await next.end("SIGTERM")
    await insert(21, 30)
    await client.resume(again.url)
    expect(client.seen).toMatchObject({ rows: 3, changes: 0 })
    await expectEqual(cluster.sql, client, [list])
  })
})
