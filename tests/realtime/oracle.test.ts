import { setTimeout as sleep } from "node:timers/promises"
import { describe, expect, it } from "vitest"
import type { Followed } from "./support/client.ts"
import { killStreams } from "./support/cluster.ts"
import { amount, seeded } from "./support/form.ts"
import { expectEqual } from "./support/oracle.ts"
import { expectEqualAtRest, followAny, startWriters } from "./support/random-load.ts"
import { engineSuite } from "./support/suite.ts"

const suite = engineSuite({
  anchorMs: 200,
  windowMs: 5000,
  transactionChanges: 500,
  messagesPerSecond: 10_000,
  maxRows: 100_000,
})

describe("the snapshot and the stream together", () => {
  it(
    "equal the table, however often clients subscribe beside eight writers",
    async () => {
      const chance = seeded("subscribing beside writers")
      const stop = startWriters(suite.sql, chance, 8)
      const client = await suite.connect()
      client.keepEvents = false
      const lists: Followed[] = []
      for (let round = 0; round < amount(150, 5000); round++) {
        // A subscription costs what its list holds, and the writers add more than they take away: the
        // more, the longer a round takes. Few enough for one transaction that is sent row by row.
        await suite.sql`delete from messages where _id in (select _id from messages offset 500 limit 450)`
        // Several at once, which share a snapshot.
        lists.push(...(await Promise.all([followAny(client, chance), followAny(client, chance)])))
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
        await Promise.all([followAny(client, chance), followAny(client, chance)])
      }
      for (let round = 0; round < amount(4, 100); round++) {
        if (round % 5 === 4) await suite.sql`delete from messages where random() < 0.8`
        const stop = startWriters(suite.sql, chance, 4)
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
          } else await followAny(client, chance)
          await sleep(chance.below(100))
        }
        await stop()
        for (const client of clients) {
          await expectEqualAtRest(suite.sql, client)
          for (const list of [...client.followed.values()].slice(6)) client.unfollow(list)
        }
      }
      expect(clients.flatMap(({ violations }) => violations)).toEqual([])
    },
    amount(60_000, 900_000),
  )
})
