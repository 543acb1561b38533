import { describe, expect, it } from "vitest"
import * as v from "valibot"
import { editsOf, mergeEdits, type Edit } from "../../live/server/edits.ts"
import { openResumeToken, sealResumeToken } from "../../live/server/resume-token.ts"
import { defineLiveQuery, type LiveQuery } from "#live/open"
import { lsnFromSql, lsnFromWire, lsnToSql, lsnToWire } from "../../live/server/lsn.ts"
import { commitHeader, Outbox } from "../../live/server/outbox.ts"
import { compareRows, prepareRange } from "../../live/server/range.ts"
import { Ring } from "../../live/server/ring.ts"
import { createShapes, keyIn, valuesIn } from "../../live/server/shapes.ts"
import { watchTable, type RowChange, type Tuple } from "../../live/server/tables.ts"
import type { Transaction } from "../../live/server/transactions.ts"
import { readVisibility, sees, widenXid } from "../../live/server/visibility.ts"
import { inThread, messages } from "./support/tables.ts"

const table = watchTable(messages)
table.types.push("text", "text", "text", "text", "text", "bigint")
const shapes = createShapes(() => {})
const query = inThread as unknown as LiveQuery
const range = prepareRange(query, { eq: { threadId: "t" } }, table, shapes)

function row(id: string, threadId: string, body: string | undefined = "text"): Tuple {
  return [id, threadId, "ada", body, "", "0"]
}

function insert(id: string): RowChange {
  return { table, inserted: true, old: null, row: row(id, "t") }
}

function transaction(xid: bigint, end: bigint, changes: RowChange[] = []): Transaction {
  return {
    xid,
    start: end - 1n,
    end,
    at: 0,
    changes,
    truncated: new Set(),
    large: null,
    messages: [],
    bytes: 100,
  }
}

/** The edits of one change to a row, as the range sees them. */
const moment = (xid: bigint) => ({ xid, end: xid })

function at(change: Partial<RowChange>) {
  return editsOf(range, { table, inserted: false, old: null, row: null, ...change }, moment(7n))
}

function defineWithoutAuthorize() {
  return defineLiveQuery({
    name: "x",
    description: "For the tests of the engine.",
    args: v.strictObject({}),
    table: messages,
    range: () => ({ eq: { threadId: "t" } }),
    dependencies: () => [{ table: messages, eq: { _id: "1" } }],
  })
}

describe("a position in the log", () => {
  it("is the same in every notation, and compares as text on the wire", () => {
    for (const lsn of [0n, 1n, 0xffff_ffffn, 0x1_0000_0000n, 0x16_b374_d848n]) {
      expect(lsnFromSql(lsnToSql(lsn))).toBe(lsn)
      expect(lsnFromWire(lsnToWire(lsn))).toBe(lsn)
    }
    expect(lsnToSql(0x16_b374_d848n)).toBe("16/B374D848")
    expect(lsnToWire(0xffff_ffffn) < lsnToWire(0x1_0000_0000n)).toBe(true)
  })
})

describe("a range in the order of a text", () => {
  it("sorts by bytes in UTF-8, as the database does, not by UTF-16 units", () => {
    const byNote = prepareRange(
      query,
      { eq: { threadId: "t" }, order: { field: "body", direction: "asc" } },
      table,
      shapes,
    )
    const texts = ["a", "z", "ä", "\uFF5E", "\u{1F6A2}", "\u{1F6A2}b"]
    const sorted = texts
      .toReversed()
      .map((text) => row("1", "t", text))
      .toSorted((one, other) => compareRows(byNote, one, other))
    expect(sorted.map(([, , , body]) => body)).toEqual(texts)
  })
})

describe("a snapshot's view", () => {
  it("contains what had ended, and not what was running or came later", () => {
    const snapshot = readVisibility("100:110:103,107")
    expect([99n, 100n, 103n, 107n, 109n, 110n].map((xid) => sees(snapshot, { xid, end: 0n }))).toEqual([
      true,
      true,
      false,
      false,
      true,
      false,
    ])
    expect(sees(readVisibility("100:100:"), { xid: 99n, end: 0n })).toBe(true)
  })

  it("is correct across the wraparound of 32-bit transaction ids", () => {
    const after = 0x3_0000_0010n
    expect(widenXid(0x0000_0008, after)).toBe(0x3_0000_0008n)
    expect(widenXid(0xffff_fff0, after)).toBe(0x2_ffff_fff0n)
    const before = 0x2_ffff_fff0n
    expect(widenXid(0x0000_0003, before)).toBe(0x3_0000_0003n)
    expect(widenXid(0xffff_fff8, before)).toBe(0x2_ffff_fff8n)
    expect(widenXid(0xffff_fff0, 5n)).toBe(0xffff_fff0n)
    const snapshot = readVisibility([0x2_ffff_fff0n, 0x3_0000_0002n, 0x2_ffff_fff5n].join(":"))
    expect(sees(snapshot, { xid: widenXid(0xffff_fff5, snapshot.xmax), end: 0n })).toBe(false)
    expect(sees(snapshot, { xid: widenXid(0x0000_0001, snapshot.xmax), end: 0n })).toBe(true)
    expect(sees(snapshot, { xid: widenXid(0x0000_0002, snapshot.xmax), end: 0n })).toBe(false)
  })
})

