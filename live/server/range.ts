import { isTextBefore, type RowOrder } from "../protocol/contract.ts"
import type { ErasedRange, LiveQuery, RangeValue } from "./live-query.ts"
import { keyIn, type Shape, type Shapes } from "./shapes.ts"
import { isStorable } from "../protocol/storable-contract.ts"
import type { Tuple, WatchedTable } from "./tables.ts"

/** A position in a range's order: the ordering column's text and the row's key. */
export interface Pin {
  readonly value: string
  readonly key: string
}

/** A range of one table, ready to be read and to be matched against changes. */
export interface Range {
  /** Equal for ranges with equal contents as sent, whichever user requested them. */
  readonly identity: string
  readonly query: LiveQuery
  readonly table: WatchedTable
  readonly shape: Shape
  /** The place of the shape that holds the range. */
  readonly key: string
  readonly order: {
    readonly column: number
    readonly direction: "asc" | "desc"
    readonly wire: RowOrder
  } | null
  readonly after: Pin | null
  readonly limit: number | null
  /**
   * The last row that belongs to a page, once it has been read; null while the range is open at its
   * end.
   */
  readonly end: Pin | null
}

/**
 * Thrown for arguments that no declaration's schema could refuse, such as a damaged page position.
 */
export class InvalidRange extends Error {}

/** The range names a page by an end that no page has. */
export class UnknownPage extends InvalidRange {
  constructor() {
    super("This page does not exist.")
  }
}

/**
 * Prepares what a query's `range` returned. Throws if the declaration needs something that the
 * replica identity does not contain.
 */
export function prepareRange(
  query: LiveQuery,
  answer: ErasedRange,
  table: WatchedTable,
  shapes: Shapes,
): Range {
  const eq = Object.entries(answer.eq).map(
    ([field, value]) => [columnOf(query, table, field), value] as const,
  )
  if (eq.length === 0) throw new Error(`The range of ${query.name} compares no field.`)
  const shape = shapes.intern(
    table,
    eq.map(([column]) => column),
  )
  const texts: (string | undefined)[] = []
  for (const [column, value] of eq) {
    mustBeIdentity(query, table, column)
    texts[column] = rangeText(query, table, column, value)
  }
  const key = keyIn(shape, texts)
  if (key === null) throw new Error(`The range of ${query.name} compares a field with nothing.`)

  const bounded = answer.after !== undefined || answer.limit !== undefined
  if (bounded && !answer.order) throw new Error(`The range of ${query.name} has pages but no order.`)
  const order = answer.order ? prepareOrder(query, table, answer.order, bounded) : null
  const after = answer.after === undefined ? null : readPin(answer.after)
  if (
    after &&
    order &&
    !(isTextOf(table, order.column, after.value) && isTextOf(table, table.key, after.key))
  ) {
    throw new UnknownPage()
  }
  const limit = answer.limit ?? null
  const ordering = order?.wire.join() ?? ""
  const identity = [query.name, shape.columns.join(), key, ordering, answer.after ?? "", limit ?? ""].join(
    "\0",
  )
  return { identity, query, table, shape, key, order, after, limit, end: null }
}

/** The place that a dependency watches. */
export function preparePlace(
  query: LiveQuery,
  eq: Readonly<Record<string, RangeValue>>,
  table: WatchedTable,
  shapes: Shapes,
): { shape: Shape; key: string } {
  const { shape, key } = prepareRange(query, { eq }, table, shapes)
  return { shape, key }
}

/** The same page with its end pinned. Pages with different ends differ in identity. */
export function pinEnd(range: Range, end: Pin): Range {
  return { ...range, end, identity: `${range.identity}\0${writePin(end)}` }
}

/**
 * Whether a row is in the range. For the old row of a change, the identity's columns are enough.
 */
export function contains(range: Range, row: Tuple): boolean {
  if (keyIn(range.shape, row) !== range.key) return false
  if (range.after && comparePlace(range, row, range.after) <= 0) return false
  return !range.end || comparePlace(range, row, range.end) <= 0
}

/** Negative if the first row comes first. */
export function compareRows(range: Range, a: Tuple, b: Tuple): number {
  const pin = pinOf(range, b)
  return pin ? comparePlace(range, a, pin) : 0
}

