import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest"
import { openPostgres } from "#live/check"
import type { ReplicaNode } from "#db/embedded/replica-node.ts"
import { inAll } from "../support/all.ts"
import type { Followed, ReferenceClient } from "./support/client.ts"
import { killStreams } from "./support/cluster.ts"
import { amount, LONG, seeded } from "./support/form.ts"
import { expectEqual, storedMessages } from "./support/oracle.ts"
import { expectEqualAtRest, followAny, startWriters, type Chance } from "./support/random-load.ts"
import { insert, startReplicas, type Replicas } from "./support/replicas.ts"

let replicas: Replicas

beforeAll(async () => {
  replicas = await startReplicas()
}, 120_000)
afterAll(() => replicas.stop())
beforeEach(() => replicas.on(replicas.primary, (sql) => sql`delete from messages`))

/** Writes to whichever server is the primary. */
function openWriting(max: number) {
  const sql = openPostgres(replicas.databaseUrl, { max, onnotice: () => {}, connect_timeout: 5 })
  onTestFinished(() => sql.end({ timeout: 1 }))
  return sql
}

const LIMITS = {
  anchorMs: 200,
  windowMs: 5000,
  transactionChanges: 500,
  messagesPerSecond: 10_000,
  maxRows: 100_000,
}

const begin = (followed: readonly ReplicaNode[]) => replicas.engine(followed, {}, LIMITS)

/** Harms a standby, and returns what heals it. */
async function harm(node: ReplicaNode, chance: Chance): Promise<() => Promise<void>> {
  const kind = chance.below(5)
  if (kind === 0) {
    await node.kill()
    return () => node.start()
  }
  if (kind === 1) {
    node.pause()
    return async () => node.resume()
  }
  if (kind === 2) {
    await node.pauseReplay()
    return () => node.resumeReplay()
  }
  if (kind === 3) {
    await node.delayReplay(30_000)
    return () => node.delayReplay(0)
  }
  await replicas.on(
    node,
    (sql) =>
      sql`select pg_drop_replication_slot(slot_name) from pg_replication_slots where not temporary and not active`,
  )
  return async () => {}
}

