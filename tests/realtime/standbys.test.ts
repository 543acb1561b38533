import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest"
import { openPool } from "../../live/server/pool.ts"
import { ensureStandbyAnchor } from "../../live/server/standby-anchor.ts"
import { inAll } from "../support/all.ts"
import type { Followed, ReferenceClient } from "./support/client.ts"
import type { Engine } from "./support/engine.ts"
import { storedMessages } from "./support/oracle.ts"
import { insert, startReplicas, SWIFT, type Replicas } from "./support/replicas.ts"
import { spawnEngine } from "./support/spawn-engine.ts"

let replicas: Replicas

beforeAll(async () => {
  replicas = await startReplicas()
}, 120_000)
afterAll(() => replicas.stop())
beforeEach(() => replicas.on(replicas.primary, (sql) => sql`delete from messages`))

/** A client that follows the thread, at an engine that reads from the standbys. */
async function begin() {
  const engine = await replicas.engine(replicas.standbys)
  const client = await replicas.client(engine)
  const list = await client.follow("messages.inThread", { threadId: "t" })
  return { engine, client, list }
}

async function mustShowTheTable(client: ReferenceClient, list: Followed) {
  const stored = await replicas.on(replicas.primary, (sql) => storedMessages(sql, "t"))
  await client.until(() => list.rows.size === stored.length, `${stored.length} rows`)
  expect(client.rowsOf(list)).toEqual(stored)
  expect(client.violations).toEqual([])
}

const readsStandby = ({ realtime }: Engine) => realtime.metrics()["reads_standby"]

