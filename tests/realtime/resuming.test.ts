import { describe, expect, it, onTestFinished, vi } from "vitest"
import { amount } from "./support/form.ts"
import type { ReferenceClient } from "./support/client.ts"
import { expectEqual } from "./support/oracle.ts"
import { startEngine } from "./support/engine.ts"
import { startProxy } from "./support/proxy.ts"
import { engineSuite } from "./support/suite.ts"

// Some of these send more requests in a second than the rate limit allows a person.
const suite = engineSuite({ messagesPerSecond: 10_000 })

async function insert(from: number, to: number, threadId = "t") {
  await suite.sql`insert into messages (_id, thread_id, owner, body)
    select lpad(n::text, 6, '0'), ${threadId}, 'ada', 'text' from generate_series(${from}::int, ${to}::int) n`
}

describe("a client that reconnects", () => {
  it("receives only what has changed since, and shows what the table contains", async () => {
    await insert(1, 100)
    const client = await suite.connect()
    const list = await client.follow("messages.inThread", { threadId: "t" })
    client.close()
    await insert(101, 103)
    await suite.sql`delete from messages where _id = '000001'`
    await suite.sql`insert into messages (_id, thread_id, owner) values ('brief', 't', 'ada')`
    await suite.sql`delete from messages where _id = 'brief'`
    await client.resume()
    expect(client.seen).toMatchObject({ rows: 1, changes: 1 })
    await expectEqual(suite.sql, client, [list])
    expect(client.seen.changedRows).toBeLessThanOrEqual(5)
  })

  it("resumes at another process, even at one that was started since", async () => {
    const client = await suite.connect()
    const list = await client.follow("messages.inThread", { threadId: "t" })
    await insert(1, 3)
    client.close()
    await insert(4, 6)
    const second = await startEngine(suite.databaseUrl)
    await client.resume(second.url)
    expect(client.seen).toMatchObject({ rows: 1, changes: 1 })
    await expectEqual(suite.sql, client, [list])
    client.close()
    await second.close()
  })

  it("receives all rows if it was away for too long", async () => {
    const engine = await startEngine(suite.databaseUrl, { name: "brief", windowMs: 100 })
    const client = await suite.connect("ada", engine.url)
    const list = await client.follow("messages.inThread", { threadId: "t" })
    client.close()
    await insert(1, 3)
    await expect.poll(() => engine.realtime.metrics()).toMatchObject({ changes: 3, ring_transactions: 0 })
    await client.resume()
    expect(client.seen).toMatchObject({ rows: 2, changes: 0 })
    await expectEqual(suite.sql, client, [list])
    client.close()
    await engine.close()
  })

  it("is checked for access again", async () => {
    await suite.sql`insert into threads (_id, owner) values ('t', 'ada')`
    const client = await suite.connect()
    const list = await client.follow("messages.inOwnThread", { threadId: "t" })
    client.close()
    await suite.sql`update threads set owner = 'eve'`
    await suite.sql`insert into messages (_id, thread_id, owner, body) values ('m', 't', 'ada', 'hidden')`
    await client.resume()
    expect(list.refusal).toMatchObject({ code: "not_found" })
    expect(JSON.stringify(client.events)).not.toContain("hidden")
  })

  it("resumes from a page's pinned end", async () => {
    await suite.sql`insert into messages (_id, thread_id, owner, _creation_time)
      select lpad(n::text, 2, '0'), 't', 'ada', n from generate_series(1, 25) n`
    const client = await suite.connect()
    const first = await client.follow("messages.newest", { threadId: "t" })
    client.close()
    await suite.sql`insert into messages (_id, thread_id, owner, _creation_time) values ('26', 't', 'ada', 26), ('00', 't', 'ada', 0)`
    await client.resume()
    await client.until(() => first.rows.has("26"), "the new row")
    expect(client.seen).toMatchObject({ rows: 1, changes: 1 })
    expect([...first.rows.keys()].toSorted()[0]).toBe("16")
    expect(first.rows.size).toBe(11)
  })
})