export function pinOf(range: Range, row: Tuple): Pin | null {
  const value = range.order && row[range.order.column]
  const key = row[range.table.key]
  return typeof value === "string" && typeof key === "string" ? { value, key } : null
}

export function writePin(pin: Pin): string {
  return `${pin.key}~${pin.value}`
}

export function readPin(text: string): Pin {
  const split = text.indexOf("~")
  if (split < 1 || text.length > 500 || !isStorable(text)) throw new UnknownPage()
  return { key: text.slice(0, split), value: text.slice(split + 1) }
}

const WHOLE_NUMBERS: Readonly<Record<string, bigint>> = {
  smallint: 2n ** 15n,
  integer: 2n ** 31n,
  bigint: 2n ** 63n,
}

/** Whether PostgreSQL accepts the text as a value of the column's type. */
function isTextOf(table: WatchedTable, column: number, text: string): boolean {
  const type = table.types[column] ?? ""
  const limit = WHOLE_NUMBERS[type]
  if (limit !== undefined) {
    if (!/^-?\d{1,19}$/.test(text)) return false
    const number = BigInt(text)
    return number < limit && number >= -limit
  }
  if (type === "uuid") return /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text)
  if (type === "boolean") return text === "t" || text === "f"
  return isStorable(text)
}

export function isNumeric(table: WatchedTable, column: number): boolean {
  const type = table.types[column]
  return type === "smallint" || type === "integer" || type === "bigint"
}

function comparePlace(range: Range, row: Tuple, pin: Pin): number {
  const order = range.order
  if (!order) return 0
  const value = row[order.column] ?? ""
  const sign = order.direction === "asc" ? 1 : -1
  const byValue = isNumeric(range.table, order.column)
    ? compareNumbers(BigInt(value === "" ? 0 : value), BigInt(pin.value))
    : compareTexts(value, pin.value)
  return sign * (byValue === 0 ? compareTexts(row[range.table.key] ?? "", pin.key) : byValue)
}

function compareNumbers(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function compareTexts(a: string, b: string): number {
  return a === b ? 0 : isTextBefore(a, b) ? -1 : 1
}

function prepareOrder(
  query: LiveQuery,
  table: WatchedTable,
  order: { field: string; direction: "asc" | "desc" },
  bounded: boolean,
): Range["order"] {
  const column = columnOf(query, table, order.field)
  if (bounded) {
    mustBeIdentity(query, table, column)
    if (table.nullable[column])
      throw new Error(`${query.name} has pages by ${order.field}, which may be null.`)
  }
  const wire: RowOrder = [[order.field, order.direction]]
  if (column !== table.key) wire.push(["_id", order.direction])
  return { column, direction: order.direction, wire }
}

function columnOf(query: LiveQuery, table: WatchedTable, field: string): number {
  const column = table.position.get(field)
  if (column === undefined)
    throw new Error(`${query.name} compares ${field}, which ${table.sqlName} does not have.`)
  return column
}

function mustBeIdentity(query: LiveQuery, table: WatchedTable, column: number): void {
  if (table.identity.has(column)) return
  throw new Error(
    `${query.name} compares ${table.fields[column]}, which is not in the replica identity of ${table.sqlName}. ` +
      `A row that leaves the range could not be seen. Add the column to the index, or compare another.`,
  )
}

/** The text that PostgreSQL prints for a value, so that ranges and rows compare as strings. */
function rangeText(
  query: LiveQuery,
  table: WatchedTable,
  column: number,
  value: RangeValue | undefined,
): string {
  const type = table.types[column]
  if (typeof value === "string" && (type === "text" || type === "character varying" || type === "uuid")) {
    if (!isTextOf(table, column, value)) throw new InvalidRange("There can be no such row.")
    return type === "uuid" ? value.toLowerCase() : value
  }
  if (isNumeric(table, column) && (typeof value === "bigint" || typeof value === "number")) {
    if (!isTextOf(table, column, String(value))) throw new InvalidRange("There can be no such row.")
    return String(value)
  }
  if (type === "boolean" && typeof value === "boolean") return value ? "t" : "f"
  throw new Error(
    `${query.name} compares ${table.fields[column]} of type ${type} with ${value === undefined ? "nothing" : `a ${typeof value}`}. ` +
      `Ranges compare text, uuid, whole number and boolean columns with values of their kind.`,
  )
}
