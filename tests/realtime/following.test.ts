import { describe, expect, it } from "vitest"
import { engineSuite } from "./support/suite.ts"

const suite = engineSuite()

describe("a subscription", () => {
  it("starts with the rows and receives every commit", async () => {
    const { sql } = suite
    await sql`insert into messages (_id, thread_id, owner, body) values ('1', 't', 'ada', 'one')`
    const client = await suite.connect()
    const list = await client.follow("messages.inThread", { threadId: "t" })
    expect(list.refusal).toBeNull()
    expect(client.rowsOf(list)).toEqual([
      { _id: "1", threadId: "t", owner: "ada", body: "one", note: "", _creationTime: 0 },
    ])
    await sql`insert into messages (_id, thread_id, owner, body) values ('2', 't', 'ada', 'two')`
    await client.until(() => list.rows.size === 2, "the second message")
    await sql`update messages set body = 'deux' where _id = '2'`
    await client.until(() => list.rows.get("2")?.["body"] === "deux", "the new text")
    await sql`delete from messages where _id = '1'`
    await client.until(() => list.rows.size === 1, "the deletion")
  })

  it("sees a transaction as a whole: a row that moves leaves one range and enters the other in one event", async () => {
    const { sql } = suite
    await sql`insert into messages (_id, thread_id, owner) values ('1', 'a', 'ada')`
    const client = await suite.connect()
    const a = await client.follow("messages.inThread", { threadId: "a" })
    const b = await client.follow("messages.inThread", { threadId: "b" })
    const before = client.seen.commits
    await sql.begin(async (transaction) => {
      await transaction`update messages set thread_id = 'b' where _id = '1'`
      await transaction`insert into messages (_id, thread_id, owner) values ('2', 'a', 'ada')`
    })
    await client.until(() => b.rows.has("1"), "the move")
    expect([...a.rows.keys()]).toEqual(["2"])
    expect(client.seen.commits).toBe(before + 1)
  })

  it("receives nothing of other ranges", async () => {
    const { sql } = suite
    const client = await suite.connect()
    const list = await client.follow("messages.inThread", { threadId: "mine" })
    await sql`insert into messages (_id, thread_id, owner) values ('1', 'other', 'ada')`
    await sql`insert into messages (_id, thread_id, owner) values ('2', 'mine', 'ada')`
    await client.until(() => list.rows.size === 1, "its own row")
    expect(client.events.filter(({ event }) => event === "commit")).toHaveLength(1)
  })

  it("is paged: a full page is pinned at its end, and the next starts there", async () => {
    const { sql } = suite
    await sql`insert into messages (_id, thread_id, owner, _creation_time)
      select lpad(n::text, 2, '0'), 't', 'ada', n from generate_series(1, 25) n`
    const client = await suite.connect()
    const first = await client.follow("messages.newest", { threadId: "t" })
    expect([...first.rows.keys()][0]).toBe("25")
    expect(first.rows.size).toBe(10)
    expect(first.end).not.toBeNull()
    const second = await client.follow("messages.newest", { threadId: "t", after: first.end })
    expect([...second.rows.keys()]).toEqual(["15", "14", "13", "12", "11", "10", "09", "08", "07", "06"])
    const third = await client.follow("messages.newest", { threadId: "t", after: second.end })
    expect(third.end).toBeNull()
    await sql`insert into messages (_id, thread_id, owner, _creation_time) values ('26', 't', 'ada', 26)`
    await sql`delete from messages where _id = '20'`
    await sql`update messages set _creation_time = 3 where _id = '12'`
    await client.until(() => third.rows.has("12"), "the row that moved to the last page")
    expect(first.rows.size).toBe(10)
    expect(first.rows.has("26")).toBe(true)
    expect(second.rows.has("12")).toBe(false)
  })

  it("never shows a large value as absent, whether updated or arriving from another range", async () => {
    const { sql } = suite
    const body = "x".repeat(1_000_000)
    await sql`insert into messages (_id, thread_id, owner, body) values ('1', 'a', 'ada', ${body})`
    const client = await suite.connect()
    const a = await client.follow("messages.inThread", { threadId: "a" })
    const b = await client.follow("messages.inThread", { threadId: "b" })
    const sizes = await client.follow("messages.lengths", { threadId: "a" })
    await sql`update messages set note = 'read' where _id = '1'`
    await client.until(() => a.rows.get("1")?.["note"] === "read", "the note")
    expect(a.rows.get("1")?.["body"]).toHaveLength(1_000_000)
    await client.until(() => sizes.rows.get("1")?.["note"] === "read", "the projection")
    expect(sizes.rows.get("1")).toEqual({ _id: "1", length: 1_000_000, note: "read" })
    await sql`update messages set thread_id = 'b' where _id = '1'`
    await client.until(() => b.rows.has("1"), "the move")
    expect(b.rows.get("1")?.["body"]).toHaveLength(1_000_000)
    expect(a.rows.size).toBe(0)
  })

  it("starts over after a truncate, with what the same transaction wrote", async () => {
    const { sql } = suite
    await sql`insert into messages (_id, thread_id, owner) values ('1', 't', 'ada')`
    const client = await suite.connect()
    const list = await client.follow("messages.inThread", { threadId: "t" })
    await sql.begin(async (transaction) => {
      await transaction`insert into messages (_id, thread_id, owner) values ('2', 't', 'ada')`
      await transaction`truncate messages`
      await transaction`insert into messages (_id, thread_id, owner) values ('3', 't', 'ada')`
    })
    await client.until(() => list.state === "reset", "the reset")
    await client.renew()
    expect([...list.rows.keys()]).toEqual(["3"])
  })

  it("shows nothing that was rolled back", async () => {
    const { sql } = suite
    const client = await suite.connect()
    const list = await client.follow("messages.inThread", { threadId: "t" })
    await sql.begin(async (transaction) => {
      await transaction`insert into messages (_id, thread_id, owner) values ('1', 't', 'ada')`
      await transaction
        .savepoint(async (inner) => {
          await inner`insert into messages (_id, thread_id, owner) values ('undone', 't', 'ada')`
          throw new Error("undo")
        })
        .catch(() => {})
      await transaction`insert into messages (_id, thread_id, owner) values ('2', 't', 'ada')`
    })
    await sql.begin(async (transaction) => {
      await transaction`insert into messages (_id, thread_id, owner) values ('lost', 't', 'ada')`
      await transaction.unsafe("rollback; begin")
    })
    await client.until(() => list.rows.size === 2, "both rows")
    expect([...list.rows.keys()]).toEqual(["1", "2"])
  })

  it("to rows that its declaration cannot read ends with a refusal, and no other is affected", async () => {
    const client = await suite.connect()
    const other = await client.follow("messages.inThread", { threadId: "t" })
    const list = await client.follow("messages.strict", { threadId: "t" })
    await suite.sql`insert into messages (_id, thread_id, owner) values ('1', 't', 'ada')`
    await suite.sql`update messages set note = 'nonsense'`
    await client.until(() => list.state === "reset", "the reset")
    await client.renew()
    expect(list.refusal).toMatchObject({ code: "internal" })
    await suite.sql`update messages set note = ''`
    await client.until(() => other.rows.get("1")?.["note"] === "", "the other subscription's row")
    list.state = "reset"
    await client.renew()
    expect([...list.rows.values()]).toEqual([{ _id: "1", body: null, note: "" }])
  })
})