describe("a page that is read again", () => {
  it("ends where it ends now, and is followed up to there", async () => {
    await suite.sql`insert into messages (_id, thread_id, owner, _creation_time)
      select lpad(n::text, 2, '0'), 't', 'ada', n from generate_series(1, 25) n`
    const engine = await startEngine(suite.databaseUrl, { name: "page", windowMs: 100 })
    onTestFinished(() => engine.close())
    const client = await suite.connect("ada", engine.url)
    const page = await client.follow("messages.newest", { threadId: "t" })
    client.close()
    await suite.sql`delete from messages where _creation_time between 4 and 20`
    await expect.poll(() => engine.realtime.metrics()).toMatchObject({ changes: 17, ring_transactions: 0 })
    await client.resume()
    expect([...page.rows.keys()].toSorted()).toEqual(["01", "02", "03", "21", "22", "23", "24", "25"])
    expect(page.end).toBeNull()
    await suite.sql`update messages set body = 'changed' where _id = '01'`
    await client.until(() => page.rows.get("01")?.["body"] === "changed", "a change past the old end")
    client.close()
    await client.resume()
    expect(client.seen).toMatchObject({ rows: 2, changes: 1 })
    client.close()
  })
})

describe("a subscription's id", () => {
  it("that is closed and immediately reused refers to its last use", async () => {
    await insert(1, 3, "old")
    await insert(4, 5, "new")
    const client = await suite.connect()
    const ask = (threadId: string) =>
      client.ask("subscribe", {
        subscriptions: [{ id: 77, query: "messages.inThread", args: { threadId } }],
      })
    const first = ask("old")
    client.emit("unsubscribe", { ids: [77] })
    const second = ask("new")
    expect(await first).toEqual({ accepted: [], refused: [] })
    expect(await second).toEqual({ accepted: [77], refused: [] })
    const snapshot = () => client.events.filter(({ event }) => event === "snapshot")
    await client.until(() => snapshot().length > 0, "the snapshot")
    expect(snapshot()).toMatchObject([
      { subscriptions: [{ id: 77, rows: [{ _id: "000004" }, { _id: "000005" }] }] },
    ])
  })
})

describe("a connection that breaks", () => {
  it.each([
    ["lost", (): number[] => []],
    ["repeated", (n: number): number[] => [n, n]],
  ])("after one event was %s is closed, and nothing is applied wrongly", async (_name, copies) => {
    const client = await suite.connect()
    const list = await client.follow("messages.inThread", { threadId: "t" })
    let commits = 0
    client.tamper = (event) => {
      if (event.event !== "commit") return [event]
      commits += 1
      return commits === 5 ? copies(1).map(() => event) : [event]
    }
    for (let n = 1; n <= 10; n++) await insert(n, n)
    await client.until(() => client.broken || commits >= 10, "the break")
    client.tamper = (event) => [event]
    await client.resume()
    await expectEqual(suite.sql, client, [list])
    expect(client.seen.rows).toBe(1)
  })

  it("after two events were swapped is closed", async () => {
    const client = await suite.connect()
    const list = await client.follow("messages.inThread", { threadId: "t" })
    let kept: Parameters<typeof client.tamper>[0] | null = null
    client.tamper = (event) => {
      if (event.event !== "commit") return [event]
      if (!kept) {
        kept = event
        return []
      }
      return [event, kept]
    }
    await insert(1, 1)
    await insert(2, 2)
    await client.until(() => client.broken, "the break")
    client.tamper = (event) => [event]
    await client.resume()
    await expectEqual(suite.sql, client, [list])
  })

  it("silently (a pulled cable) loses nothing: the client resumes on a new one", async () => {
    const proxy = await startProxy(suite.engine.port)
    const client = await suite.connect("ada", proxy.url)
    const list = await client.follow("messages.inThread", { threadId: "t" })
    await insert(1, 5)
    await client.until(() => list.rows.size === 5, "the first rows")
    proxy.stall()
    await insert(6, 50)
    await suite.sql`update messages set body = 'changed' where _id = '000001'`
    await client.resume(suite.engine.url)
    await expectEqual(suite.sql, client, [list])
    expect(client.seen.rows).toBe(1)
    proxy.close()
  })
})

