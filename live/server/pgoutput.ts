import type { Tuple, WatchedTable } from "./tables.ts"

/**
 * A message of PostgreSQL's logical replication protocol, version 1 (PostgreSQL documentation,
 * chapter 54.9).
 */
export type Message =
  | { kind: "begin"; xid: number }
  | { kind: "commit"; start: bigint; end: bigint; at: number }
  | { kind: "insert"; table: WatchedTable; row: Tuple }
  | { kind: "update"; table: WatchedTable; old: Tuple | null; row: Tuple }
  | { kind: "delete"; table: WatchedTable; old: Tuple }
  | { kind: "truncate"; tables: WatchedTable[] }
  | { kind: "message"; prefix: string; content: string; transactional: boolean }

/** A table as the log describes it, sent whenever that may have changed. */
export interface Relation {
  schema: string
  name: string
  /** The replica identity: d(efault), i(ndex), f(ull) or n(othing). */
  identity: string
  /** `named`: a change contains the value that the row had before. */
  columns: readonly { name: string; type: number; named: boolean }[]
}

/**
 * The position of each column of a relation in the table's tuples; -1 for a column that is not
 * described.
 */
export interface Layout {
  table: WatchedTable
  targets: readonly number[]
}

/** Notified of what the log says about a table. */
export interface Describing {
  /**
   * Called each time the log describes a relation, as it was for the transaction that commits at
   * `at`; null for one that cannot be read.
   */
  layOut(relation: Relation, at: bigint): Layout | null
  /**
   * Called when a transaction that commits at `at` has changed a relation that could not be read.
   */
  pass(relation: Pick<Relation, "schema" | "name">, at: bigint): void
}

const POSTGRES_EPOCH = Date.UTC(2000, 0, 1)

/** Decodes one message per call; null for a table that is not watched. */
export function createDecoder(describing: Describing) {
  const relations = new Map<number, { relation: Relation; layout: Layout | null }>()
  /** The commit position of the transaction whose messages are being read. */
  let at = 0n

  return function decode(bytes: Buffer): Message | null {
    switch (bytes.readUInt8(0)) {
      case 0x42: // B
        at = bytes.readBigUInt64BE(1)
        return { kind: "begin", xid: bytes.readUInt32BE(17) }
      case 0x43: // C
        return {
          kind: "commit",
          start: bytes.readBigUInt64BE(2),
          end: bytes.readBigUInt64BE(10),
          at: POSTGRES_EPOCH + Number(bytes.readBigInt64BE(18) / 1000n),
        }
      case 0x52: {
        // R
        const relation = readRelation(bytes)
        relations.set(bytes.readUInt32BE(1), { relation, layout: describing.layOut(relation, at) })
        return null
      }
      case 0x49: // I
        return readInsert(bytes, layoutOf(bytes.readUInt32BE(1)))
      case 0x55: // U
        return readUpdate(bytes, layoutOf(bytes.readUInt32BE(1)))
      case 0x44: // D
        return readDelete(bytes, layoutOf(bytes.readUInt32BE(1)))
      case 0x54: // T
        return readTruncate(bytes, layoutOf)
      case 0x4d: // M
        return readMessage(bytes)
      case 0x4f: // O, the origin of a replicated change
      case 0x59: // Y, a type's name
        return null
      default:
        throw new Error(
          `The log holds a message of an unknown kind, ${bytes[0]}. Ask for protocol version 1.`,
        )
    }
  }

  function layoutOf(id: number): Layout | null {
    const described = relations.get(id)
    if (!described) throw new Error(`The log has a change of relation ${id} before its description.`)
    if (!described.layout) describing.pass(described.relation, at)
    return described.layout
  }
}

function readRelation(bytes: Buffer): Relation {
  const cursor = { at: 5 }
  const schema = readText(bytes, cursor)
  const name = readText(bytes, cursor)
  const identity = String.fromCharCode(bytes.readUInt8(cursor.at))
  const count = bytes.readUInt16BE(cursor.at + 1)
  cursor.at += 3
  const columns = Array.from({ length: count }, () => {
    const named = (bytes.readUInt8(cursor.at) & 1) === 1
    cursor.at += 1
    const column = readText(bytes, cursor)
    const type = bytes.readUInt32BE(cursor.at)
    cursor.at += 8
    return { name: column, type, named }
  })
  // An empty schema name stands for pg_catalog.
  return { schema: schema === "" ? "pg_catalog" : schema, name, identity, columns }
}

function readInsert(bytes: Buffer, layout: Layout | null): Message | null {
  if (!layout) return null
  return { kind: "insert", table: layout.table, row: readTuple(bytes, { at: 6 }, layout) }
}

function readUpdate(bytes: Buffer, layout: Layout | null): Message | null {
  if (!layout) return null
  const cursor = { at: 6 }
  const form = bytes[5]
  if (form === 0x4e)
    return { kind: "update", table: layout.table, old: null, row: readTuple(bytes, cursor, layout) }
  const old = readTuple(bytes, cursor, layout)
  cursor.at += 1
  const row = readTuple(bytes, cursor, layout)
  // Only the full old row (O) has the values that the new one leaves out; a key (K) has nulls
  // there.
  const complete = form === 0x4f ? row.map((value, index) => (value === undefined ? old[index] : value)) : row
  return { kind: "update", table: layout.table, old, row: complete }
}

function readDelete(bytes: Buffer, layout: Layout | null): Message | null {
  if (!layout) return null
  return { kind: "delete", table: layout.table, old: readTuple(bytes, { at: 6 }, layout) }
}

function readTruncate(bytes: Buffer, layoutOf: (relation: number) => Layout | null): Message | null {
  const count = bytes.readUInt32BE(1)
  const tables = Array.from(
    { length: count },
    (_, index) => layoutOf(bytes.readUInt32BE(6 + 4 * index))?.table,
  )
  return { kind: "truncate", tables: tables.filter((table) => table !== undefined) }
}

function readMessage(bytes: Buffer): Message {
  const cursor = { at: 10 }
  const prefix = readText(bytes, cursor)
  const length = bytes.readUInt32BE(cursor.at)
  const content = bytes.toString("utf8", cursor.at + 4, cursor.at + 4 + length)
  return { kind: "message", prefix, content, transactional: bytes[1] === 1 }
}

function readTuple(bytes: Buffer, cursor: { at: number }, layout: Layout): Tuple {
  const tuple = layout.table.blank.slice()
  const count = bytes.readUInt16BE(cursor.at)
  let at = cursor.at + 2
  for (let column = 0; column < count; column++) {
    const form = bytes[at++]
    const target = layout.targets[column] ?? -1
    if (form === 0x6e) {
      if (target >= 0) tuple[target] = null
    } else if (form === 0x74) {
      const length = bytes.readUInt32BE(at)
      at += 4
      if (target >= 0) tuple[target] = bytes.toString("utf8", at, at + length)
      at += length
    } else if (form !== 0x75) {
      throw new Error(`The log contains a column value of an unknown format, ${form}.`)
    }
  }
  cursor.at = at
  return tuple
}

function readText(bytes: Buffer, cursor: { at: number }): string {
  const end = bytes.indexOf(0, cursor.at)
  const text = bytes.toString("utf8", cursor.at, end)
  cursor.at = end + 1
  return text
}
