import type { RowChange, Tuple, WatchedTable } from "./tables.ts"
import { NO_TABLES, type Transaction } from "./transactions.ts"

/** A buffer of packed transactions. */
export interface Space {
  readonly bytes: Buffer
  readonly view: DataView
}

/** The tables that packed changes refer to by number. */
export interface TableNumbers {
  numberOf(table: WatchedTable): number
  table(number: number): WatchedTable
}

/** The part of a transaction to unpack. */
export interface Projection {
  readonly table: WatchedTable
  readonly columns: readonly number[]
}

// A transaction is its xid, start, end and time (8 bytes each) and the count of its changes (4),
// then each change: the number of its table (2), flags (1), and its tuples: for each column the
// length of its text (4) and the text, or one of these in place of the length.
const HEADER = 36
const CHANGE = 3
const NULL = 0xffff_ffff
const NOT_TRANSMITTED = 0xffff_fffe

const INSERTED = 1
const HAS_OLD = 2
const HAS_ROW = 4

/**
 * The largest number of bytes that packing the transaction can take: UTF-8 has at most three for
 * each UTF-16 unit.
 */
export function boundOfPacked({ changes }: Transaction): number {
  let bytes = HEADER
  for (const { old, row } of changes) bytes += CHANGE + boundOfTuple(old) + boundOfTuple(row)
  return bytes
}

/**
 * Writes the changes and their commit time, and returns the end position. Truncates, messages and
 * the summary of a large transaction are not written.
 */
export function packTransaction(
  transaction: Transaction,
  tables: TableNumbers,
  space: Space,
  start: number,
): number {
  const { view } = space
  view.setBigUint64(start, transaction.xid)
  view.setBigUint64(start + 8, transaction.start)
  view.setBigUint64(start + 16, transaction.end)
  view.setFloat64(start + 24, transaction.at)
  view.setUint32(start + 32, transaction.changes.length)
  let at = start + HEADER
  for (const { table, inserted, old, row } of transaction.changes) {
    view.setUint16(at, tables.numberOf(table))
    view.setUint8(at + 2, (inserted ? INSERTED : 0) | (old ? HAS_OLD : 0) | (row ? HAS_ROW : 0))
    at += CHANGE
    if (old) at = packTuple(old, space, at)
    if (row) at = packTuple(row, space, at)
  }
  return at
}

/**
 * With `projection`, only the changes of that table, and only these columns of them: the others
 * look as if they had not been transmitted.
 */
export function unpackTransaction(
  space: Space,
  start: number,
  tables: TableNumbers,
  projection?: Projection,
): Transaction {
  const { view } = space
  const cursor = { at: start + HEADER }
  const changes: RowChange[] = []
  for (let left = view.getUint32(start + 32); left > 0; left--) {
    const table = tables.table(view.getUint16(cursor.at))
    const flags = view.getUint8(cursor.at + 2)
    cursor.at += CHANGE
    const columns = projection && (projection.table === table ? projection.columns : [])
    const width = table.columns.length
    const old = flags & HAS_OLD ? unpackTuple(width, space, cursor, columns) : null
    const row = flags & HAS_ROW ? unpackTuple(width, space, cursor, columns) : null
    if (!projection || projection.table === table) {
      changes.push({ table, inserted: (flags & INSERTED) !== 0, old, row })
    }
  }
  return {
    xid: view.getBigUint64(start),
    start: view.getBigUint64(start + 8),
    end: view.getBigUint64(start + 16),
    at: view.getFloat64(start + 24),
    changes,
    truncated: NO_TABLES,
    large: null,
    messages: [],
    bytes: cursor.at - start,
  }
}

export type Place = Pick<Transaction, "xid" | "start" | "end">

export function placeOfPacked({ view }: Space, start: number): Place {
  return {
    xid: view.getBigUint64(start),
    start: view.getBigUint64(start + 8),
    end: view.getBigUint64(start + 16),
  }
}

function boundOfTuple(tuple: Tuple | null): number {
  let bytes = 0
  if (tuple) for (const value of tuple) bytes += 4 + 3 * (value?.length ?? 0)
  return bytes
}

function packTuple(tuple: Tuple, { bytes, view }: Space, start: number): number {
  let at = start
  for (const value of tuple) {
    if (typeof value === "string") {
      const length = bytes.write(value, at + 4)
      view.setUint32(at, length)
      at += 4 + length
    } else {
      view.setUint32(at, value === null ? NULL : NOT_TRANSMITTED)
      at += 4
    }
  }
  return at
}

function unpackTuple(
  width: number,
  { bytes, view }: Space,
  cursor: { at: number },
  columns?: readonly number[],
): Tuple {
  const tuple: (string | null | undefined)[] = []
  let { at } = cursor
  for (let column = 0; column < width; column++) {
    const length = view.getUint32(at)
    at += 4
    if (length === NULL) tuple.push(null)
    else if (length === NOT_TRANSMITTED) tuple.push(undefined)
    else {
      tuple.push(!columns || columns.includes(column) ? bytes.toString("utf8", at, at + length) : undefined)
      at += length
    }
  }
  cursor.at = at
  return tuple
}