describe("a slow client", () => {
  it(
    "receives merged commits in bounded memory, ends equal to the table, and does not slow others down",
    async () => {
      const slow = await suite.connect()
      slow.acknowledging = false
      const behind = await slow.follow("messages.inThread", { threadId: "t" })
      const quick = await suite.connect("bob")
      const list = await quick.follow("messages.inThread", { threadId: "t" })
      await insert(1, 50)
      const writes = amount(600, 20_000)
      for (let n = 0; n < writes; n++) {
        await suite.sql`update messages set body = ${`text ${n}`} where _id = ${String(1 + (n % 50)).padStart(6, "0")}`
      }
      await expectEqual(suite.sql, quick, [list])
      expect(slow.seen.commits).toBeLessThanOrEqual(257)
      slow.acknowledging = true
      await expectEqual(suite.sql, slow, [behind])
      expect(slow.seen.commits).toBeLessThan(writes)
      expect(slow.seen.resets).toBe(0)
    },
    amount(30_000, 300_000),
  )

  it(
    "that reads slower than the writes needs no more than what is in flight, and each row once",
    async () => {
      const proxy = await startProxy(suite.engine.port)
      onTestFinished(() => proxy.close())
      const slow = await suite.connect("ada", proxy.url)
      const behind = await slow.follow("messages.inThread", { threadId: "t" })
      const quick = await suite.connect("bob")
      const list = await quick.follow("messages.inThread", { threadId: "t" })
      await insert(1, 10)
      proxy.slow(100_000)
      let most = 0
      const text = "x".repeat(50_000)
      for (let n = 0; n < amount(400, 4000); n++) {
        await suite.sql`update messages set body = ${`${n} ${text}`} where _id = ${String(1 + (n % 10)).padStart(6, "0")}`
        most = Math.max(most, Number(suite.engine.realtime.metrics()["outbox_bytes"]))
      }
      await expectEqual(suite.sql, quick, [list])
      expect(most).toBeGreaterThan(512 * 1024)
      // For each of the two: what is in flight, one more commit, and every row once.
      expect(most).toBeLessThan(4 * 1024 * 1024)
      expect(slow.seen.commits).toBeLessThan(quick.seen.commits)
      proxy.slow(Number.POSITIVE_INFINITY)
      await expectEqual(suite.sql, slow, [behind])
      expect(slow.seen.resets).toBe(0)
    },
    amount(30_000, 300_000),
  )

  it("with too much queued is reset, and reads again when it can", async () => {
    const slow = await suite.connect()
    slow.acknowledging = false
    const behind = await slow.follow("messages.inThread", { threadId: "t" })
    const body = "x".repeat(100_000)
    for (let n = 0; n < 80; n++) {
      await suite.sql`insert into messages (_id, thread_id, owner, body) values (${String(n)}, 't', 'ada', ${body})`
    }
    await expect.poll(() => suite.engine.realtime.metrics()["resets_slow"]).toBe(1)
    slow.acknowledging = true
    await slow.until(() => behind.state === "reset", "the reset")
    await slow.renew()
    await expectEqual(suite.sql, slow, [behind])
  })

  it("that is reset still removes the rows to which it lost access in the meantime", async () => {
    await suite.sql`insert into threads (_id, owner) values ('mine', 'ada')`
    await insert(1, 3, "mine")
    const slow = await suite.connect()
    const own = await slow.follow("messages.inOwnThread", { threadId: "mine" })
    const behind = await slow.follow("messages.inThread", { threadId: "t" })
    slow.acknowledging = false
    const body = "x".repeat(100_000)
    const flood = async (from: number, to: number) => {
      for (let n = from; n < to; n++) {
        await suite.sql`insert into messages (_id, thread_id, owner, body) values (${`large ${n}`}, 't', 'ada', ${body})`
      }
    }
    const resets = Number(suite.engine.realtime.metrics()["resets_slow"] ?? 0)
    await flood(0, 10)
    await suite.sql`update threads set owner = 'bob' where _id = 'mine'`
    await flood(10, 80)
    await expect.poll(() => suite.engine.realtime.metrics()["resets_slow"]).toBe(resets + 1)
    slow.acknowledging = true
    await slow.until(() => behind.state === "reset", "the reset")
    expect(own).toMatchObject({ state: "revoked" })
    expect(own.rows.size).toBe(0)
  })
})