describe("a process that follows standbys", () => {
  it("reads the log from one of them, and nothing from the primary", async () => {
    const { engine, client, list } = await begin()
    await insert(replicas, 1, 20)
    await mustShowTheTable(client, list)
    await replicas.findSource()
    expect(readsStandby(engine)).toBe(1)
    expect(await replicas.readersOf(replicas.primary)).toHaveLength(0)
    expect(client.seen).toMatchObject({ rows: 1, resets: 0 })
  })

  it("joins snapshot and stream while transactions run, whose ids a standby's snapshot does not name", async () => {
    const { client } = await begin()
    for (let n = 0; n < 10; n++) {
      const writing = replicas.on(replicas.primary, (sql) =>
        sql.begin(async (transaction) => {
          await transaction`insert into messages (_id, thread_id, owner) values (${`slow ${n}`}, 't', 'ada')`
          await insert(replicas, n, n)
          const during = await client.follow("messages.inThread", { threadId: "t" })
          expect(during.rows.has(`slow ${n}`)).toBe(false)
        }),
      )
      const list = await client.follow("messages.inThread", { threadId: "t" })
      await writing
      await mustShowTheTable(client, list)
    }
  })

  it("renders a page that shows what was committed before it was asked for", async () => {
    const { engine } = await begin()
    for (let n = 1; n <= 30; n++) {
      await insert(replicas, n, n)
      const [page] = await engine.realtime.snapshotOf(
        [{ query: "messages.inThread", args: { threadId: "t" } }],
        { id: "ada" },
      )
      expect(page?.rows).toHaveLength(n)
      expect(page?.have).toBeDefined()
    }
    expect(engine.realtime.metrics()["reads_moved_to_primary"] ?? 0).toBe(0)
  })

  it("renders it from the primary when the standby does not get there, and a browser reads it again", async () => {
    const engine = await replicas.engine(replicas.standbys, {}, { followWaitMs: 100, followLagMs: 60_000 })
    const [own] = await replicas.findSource()
    await own.pauseReplay()
    try {
      await insert(replicas, 1, 3)
      const [page] = await engine.realtime.snapshotOf(
        [{ query: "messages.inThread", args: { threadId: "t" } }],
        { id: "ada" },
      )
      expect(page?.rows).toHaveLength(3)
      expect(page?.have).toBeUndefined()
      expect(engine.realtime.metrics()["reads_moved_to_primary"]).toBe(1)
    } finally {
      await own.resumeReplay()
    }
  })

  it("makes a client's own mutation arrive", async () => {
    const { client, list } = await begin()
    const { lsn } = await client.mutate(
      "messages.add",
      { id: "own", threadId: "t", body: "text" },
      "a mutation at a standby",
    )
    await client.until(() => (client.position?.lsn ?? "") >= lsn, "the mutation's position")
    expect(list.rows.has("own")).toBe(true)
  })

  it.each([
    ["is killed", (node: Node) => node.kill(), (node: Node) => node.start()],
    ["hangs", async (node: Node) => node.pause(), async (node: Node) => node.resume()],
    ["replays no more", (node: Node) => node.pauseReplay(), (node: Node) => node.resumeReplay()],
    ["replays with a delay", (node: Node) => node.delayReplay(30_000), (node: Node) => node.delayReplay(0)],
  ])("goes on at another one when its own %s, and its clients notice nothing", async (_, harm, heal) => {
    const { engine, client, list } = await begin()
    await insert(replicas, 1, 10)
    await mustShowTheTable(client, list)
    const [own, other] = await replicas.findSource()
    await harm(own)
    try {
      await insert(replicas, 11, 20)
      await mustShowTheTable(client, list)
      await expect.poll(() => replicas.readersOf(other), { timeout: 20_000 }).toHaveLength(1)
      await expect.poll(() => readsStandby(engine), { timeout: 20_000 }).toBe(1)
      const resumed = await client.follow("messages.inThread", { threadId: "t" })
      expect(resumed.rows.size).toBe(20)
    } finally {
      await heal(own)
    }
    await own.whenStreaming()
    await insert(replicas, 21, 30)
    await mustShowTheTable(client, list)
    expect(client.seen).toMatchObject({ rows: 2, resets: 0 })
  })

  it("goes on at the primary when no standby is left, and returns to one", async () => {
    const { engine, client, list } = await begin()
    for (const standby of replicas.standbys) standby.pause()
    try {
      await insert(replicas, 1, 10)
      await mustShowTheTable(client, list)
      expect(readsStandby(engine)).toBe(0)
    } finally {
      for (const standby of replicas.standbys) standby.resume()
    }
    await expect.poll(() => readsStandby(engine), { timeout: 20_000 }).toBe(1)
    await insert(replicas, 11, 20)
    await mustShowTheTable(client, list)
    expect(client.seen).toMatchObject({ rows: 1, resets: 0 })
  })

  it("goes on at another one after a pause for which its slots kept too much of the log", async () => {
    const urls = replicas.standbys.map(({ url }) => url)
    const engine = await spawnEngine(replicas.databaseUrl, SWIFT, "this", urls)
    onTestFinished(() => engine.end("SIGKILL"))
    const [own] = await replicas.findSource()
    await own.set({ max_slot_wal_keep_size: "16MB", wal_keep_size: "0" })
    onTestFinished(() => own.set({ max_slot_wal_keep_size: null, wal_keep_size: null }))
    const client = await replicas.client(engine)
    const list = await client.follow("messages.inThread", { threadId: "t" })
    await insert(replicas, 1, 10)
    await mustShowTheTable(client, list)
    engine.signal("SIGSTOP")
    const lines = replicas.linesOf(own)
    while (!lines().some((line) => /restart_lsn .* exceeds the limit/.test(line))) await fillLog(own)
    engine.signal("SIGCONT")
    await insert(replicas, 11, 20)
    await mustShowTheTable(client, list)
    await expect.poll(() => slotsOf(own), { timeout: 20_000 }).toEqual(["reserved"])
    await insert(replicas, 21, 30)
    await mustShowTheTable(client, list)
    expect(client.seen).toMatchObject({ rows: 1, resets: 0 })
  })

  inAll(
    "makes a slot again that conflicted with what the primary removed, and reads there again",
    async () => {
      // Slots that hold little, so that the primary soon removes what they no longer need.
      const engine = await replicas.engine(replicas.standbys, {}, { windowMs: 500 })
      const [own, other] = await replicas.findSource()
      await own.set({ hot_standby_feedback: "off", wal_receiver_status_interval: "1s" })
      await other.set({ wal_receiver_status_interval: "1s" })
      onTestFinished(async () => {
        other.resume()
        await own.set({ hot_standby_feedback: null, wal_receiver_status_interval: null })
        await other.set({ wal_receiver_status_interval: null })
      })
      const client = await replicas.client(engine)
      const list = await client.follow("messages.inThread", { threadId: "t" })
      await insert(replicas, 1, 10)
      await mustShowTheTable(client, list)
      await own.pauseReplay()
      const lines = replicas.linesOf(own)
      await expect.poll(() => replicas.readersOf(other), { timeout: 20_000 }).toHaveLength(1)
      await removeFromCatalogue()
      await own.resumeReplay()
      await expect
        .poll(() => lines().some((line) => /conflicted with xid horizon/.test(line)), { timeout: 20_000 })
        .toBe(true)
      await insert(replicas, 11, 20)
      await mustShowTheTable(client, list)
      await expect.poll(() => slotsOf(own), { timeout: 20_000 }).toEqual(["reserved"])
      // The process is further than where the new slot begins.
      await insert(replicas, 21, 25)
      await mustShowTheTable(client, list)
      other.pause()
      await insert(replicas, 26, 30)
      await mustShowTheTable(client, list)
      await expect.poll(() => replicas.readersOf(own), { timeout: 20_000 }).toHaveLength(1)
      other.resume()
      await insert(replicas, 31, 40)
      await mustShowTheTable(client, list)
      expect(client.seen).toMatchObject({ rows: 1, resets: 0 })
    },
  )
})

