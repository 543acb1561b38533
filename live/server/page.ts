import type { RowOrder } from "../protocol/contract.ts"
import { editsOf, isComplete, rowText } from "./edits.ts"
import { compareRows, pinEnd, pinOf, writePin, type Range } from "./range.ts"
import { keysTouched } from "./shapes.ts"
import { overlay, type Tuple } from "./tables.ts"
import { largeAffects, type Transaction } from "./transactions.ts"

/** Thrown when the snapshot and the stream cannot be joined this time; a later snapshot will do. */
export class PageUnsettled extends Error {
  /** Set if the client's own rows cannot be continued either. */
  readonly reread: boolean

  constructor({ reread = false }: { reread?: boolean } = {}) {
    super("The snapshot cannot be completed.")
    this.reread = reread
  }
}

export interface Page {
  /** The range with its end pinned, if it is a page with rows beyond it. */
  readonly range: Range
  readonly rows: readonly Tuple[]
  /** The rows as sent. */
  readonly texts: readonly string[]
  readonly order: RowOrder
  readonly end: string | null
}

/**
 * The rows of a range as read, completed with the transactions that the snapshot missed. `texts`
 * caches the result for the same range.
 */
export function finishPage(
  range: Range,
  found: readonly Tuple[],
  missed: readonly Transaction[],
  texts: Map<string, readonly string[]>,
): Page {
  const cut = range.limit !== null && found.length > range.limit
  const kept = cut ? found.slice(0, range.limit) : found
  const last = kept.at(-1)
  const end = cut && last ? pinOf(range, last) : null
  const pinned = end ? pinEnd(range, end) : range
  const rows = addMissed(pinned, kept, missed)
  let made = texts.get(range.identity)
  if (!made) texts.set(range.identity, (made = rows.map((row) => rowText(range.query, range.table, row))))
  return { range: pinned, rows, texts: made, order: range.order?.wire ?? [], end: end ? writePin(end) : null }
}

function addMissed(range: Range, found: readonly Tuple[], missed: readonly Transaction[]): readonly Tuple[] {
  const concerning = missed.filter(
    (each) =>
      each.truncated.has(range.table) || each.large?.tables.has(range.table) || touchesRange(range, each),
  )
  if (concerning.length === 0) return found
  const rows = new Map(found.map((row) => [row[range.table.key] ?? "", row]))
  for (const transaction of concerning) {
    if (transaction.truncated.has(range.table)) throw new PageUnsettled()
    if (transaction.large && largeAffects(transaction.large, range.shape, range.key))
      throw new PageUnsettled()
    for (const change of transaction.changes) {
      if (change.table !== range.table) continue
      for (const edit of editsOf(range, change, transaction)) {
        const before = rows.get(edit.key)
        if (edit.row === null) rows.delete(edit.key)
        else if (edit.op === "put") rows.set(edit.key, edit.row)
        else if (before) rows.set(edit.key, overlay(before, edit.row))
        else throw new PageUnsettled()
      }
    }
  }
  const all = [...rows.values()]
  if (!all.every((row) => isComplete(range.query, range.table, row))) throw new PageUnsettled()
  return range.order ? all.toSorted((a, b) => compareRows(range, a, b)) : all
}

function touchesRange(range: Range, transaction: Transaction): boolean {
  return transaction.changes.some(
    (change) => change.table === range.table && keysTouched(range.shape, change).includes(range.key),
  )
}
