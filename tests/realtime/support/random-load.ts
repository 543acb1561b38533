import type postgres from "postgres"
import { onTestFinished } from "vitest"
import type { Followed, ReferenceClient } from "./client.ts"
import type { seeded } from "./form.ts"
import { expectEqual } from "./oracle.ts"

export type Chance = ReturnType<typeof seeded>

const THREADS = 5

let serial = 0

/**
 * One random transaction: inserts, updates, moves and deletions, sometimes rolled back, sometimes
 * with a large value.
 */
async function write(database: postgres.Sql, chance: Chance, n: number): Promise<void> {
  const thread = () => `t${chance.below(THREADS)}`
  const steps = 1 + chance.below(4)
  await database
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

/** Writes from so many connections at once, until it is told to stop or the test ends. */
export function startWriters(database: postgres.Sql, chance: Chance, count: number) {
  const stop = new AbortController()
  const done = Promise.all(
    Array.from({ length: count }, async () => {
      for (let n = 0; !stop.signal.aborted; n++) await write(database, chance, n)
    }),
  )
  const finish = async () => {
    stop.abort()
    await done
  }
  onTestFinished(finish)
  return finish
}

export function followAny(client: ReferenceClient, chance: Chance): Promise<Followed> {
  return client.follow("messages.inThread", { threadId: `t${chance.below(THREADS)}` })
}

/** After faults: has the client come to rest, as one that keeps its subscriptions does, and compares it. */
export async function expectEqualAtRest(database: postgres.Sql, client: ReferenceClient) {
  client.acknowledging = true
  client.tamper = (event) => [event]
  if (client.broken || !client.connected) await client.resume()
  // A gap is noticed at the next event.
  client.emit("acknowledge", { sequence: 0, awaiting: "0000000000000001" })
  for (let tries = 0; ; tries++) {
    if (tries > 100) throw new Error("The client does not come to rest.")
    try {
      await expectEqual(database, client, [])
      if ([...client.followed.values()].every(({ state }) => state === "live")) break
      await client.renew()
    } catch (error) {
      if (!client.broken || tries > 5) throw error
      await client.resume()
    }
  }
  await expectEqual(database, client, [...client.followed.values()])
}