describe("the ring buffer", () => {
  it("returns what was streamed but is not in a snapshot, even from before the snapshot began", () => {
    const ring = new Ring({ windowMs: 0, bytes: 1e9 }, 0n)
    ring.append(transaction(10n, 1000n))
    ring.append(transaction(11n, 1100n))
    const missing = ring.missingFrom(ring.beginSnapshot(), readVisibility("11:12:11"))
    expect(missing?.map(({ xid }) => xid)).toEqual([11n])
  })

  it("keeps an expired transaction until a snapshot has seen it, and while an older snapshot is open", () => {
    let now = 0
    const ring = new Ring({ windowMs: 100, bytes: 1e9 }, 0n, () => now)
    const older = ring.beginSnapshot()
    ring.append(transaction(10n, 1000n))
    now = 1000
    ring.prune()
    expect(ring.length).toBe(1)
    const newer = ring.beginSnapshot()
    ring.learn(newer, readVisibility("11:11:"))
    ring.endSnapshot(newer)
    ring.prune()
    expect(ring.length).toBe(1)
    expect(ring.missingFrom(older, readVisibility("10:11:10"))).toHaveLength(1)
    ring.endSnapshot(older)
    ring.prune()
    expect(ring.length).toBe(0)
    expect(ring.start).toBe(1000n)
  })

  it("that had to drop an unseen transaction refuses to complete snapshots without it", () => {
    const ring = new Ring({ windowMs: 1e9, bytes: 100 }, 0n)
    ring.append(transaction(10n, 1000n))
    ring.append(transaction(11n, 1100n))
    expect(ring.length).toBe(0)
    const ticket = ring.beginSnapshot()
    expect(ring.missingFrom(ticket, readVisibility("10:12:10"))).toBeNull()
    expect(ring.missingFrom(ticket, readVisibility("12:12:"))).toEqual([])
  })

  it("refuses to complete a snapshot from before a gap in the stream", () => {
    const ring = new Ring({ windowMs: 1e9, bytes: 1e9 }, 0n)
    const before = ring.beginSnapshot()
    ring.restart(5000n)
    expect(ring.missingFrom(before, readVisibility("10:10:"))).toBeNull()
    expect(ring.missingFrom(ring.beginSnapshot(), readVisibility("10:10:"))).toEqual([])
  })

  it("restarts from the beginning of the oldest commit that no snapshot has seen", () => {
    const ring = new Ring({ windowMs: 1e9, bytes: 1e9 }, 0n)
    ring.append(transaction(10n, 1000n))
    ring.append(transaction(11n, 1100n))
    ring.learn(ring.beginSnapshot(), readVisibility("11:12:11"))
    expect(ring.settled).toBe(1099n)
    ring.learn(ring.beginSnapshot(), readVisibility("12:12:"))
    expect(ring.settled).toBe(1100n)
  })

  it("finds what affected a range since a position, for known shapes and for a later one", () => {
    const ring = new Ring({ windowMs: 1e9, bytes: 1e9 }, 0n)
    const early = createShapes((shape) => ring.addShape(shape))
    const shape = early.intern(table, [1])
    for (let n = 1n; n <= 9n; n++) ring.append(transaction(n, n * 10n, [insert(String(n))]))
    expect(ring.touching(shape, "t", 60n).map(({ xid }) => xid)).toEqual([7n, 8n, 9n])
    expect(ring.touching(shape, "other", 0n)).toEqual([])
    const late = early.intern(table, [1, 2])
    expect(ring.touching(late, "t\0ada", 70n).map(({ xid }) => xid)).toEqual([8n, 9n])
  })
})

describe("a range", () => {
  it("compares empty texts like any others", () => {
    const shape = shapes.intern(table, [1, 2])
    for (const values of [
      ["", "x"],
      ["x", ""],
      ["", ""],
    ]) {
      const key = keyIn(shape, [null, ...values])
      expect(valuesIn(key ?? "none")).toEqual(values)
    }
  })

  it("differs from one with the same values in other columns", () => {
    const [byThread, byOwner] = [{ threadId: "x" }, { owner: "x" }].map((eq) =>
      prepareRange(query, { eq }, table, shapes),
    )
    expect(byThread?.identity).not.toBe(byOwner?.identity)
  })
})

