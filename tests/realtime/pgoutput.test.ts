import { describe, expect, it } from "vitest"
import { createDecoder, type Relation } from "../../live/server/pgoutput.ts"
import { watchTable } from "../../live/server/tables.ts"
import { threads } from "./support/tables.ts"

// Messages byte by byte as in PostgreSQL's documentation, chapter 54.9.

const table = watchTable(threads)

function text(value: string) {
  return Buffer.from(`${value}\0`)
}

function int16(value: number) {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16BE(value)
  return bytes
}

function int32(value: number) {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

function int64(value: bigint) {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(value)
  return bytes
}

function tuple(...values: (string | null | undefined)[]) {
  const parts = values.map((value) => {
    if (value === null) return Buffer.from("n")
    if (value === undefined) return Buffer.from("u")
    return Buffer.concat([Buffer.from("t"), int32(Buffer.byteLength(value)), Buffer.from(value)])
  })
  return Buffer.concat([int16(values.length), ...parts])
}

/** The table's own columns in another order, with one more that is not described. */
const RELATION = Buffer.concat([
  Buffer.from("R"),
  int32(7),
  text("public"),
  text("threads"),
  Buffer.from("i"),
  int16(5),
  ...["title", "owner", "extra", "_creation_time", "_id"].map((name) =>
    Buffer.concat([
      Buffer.from([name === "owner" || name === "_id" ? 1 : 0]),
      text(name),
      int32(25),
      int32(0xffff_ffff),
    ]),
  ),
])

function open() {
  const seen: Relation[] = []
  const passed: { name: string; at: bigint }[] = []
  const decode = createDecoder({
    layOut(relation) {
      seen.push(relation)
      if (relation.name !== "threads") return null
      return { table, targets: relation.columns.map(({ name }) => table.columns.indexOf(name)) }
    },
    pass: ({ name }, at) => void passed.push({ name, at }),
  })
  return { seen, passed, decode }
}

function change(message: string, ...parts: (Buffer | string)[]) {
  return Buffer.concat([Buffer.from(message), int32(7), ...parts.map((part) => Buffer.from(part))])
}

describe("the decoder", () => {
  it("reads where a transaction begins and ends", () => {
    const { decode } = open()
    const begin = Buffer.concat([Buffer.from("B"), int64(5n), int64(0n), int32(0xffff_fffe)])
    expect(decode(begin)).toEqual({ kind: "begin", xid: 0xffff_fffe })
    const commit = Buffer.concat([
      Buffer.from("C"),
      Buffer.from([0]),
      int64(5n),
      int64(0x16_b374_d848n),
      int64(1_000_000n),
    ])
    expect(decode(commit)).toEqual({
      kind: "commit",
      start: 5n,
      end: 0x16_b374_d848n,
      at: Date.UTC(2000, 0, 1) + 1000,
    })
  })

  it("orders values as described, whatever the table's order, and skips columns that are not described", () => {
    const { decode, seen } = open()
    expect(decode(RELATION)).toBeNull()
    expect(seen[0]).toMatchObject({ schema: "public", name: "threads", identity: "i" })
    expect(seen[0]?.columns.filter(({ named }) => named).map(({ name }) => name)).toEqual(["owner", "_id"])
    expect(decode(change("I", "N", tuple("Grüße, 世界", "ada", "7", "5", "id")))).toEqual({
      kind: "insert",
      table,
      row: ["id", "ada", "Grüße, 世界", "5"],
    })
  })

  it("distinguishes null from a value that was not transmitted", () => {
    const { decode } = open()
    decode(RELATION)
    const message = decode(change("U", "N", tuple(undefined, null, "7", "5", "id")))
    expect(message).toEqual({ kind: "update", table, old: null, row: ["id", null, undefined, "5"] })
  })

  it("returns an update's old key, and fills missing values from a full old row", () => {
    const { decode } = open()
    decode(RELATION)
    const key = decode(
      change("U", "K", tuple(null, "ada", null, null, "id"), "N", tuple(undefined, "eve", "7", "5", "id")),
    )
    expect(key).toMatchObject({ old: ["id", "ada", null, null], row: ["id", "eve", undefined, "5"] })
    const full = decode(
      change("U", "O", tuple("old", "ada", "7", "5", "id"), "N", tuple(undefined, "eve", "7", "5", "id")),
    )
    expect(full).toMatchObject({ row: ["id", "eve", "old", "5"] })
  })

  it("reads deletions, truncates and messages", () => {
    const { decode } = open()
    decode(RELATION)
    expect(decode(change("D", "K", tuple(null, "ada", null, null, "id")))).toMatchObject({
      kind: "delete",
      old: ["id", "ada", null, null],
    })
    const truncate = Buffer.concat([Buffer.from("T"), int32(1), Buffer.from([0]), int32(7)])
    expect(decode(truncate)).toEqual({ kind: "truncate", tables: [table] })
    const message = Buffer.concat([
      Buffer.from("M"),
      Buffer.from([1]),
      int64(5n),
      text("prefix"),
      int32(3),
      Buffer.from("abc"),
    ])
    expect(decode(message)).toEqual({
      kind: "message",
      prefix: "prefix",
      content: "abc",
      transactional: true,
    })
  })

  it("skips unwatched tables, and stops at what it cannot parse", () => {
    const { decode } = open()
    const other = Buffer.concat([
      Buffer.from("R"),
      int32(8),
      text("public"),
      text("noise"),
      Buffer.from("d"),
      int16(0),
    ])
    decode(other)
    expect(decode(Buffer.concat([Buffer.from("I"), int32(8), Buffer.from("N"), tuple("x")]))).toBeNull()
    expect(() => decode(change("I", "N", tuple("x")))).toThrow("before its description")
    expect(() => decode(Buffer.from("S"))).toThrow("unknown kind")
  })
})