describe("a rendered page", () => {
  it("becomes live from its own rows: after half a minute of writes only those are sent, and nothing is read", async () => {
    await insert(1, 100)
    const [loaded] = await suite.engine.realtime.snapshotOf(
      [{ query: "messages.inThread", args: { threadId: "t" } }],
      { id: "ada" },
    )
    expect(loaded?.rows).toHaveLength(100)
    for (let n = 101; n <= amount(110, 1000); n++) await insert(n, n)
    await suite.sql`delete from messages where _id = '000050'`
    const before = suite.engine.realtime.metrics()["snapshots"]
    const client = await suite.connect()
    const list = await client.adopt(loaded?.query ?? "", loaded?.args, loaded?.rows ?? [], {
      token: loaded?.have?.token ?? "",
    })
    expect(client.seen).toMatchObject({ rows: 0, changes: 1 })
    expect(suite.engine.realtime.metrics()["snapshots"]).toBe(before)
    await expectEqual(suite.sql, client, [list])
  })

  it("has the rows of one moment in all its parts, with one database query", async () => {
    await insert(1, 3)
    await suite.sql`insert into threads (_id, owner) values ('t', 'ada')`
    const before = Number(suite.engine.realtime.metrics()["snapshots"])
    const parts = await Promise.all(
      ["messages.inThread", "messages.inOwnThread", "messages.inThread"].map((query) =>
        suite.engine.realtime.snapshotOf([{ query, args: { threadId: "t" } }], { id: "ada" }),
      ),
    )
    expect(parts.map(([loaded]) => loaded?.rows.length)).toEqual([3, 3, 3])
    expect(new Set(parts.map(([loaded]) => loaded?.have?.position.lsn)).size).toBe(1)
    expect(suite.engine.realtime.metrics()["snapshots"]).toBe(before + 1)
  })

  it("whose access to one part is refused keeps its other parts, and others are not affected", async () => {
    await insert(1, 3)
    await suite.sql`insert into threads (_id, owner) values ('t', 'ada')`
    const ask = (id: string, ...queries: string[]) =>
      suite.engine.realtime.snapshotOf(
        queries.map((query) => ({ query, args: { threadId: "t" } })),
        { id },
      )
    const outcomes = await Promise.allSettled([
      ask("ada", "messages.inOwnThread"),
      ask("eve", "messages.inThread", "messages.inOwnThread"),
      ask("eve", "messages.inThread"),
      ask("ada", "messages.nowhere"),
    ])
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled", "rejected"])
  })

  it("keeps its other parts if one cannot be read", async () => {
    await insert(1, 3)
    await insert(10, 2100, "long")
    const [short, long] = await Promise.allSettled(
      ["t", "long"].map((threadId) =>
        suite.engine.realtime.snapshotOf([{ query: "messages.inThread", args: { threadId } }], { id: "ada" }),
      ),
    )
    expect(short).toMatchObject({ status: "fulfilled", value: [{ rows: { length: 3 } }] })
    expect(long).toMatchObject({
      status: "rejected",
      reason: { message: expect.stringContaining("2000 rows") },
    })
  })

  it("loses nothing if commits race with rendering and hydration", async () => {
    const stop = new AbortController()
    const writers = Promise.all(
      Array.from({ length: 4 }, async (_, writer) => {
        for (let n = 0; !stop.signal.aborted; n++) {
          const id = `${writer}-${n % 100}`
          await suite.sql`insert into messages (_id, thread_id, owner, body) values (${id}, 't', 'ada', '')
            on conflict (_id) do update set body = ${String(n)}`
          if (n % 3 === 0) await suite.sql`delete from messages where _id = ${`${writer}-${(n - 5) % 100}`}`
        }
      }),
    )
    onTestFinished(async () => {
      stop.abort()
      await writers
    })
    const client = await suite.connect()
    const lists = []
    for (let round = 0; round < amount(30, 300); round++) {
      const [loaded] = await suite.engine.realtime.snapshotOf(
        [{ query: "messages.inThread", args: { threadId: "t" } }],
        { id: "ada" },
      )
      if (!loaded?.have) throw new Error("The page has no token.")
      lists.push(await client.adopt(loaded.query, loaded.args, loaded.rows, { token: loaded.have.token }))
      if (lists.length > 20) client.unfollow(lists.shift() ?? lists[0]!)
    }
    stop.abort()
    await writers
    await expectEqual(suite.sql, client, lists)
    expect(client.seen.rows).toBe(0)
  })
})