describe("edits", () => {
  it("describe what a change means for a range", () => {
    expect(at({ inserted: true, row: row("1", "t") })[0]?.op).toBe("put")
    expect(at({ inserted: true, row: row("1", "u") })).toEqual([])
    expect(at({ row: row("1", "t") })[0]?.op).toBe("put")
    expect(at({ old: row("1", "u"), row: row("1", "t") })[0]?.op).toBe("put")
    expect(at({ old: row("1", "t"), row: row("1", "u") })[0]?.op).toBe("remove")
    expect(at({ old: row("1", "t") })[0]?.op).toBe("remove")
    expect(at({ old: row("1", "t"), row: row("2", "t") }).map(({ op, key }) => [op, key])).toEqual([
      ["remove", "1"],
      ["put", "2"],
    ])
  })

  it("merge partial rows whose large value is not in the log", () => {
    const large: Tuple = ["1", "t", "ada", undefined, "note", "0"]
    expect(at({ row: large })[0]?.op).toBe("merge")
    expect(at({ old: row("1", "u"), row: large })[0]?.op).toBe("partial")
    const [put] = at({ inserted: true, row: row("1", "t", "big") })
    const [merge] = at({ row: large })
    const merged = mergeEdits(put!, merge!)
    expect(merged.op).toBe("put")
    expect(merged.row).toEqual(["1", "t", "ada", "big", "note", "0"])
  })

  it("keep keys apart that would look alike when joined", () => {
    const two = { eq: { threadId: "a", owner: "b" } }
    expect(prepareRange(query, two, table, shapes).key).toBe("a\0b")
    expect(() => prepareRange(query, { eq: { threadId: "a\0b" } }, table, shapes)).toThrow(
      "There can be no such row.",
    )
  })
})

describe("a declaration", () => {
  it.each([
    ["compares a field that is not in the log", { eq: { body: "x" } }, "replica identity"],
    ["compares nothing", { eq: {} }, "compares no field"],
    ["compares a field with nothing", { eq: { threadId: undefined } }, "nothing"],
    ["has pages without an order", { eq: { threadId: "t" }, limit: 5 }, "no order"],
    ["compares a number column with text", { eq: { _creationTime: "1" } }, "of type bigint"],
  ])("whose range %s is refused", (_name, answer, message) => {
    expect(() => prepareRange(query, answer, table, shapes)).toThrow(message)
  })

  it("with dependencies must say how to check access again", () => {
    expect(defineWithoutAuthorize).toThrow("no authorize")
  })
})

describe("a row token", () => {
  const standing = { epoch: "e", lsn: 5n, through: 9n, end: { key: "k~.", value: "7" } }

  it("is valid for the same user, query, arguments and secret only", () => {
    const token = sealResumeToken("secret", "ada", range, standing)
    const other = prepareRange(query, { eq: { threadId: "u" } }, table, shapes)
    expect(openResumeToken("secret", "ada", range, token)).toMatchObject({ epoch: "e", lsn: 5n, through: 9n })
    expect(openResumeToken("secret", "eve", range, token)).toBeNull()
    expect(openResumeToken("secret", "ada", other, token)).toBeNull()
    expect(openResumeToken("another", "ada", range, token)).toBeNull()
    expect(openResumeToken("secret", "ada", range, token.replace("5", "6"))).toBeNull()
    for (const nonsense of ["", ".", "a.b.c.d.e", "x".repeat(900)]) {
      expect(openResumeToken("secret", "ada", range, nonsense)).toBeNull()
    }
  })
})