it("a standby goes on replaying while a slot is made on it, which waits for the log", async () => {
  const [own, other] = replicas.standbys
  for (const standby of [own!, other!]) await standby.set({ hot_standby_feedback: "off" })
  // Rather than end a statement that still needs what the log removes, it would wait for ever.
  await own!.set({ max_standby_streaming_delay: "-1" })
  onTestFinished(async () => {
    for (const standby of [own!, other!])
      await standby.set({ hot_standby_feedback: null, max_standby_streaming_delay: null })
  })
  await insert(replicas, 1, 10)
  await expect.poll(() => countOn(own!), { timeout: 20_000 }).toBe(10)
  await pauseBackgroundWriter(replicas.primary)
  const pool = openPool(own!.url, 1)
  const nobody = openPool("postgres://nobody@127.0.0.1:9/none", 1)
  onTestFinished(async () => void (await Promise.all([pool.close(), nobody.close()])))
  const making = ensureStandbyAnchor({ url: own!.url, pool }, nobody, { name: "made_late", publication: "" })
  const slot = () =>
    replicas.on(own!, (sql) => sql`select active from pg_replication_slots where slot_name = 'made_late'`)
  await expect.poll(slot, { timeout: 20_000 }).toEqual([{ active: true }])
  await replicas.on(replicas.primary, async (sql) => {
    const kept = () => sql`select 1 from pg_replication_slots where xmin is not null`
    await expect.poll(kept, { timeout: 20_000 }).toHaveLength(0)
    await sql`delete from messages`
    await sql`vacuum messages`
  })
  await insert(replicas, 11, 15)
  await expect.poll(() => countOn(own!), { timeout: 20_000 }).toBe(5)
  expect(await slot()).toEqual([{ active: true }])
  await replicas.on(replicas.primary, (sql) => sql`select pg_log_standby_snapshot()`)
  await making
  expect(await slot()).toEqual([{ active: false }])
  await replicas.on(own!, (sql) => sql`select pg_drop_replication_slot('made_late')`)
})

/** Every 15 seconds it logs what the slot waits for. */
async function pauseBackgroundWriter(node: Node) {
  const pid = await replicas.on(node, async (sql) => {
    const [row] = await sql`select pid from pg_stat_activity where backend_type = 'background writer'`
    return Number(row?.["pid"])
  })
  process.kill(pid, "SIGSTOP")
  onTestFinished(() => void process.kill(pid, "SIGCONT"))
}

const countOn = (node: Node) =>
  replicas.on(node, async (sql) => {
    const [row] = await sql`select count(*)::int from messages`
    return row?.["count"]
  })

/** The states of a node's permanent slots. */
const slotsOf = (node: Node) =>
  replicas.on(node, async (sql) => {
    const slots = await sql`
      select wal_status as status from pg_replication_slots where not temporary and slot_type = 'logical'`
    return slots.map(({ status }) => String(status))
  })

/** Writes three segments of log, and has the standby throw away what it need not keep. */
async function fillLog(standby: Node) {
  const written = await replicas.on(replicas.primary, async (sql) => {
    for (let segment = 0; segment < 3; segment++)
      await sql`select pg_logical_emit_message(false, 'test', 'log'), pg_switch_wal()`
    await sql`checkpoint`
    const [row] = await sql`select pg_current_wal_lsn()::text as lsn`
    return String(row?.["lsn"])
  })
  await replicas.on(standby, async (sql) => {
    const isReplayed = async () => {
      const [row] = await sql`select pg_last_wal_replay_lsn() >= ${written}::text::pg_lsn as replayed`
      return row?.["replayed"]
    }
    await expect.poll(isReplayed, { timeout: 20_000 }).toBe(true)
    await sql`checkpoint`
  })
}

/** Removes rows of the catalogue from the primary once none of the slots that it knows needs them. */
async function removeFromCatalogue() {
  await replicas.on(replicas.primary, async (sql) => {
    await sql`create table passing (n int)`
    const xid = await sql.begin(async (transaction) => {
      await transaction`drop table passing`
      const [row] = await transaction`select pg_current_xact_id()::xid::text as xid`
      return Number(row?.["xid"])
    })
    const isNeeded = async () => {
      // Transactions go on, and the slots learn of it.
      await sql`select pg_logical_emit_message(true, 'test', 'passing'), pg_log_standby_snapshot()`
      const [row] = await sql`
        select min(catalog_xmin::text::bigint) <= ${xid} as needed from pg_replication_slots`
      return row?.["needed"]
    }
    await expect.poll(isNeeded, { timeout: 60_000, interval: 200 }).toBe(false)
    await sql`vacuum pg_catalog.pg_class, pg_catalog.pg_attribute, pg_catalog.pg_type`
  })
}

type Node = Replicas["nodes"][number]