describe("the snapshot and the stream of a standby together", () => {
  it(
    "equal the table, however often clients subscribe beside four writers",
    async () => {
      const chance = seeded("subscribing at standbys")
      const sql = openWriting(6)
      const client = await replicas.client(await begin(replicas.standbys))
      client.keepEvents = false
      const stop = startWriters(sql, chance, 4)
      const lists: Followed[] = []
      for (let round = 0; round < amount(30, 2000); round++) {
        if (round % 5 === 4) await sql`delete from messages where _id in (select _id from messages limit 450)`
        lists.push(...(await Promise.all([followAny(client, chance), followAny(client, chance)])))
        while (lists.length > 40) {
          const [oldest] = lists.splice(chance.below(lists.length), 1)
          if (oldest) client.unfollow(oldest)
        }
      }
      await stop()
      await expectEqual(sql, client, lists)
    },
    amount(120_000, 900_000),
  )

  inAll(
    "equal the table through random faults, also of the standbys",
    async () => {
      const chance = seeded("random faults of standbys")
      const sql = openWriting(6)
      const engine = await begin(replicas.standbys)
      const clients: ReferenceClient[] = []
      for (const name of ["ada", "bob"]) {
        const client = await replicas.client(engine, name)
        client.keepEvents = false
        await Promise.all([followAny(client, chance), followAny(client, chance)])
        clients.push(client)
      }
      for (let round = 0; round < amount(3, 60); round++) {
        if (round % 5 === 4) await sql`delete from messages where random() < 0.8`
        const stop = startWriters(sql, chance, 3)
        const victim = replicas.standbys[chance.below(2)]!
        const heal = await harm(victim, chance)
        for (let fault = 0; fault < 4; fault++) {
          const client = clients[chance.below(clients.length)]!
          const kind = chance.below(5)
          if (kind === 0) {
            for (const node of replicas.standbys)
              if (node.isRunning && !node.isPaused) await replicas.on(node, killStreams)
          } else if (kind === 1) {
            client.close()
            await sleep(chance.below(100))
            await client.resume()
          } else if (kind === 2) client.tamper = (event) => (chance.chance(0.1) ? [] : [event])
          else if (kind === 3) await sql`truncate messages`
          else void followAny(client, chance).catch(() => {})
          await sleep(chance.below(400))
        }
        await heal()
        await victim.whenStreaming()
        await stop()
        for (const client of clients) {
          await expectEqualAtRest(sql, client)
          for (const list of [...client.followed.values()].slice(6)) client.unfollow(list)
        }
      }
      expect(clients.flatMap(({ violations }) => violations)).toEqual([])
    },
    amount(180_000, 1_800_000),
  )

  it(
    "lose and repeat no row when primary and standby are swapped again and again",
    async () => {
      const chance = seeded("swapping")
      const sql = openWriting(2)
      const clients: ReferenceClient[] = []
      const lists: Followed[] = []
      for (const followed of [replicas.nodes, replicas.nodes.toReversed()]) {
        const client = await replicas.client(await begin(followed))
        client.keepEvents = false
        clients.push(client)
        lists.push(await client.follow("messages.inThread", { threadId: "t" }))
      }
      const acknowledged: string[] = []
      const stopping = new AbortController()
      const writing = (async () => {
        for (let n = 0; !stopping.signal.aborted; n++) {
          const id = `row ${String(n).padStart(8, "0")}`
          // One that fails may have been committed.
          await sql`insert into messages (_id, thread_id, owner) values (${id}, 't', 'ada')`.then(
            () => acknowledged.push(id),
            () => sleep(5),
          )
          await sleep(2)
        }
      })()
      onTestFinished(() => stopping.abort())
      for (let swap = 0; swap < amount(3, 10); swap++) {
        const written = acknowledged.length
        const old = replicas.primary
        // A primary that stops waits until those have everything that stream from it.
        for (const standby of replicas.standbys) await standby.whenStreaming()
        await old.stop()
        await replicas.failOver(replicas.standbys[chance.below(2)]!)
        await replicas.rejoin(old)
        await expect.poll(() => acknowledged.length, { timeout: 30_000 }).toBeGreaterThan(written + 20)
      }
      stopping.abort()
      await writing
      const stored = await replicas.on(replicas.primary, (primary) => storedMessages(primary, "t"))
      const ids = new Set(stored.map((row) => String(row["_id"])))
      expect(acknowledged.filter((id) => !ids.has(id))).toEqual([])
      for (const [at, client] of clients.entries()) {
        const list = lists[at]!
        expect(client.resetReasons).toEqual([])
        await client.until(() => list.rows.size === stored.length, `${stored.length} rows`, 30_000)
        expect(client.rowsOf(list)).toEqual(stored)
        expect(client.violations).toEqual([])
        expect(client.seen).toMatchObject({ rows: 1, resets: 0 })
      }
    },
    amount(180_000, 600_000),
  )

  it.runIf(LONG).each([
    ["hangs", async (node: ReplicaNode) => node.pause(), async (node: ReplicaNode) => node.resume()],
    [
      "lags 30 s behind",
      (node: ReplicaNode) => node.delayReplay(30_000),
      (node: ReplicaNode) => node.delayReplay(0),
    ],
  ])(
    "equal the table while a standby %s for a minute, and when it is the only one left after that",
    async (_, harmOwn, heal) => {
      const client = await replicas.client(await begin(replicas.standbys))
      const [own, other] = await replicas.findSource()
      client.keepEvents = false
      const list = await client.follow("messages.inThread", { threadId: "t" })
      const stopping = new AbortController()
      onTestFinished(() => stopping.abort())
      let written = 0
      const writing = (async () => {
        for (; !stopping.signal.aborted; await sleep(20)) await insert(replicas, ++written, written)
      })()
      await harmOwn(own)
      await sleep(60_000)
      await client.until(() => list.rows.size > written - 50, "the rows of the minute", 10_000)
      await heal(own)
      await own.whenStreaming()
      other.pause()
      onTestFinished(async () => other.resume())
      await expect.poll(() => replicas.readersOf(own), { timeout: 60_000 }).toHaveLength(1)
      stopping.abort()
      await writing
      const stored = await replicas.on(replicas.primary, (sql) => storedMessages(sql, "t"))
      await client.until(() => list.rows.size === stored.length, `${stored.length} rows`, 30_000)
      expect(client.rowsOf(list)).toEqual(stored)
      expect(client.violations).toEqual([])
      expect(client.seen).toMatchObject({ rows: 1, resets: 0 })
    },
    300_000,
  )
})