describe("an outgoing queue", () => {
  it("numbers what it sends, and merges by row what the client has not acknowledged", () => {
    const { outbox, sent, commit } = openOutbox()
    for (const [n, id] of ["a", "b", "c", "c", "d"].entries()) commit(n + 1, id)
    expect(sent.map(({ sequence }) => sequence)).toEqual([1, 2])
    outbox.acknowledge(2)
    expect(sent).toHaveLength(3)
    expect(sent[2]).toMatchObject({ event: "commit", sequence: 3, xids: ["3", "4", "5"] })
    expect(sent[2]?.changes).toHaveLength(2)
    expect(outbox.backlogBytes).toBe(0)
  })

  it("keeps the order of waiting snapshots and commits", () => {
    const { outbox, sent, commit } = openOutbox()
    outbox.hold()
    commit(1, "a")
    outbox.snapshot(`,"subscriptions":[]}]`, 2n)
    commit(3, "b")
    expect(sent).toEqual([])
    outbox.release()
    outbox.acknowledge(2)
    expect(sent.map(({ event }) => event)).toEqual(["commit", "snapshot", "commit"])
  })

  it("sends nothing of a revoked subscription that was queued or being prepared", () => {
    const { outbox, sent, commit } = openOutbox()
    outbox.hold()
    commit(1, "secret")
    for (const edit of editsOf(range, insert("secret"), moment(2n))) outbox.stage(1, edit)
    outbox.revoked([1], "denied")
    outbox.commit(commitHeader(2n, 0, 2n))
    outbox.release()
    outbox.acknowledge(2)
    expect(JSON.stringify(sent)).not.toContain("secret")
    expect(sent.some(({ event }) => event === "revoked")).toBe(true)
  })

  it("counts what several clients wait for once", () => {
    const [one, other] = [openOutbox().outbox, openOutbox().outbox]
    const change = { ...insert("large"), row: row("large", "t", "x".repeat(10_000)) }
    const [edit] = editsOf(range, change, moment(1n))
    for (const outbox of [one, other]) {
      outbox.hold()
      if (edit) outbox.stage(1, edit)
      outbox.commit(commitHeader(1n, 0, 1n))
    }
    const counted = new Set<Edit>()
    expect(one.measure(counted)).toBeGreaterThan(10_000)
    expect(other.measure(counted)).toBeLessThan(1000)
    expect(other.measure(new Set())).toBeGreaterThan(10_000)
  })

  it("removes revoked rows before it says goodbye, however much is queued", () => {
    const { outbox, sent, commit } = openOutbox()
    for (let n = 1; n <= 5; n++) commit(n, `row ${n}`)
    outbox.revoked([1], "expired")
    outbox.goodbye("expired", null)
    expect(sent.slice(-2).map(({ event }) => event)).toEqual(["revoked", "goodbye"])
  })

  it("still sends which subscriptions have ended when it drops the waiting commits", () => {
    const { outbox, sent, commit } = openOutbox()
    for (let n = 1; n <= 4; n++) commit(n, `row ${n}`)
    outbox.revoked([1], "denied")
    outbox.reset([2], "truncate")
    outbox.snapshot(`,"subscriptions":[]}]`, 5n)
    commit(6, "row 6")
    outbox.abandon()
    outbox.reset([3], "slow")
    outbox.acknowledge(2)
    outbox.acknowledge(4)
    expect(sent.slice(2).map(({ event }) => event)).toEqual(["revoked", "reset", "reset"])
    expect(outbox.backlogBytes).toBe(0)
  })

  it("reports when too much is queued, and ignores acknowledgements of what was never sent", () => {
    const { outbox, sent, commit } = openOutbox()
    for (let n = 1; n <= 40; n++) commit(n, `row ${n}`)
    expect(outbox.overflowing).toBe(true)
    outbox.acknowledge(1000)
    expect(sent).toHaveLength(2)
    outbox.abandon()
    outbox.reset([1], "slow")
    outbox.acknowledge(2)
    expect(sent.map(({ event }) => event)).toEqual(["commit", "commit", "reset"])
  })
})

function openOutbox() {
  const sent: { event: string; sequence: number; changes?: unknown[]; xids?: string[] }[] = []
  const limits = { eventsInFlight: 2, bytesInFlight: 1e6, backlogBytes: 2000 }
  const outbox = new Outbox(
    (frame) => {
      const [event, body] = JSON.parse(frame.slice(1))
      sent.push({ event, ...body })
    },
    () => 0,
    limits,
  )
  const commit = (n: number, id: string) => {
    for (const edit of editsOf(range, insert(id), moment(BigInt(n)))) outbox.stage(1, edit)
    outbox.commit(commitHeader(BigInt(n), 0, BigInt(n)))
  }
  return { outbox, sent, commit }
}

describe("events of channels that wait for a client", () => {
  it("keep the list of members, and drop the oldest messages only", () => {
    const frames: string[] = []
    const outbox = new Outbox(
      (frame) => frames.push(frame),
      () => 0,
    )
    const wait = (event: "members" | "message", subject: string) =>
      outbox.broadcast({ event, id: 1, channel: "typing", subject, tail: `,"subject":"${subject}"}]` })
    outbox.hold()
    wait("members", "")
    let dropped = 0
    for (let sender = 1; sender <= 34; sender += 1) dropped += wait("message", `m${sender}`)
    outbox.release()
    outbox.acknowledge(32)

    expect(dropped).toBe(2)
    expect(frames.filter((frame) => frame.startsWith('2["members"'))).toHaveLength(1)
    const senders = frames.flatMap((frame) => /"subject":"(m\d+)"/u.exec(frame)?.[1] ?? [])
    expect(senders).toEqual(Array.from({ length: 32 }, (_, index) => `m${index + 3}`))
  })
})
