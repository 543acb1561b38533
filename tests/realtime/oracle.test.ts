import { setTimeout as sleep } from "node:timers/promises"
import { describe, expect, it, onTestFinished } from "vitest"
import type { Followed, ReferenceClient } from "./support/client.ts"
import { killStreams } from "./support/cluster.ts"
import { amount, seeded } from "./support/form.ts"
import { expectEqual } from "./support/oracle.ts"
import { engineSuite } from "./support/suite.ts"

const suite = engineSuite({
  anchorMs: 200,
  windowMs: 5000,
  transactionChanges: 500,
  messagesPerSecond: 10_000,
  maxRows: 100_000,
})
const THREADS = 5

type Chance = ReturnType<typeof seeded>

let serial = 0

/**
 * One random transaction: inserts, updates, moves and deletions, sometimes rolled back, sometimes
 * with a large value.
 */
async function write(chance: Chance, n: number): Promise<void> {
  const thread = () => `t${chance.below(THREADS)}`
  const steps = 1 + chance.below(4)
  await suite.sql
    .begin(async (sql) => {
      for (let step = 0; step < steps; step++) {
        const victim = sql`select _id from messages where thread_id = ${thread()} order by random() limit 1 for update skip locked`
        const kind = chance.below(100)
        if (kind < 45) {
          const body = chance.chance(0.02) ? "x".repeat(20_000) : `text ${n}`
          await sql`insert into messages (_id, thread_id, owner, body, _creation_time)
            values (${`row ${++serial}`}, ${thread()}, 'ada', ${body}, ${chance.below(100)})`
        } else if (kind < 65) await sql`update messages set note = ${`note ${n}`} where _id in (${victim})`
        else if (kind < 75) await sql`update messages set body = ${`other ${n}`} where _id in (${victim})`
        else if (kind < 85) await sql`update messages set thread_id = ${thread()} where _id in (${victim})`
        else await sql`delete from messages where _id in (${victim})`
      }
      if (chance.chance(0.1)) throw new Error("changed its mind")
    })
    .catch((error: unknown) => {
      if (!(error instanceof Error) || error.message !== "changed its mind") throw error
    })
}

function startWriters(chance: Chance, count: number) {
  const stop = new AbortController()
  const done = Promise.all(
    Array.from({ length: count }, async () => {
      for (let n = 0; !stop.signal.aborted; n++) await write(chance, n)
    }),
  )
  const finish = async () => {
    stop.abort()
    await done
  }
  onTestFinished(finish)
  return finish
}

function follow(client: ReferenceClient, chance: Chance): Promise<Followed> {
  return client.follow("messages.inThread", { threadId: `t${chance.below(THREADS)}` })
}

describe("the snapshot and the stream together", () => {
  it(
    "equal the table, however often clients subscribe beside eight writers",
    async () => {
      const chance = seeded("subscribing beside writers")
      const stop = startWriters(chance, 8)
      const client = await suite.connect()
      client.keepEvents = false
      const lists: Followed[] = []
      for (let round = 0; round < amount(150, 5000); round++) {
        // A subscription costs what its list holds, and the writers add more than they take away.
        // Few enough for one transaction that is sent row by row.
        if (round % 5 === 4)
          await suite.sql`delete from messages where _id in (select _id from messages limit 450)`
        // Several at once, which share a snapshot.
        lists.push(...(await Promise.all([follow(client, chance), follow(client, chance)])))
        while (lists.length > 60) {
          const [oldest] = lists.splice(chance.below(lists.length), 1)
          if (oldest) client.unfollow(oldest)
        }
      }
      await stop()
      await expectEqual(suite.sql, client, lists)
    },
    amount(60_000, 900_000),
  )

  it(
    "equal the table through random faults",
    async () => {
      const chance = seeded("random faults")
      const clients = await Promise.all(["ada", "bob", "eve"].map((name) => suite.connect(name)))
      for (const client of clients) {
        client.keepEvents = false
        await Promise.all([follow(client, chance), follow(client, chance)])
      }
      for (let round = 0; round < amount(4, 100); round++) {
        if (round % 5 === 4) await suite.sql`delete from messages where random() < 0.8`
        const stop = startWriters(chance, 4)
        for (let fault = 0; fault < 6; fault++) {
          const client = clients[chance.below(clients.length)]!
          const kind = chance.below(7)
          if (kind === 0) await killStreams(suite.sql)
          else if (kind === 1) {
            client.close()
            await sleep(chance.below(100))
            await client.resume()
          } else if (kind === 2) client.acknowledging = !client.acknowledging
          else if (kind === 3) client.tamper = (event) => (chance.chance(0.1) ? [] : [event])
          else if (kind === 4) await suite.sql`truncate messages`
          else if (kind === 5) {
            await suite.sql`insert into messages (_id, thread_id, owner)
            select ${`big ${round} ${fault} `} || n, 't0', 'ada' from generate_series(1, 600) n`
          } else await follow(client, chance)
          await sleep(chance.below(100))
        }
        await stop()
        for (const client of clients) {
          client.acknowledging = true
          client.tamper = (event) => [event]
          if (client.broken || !client.connected) await client.resume()
          // A gap is noticed at the next event.
          client.emit("acknowledge", { sequence: 0, awaiting: "0000000000000001" })
          for (let tries = 0; ; tries++) {
            if (tries > 100) throw new Error("The client does not come to rest.")
            try {
              await expectEqual(suite.sql, client, [])
              if ([...client.followed.values()].every(({ state }) => state === "live")) break
              await client.renew()
            } catch (error) {
              if (!client.broken || tries > 5) throw error
              await client.resume()
            }
          }
          await expectEqual(suite.sql, client, [...client.followed.values()])
          for (const list of [...client.followed.values()].slice(6)) client.unfollow(list)
        }
      }
      expect(clients.flatMap(({ violations }) => violations)).toEqual([])
    },
    amount(60_000, 900_000),
  )
})