describe("many clients at once", () => {
  it(
    "are all live again soon, without many connections to the database",
    async () => {
      await insert(1, 20)
      const count = amount(150, 5000)
      const clients: ReferenceClient[] = []
      while (clients.length < count) {
        const wave = Array.from({ length: Math.min(250, count - clients.length) }, async (_, index) => {
          const n = clients.length + index
          const client = await suite.connect(`user${n % 200}`)
          await client.follow("messages.inThread", { threadId: n % 2 === 0 ? "t" : `t${n}` })
          return client
        })
        clients.push(...(await Promise.all(wave)))
      }
      for (const client of clients) client.close()
      await insert(21, 22)
      const [before] =
        await suite.sql`select count(*)::int as n from pg_stat_activity where application_name = 'realtime'`
      await Promise.all(clients.map(comeBack))
      const [after] =
        await suite.sql`select count(*)::int as n from pg_stat_activity where application_name = 'realtime'`
      expect(Number(after?.["n"])).toBeLessThanOrEqual(Math.max(8, Number(before?.["n"])))
      for (const client of clients) {
        expect(client.seen).toMatchObject({ rows: 1, changes: 1 })
        const [list] = client.followed.values()
        const size = JSON.stringify(list?.args).includes('"t"') ? 22 : 0
        await client.until(() => list?.rows.size === size, "all rows")
      }
    },
    amount(30_000, 300_000),
  )
})

/**
 * Repeats until it succeeds: this machine runs both server and clients, and a handshake must finish
 * within ten seconds.
 */
async function comeBack(client: ReferenceClient): Promise<void> {
  try {
    await client.resume()
  } catch {
    await comeBack(client)
  }
}

describe("a clock that jumps", () => {
  it.each([3_600_000, -3_600_000])("by %i ms changes nothing", async (jump) => {
    const client = await suite.connect(`ada@${Date.now() + 100 * 3_600_000}`)
    const list = await client.follow("messages.inThread", { threadId: "t" })
    const now = Date.now
    const clock = vi.spyOn(Date, "now").mockImplementation(() => now() + jump)
    try {
      for (let n = 1; n <= 20; n++) await insert(n, n)
      client.close()
      await insert(21, 25)
      await client.resume()
      await expectEqual(suite.sql, client, [list])
      expect(client.seen).toMatchObject({ rows: 1, changes: 1, resets: 0 })
    } finally {
      clock.mockRestore()
    }
  })
})
