import type { LiveQuery } from "./live-query.ts"
import { contains, type Range } from "./range.ts"
import type { Moment } from "./visibility.ts"
import { overlay, type RowChange, type Tuple, type WatchedTable } from "./tables.ts"

/**
 * The effect of one change on clients that see rows through one query. All subscribers share an
 * edit, so that its text is created once. `partial` rows lack a large value that the log left out
 * and that the client does not have either.
 */
export interface Edit {
  readonly query: LiveQuery
  readonly table: WatchedTable
  readonly op: "put" | "merge" | "remove" | "partial"
  readonly key: string
  readonly row: Tuple | null
  /** For a partial edit: the stored row has the missing value from this transaction on. */
  readonly since: Moment | null
  text: string | null
}

/** What a change does to a range: nothing, one edit, or two when the row's key itself changed. */
export function editsOf(range: Range, change: RowChange, at: Moment): readonly Edit[] {
  const { row, old } = change
  const isIn = row !== null && contains(range, row)
  // An update without an old row did not change the replica identity, so the row has not moved.
  const wasIn = old !== null ? contains(range, old) : isIn && !change.inserted
  const key = row?.[range.table.key]
  const oldKey = old?.[range.table.key] ?? key
  if (wasIn && oldKey !== key && typeof oldKey === "string") {
    const removal = edit(range, "remove", oldKey, null, at)
    return isIn && typeof key === "string" ? [removal, arrival(range, key, row, at)] : [removal]
  }
  if (typeof key !== "string") return []
  if (wasIn && !isIn) return [edit(range, "remove", key, null, at)]
  if (!isIn) return []
  return [wasIn ? alteration(range, key, row, at) : arrival(range, key, row, at)]
}

/** Combines two successive edits of the same key into one. */
export function mergeEdits(first: Edit, second: Edit): Edit {
  if (first.row === null || second.row === null || second.op === "put" || second.op === "remove")
    return second
  const row = overlay(first.row, second.row)
  const complete = isComplete(second.query, second.table, row)
  const op = first.op === "merge" && second.op === "merge" ? "merge" : complete ? "put" : "partial"
  const since = second.op === "partial" ? second.since : first.since
  return { ...second, op, row, since, text: null }
}

/** Completes a partial edit from the row as read. */
export function completeEdit(partial: Edit, stored: Tuple): Edit {
  return { ...partial, op: "put", row: overlay(stored, partial.row ?? []), text: null }
}

/** The edit as it appears in a change, after the subscription's id: `"put","key",{…}]`. */
export function editText(made: Edit): string {
  made.text ??=
    made.row === null
      ? `"remove",${JSON.stringify(made.key)}]`
      : `"${made.op}",${JSON.stringify(made.key)},${rowText(made.query, made.table, made.row)}]`
  return made.text
}

/**
 * False for a row that the declaration cannot decode or project. Its subscribers receive a refusal,
 * which is logged.
 */
export function isReadable(made: Edit): boolean {
  if (made.op === "partial") return true
  try {
    editText(made)
    return true
  } catch {
    return false
  }
}

/** The row as its subscribers see it. Fields that were not transmitted are left out. */
export function rowText(query: LiveQuery, table: WatchedTable, row: Tuple): string {
  return JSON.stringify(projectRow(query, table, row))
}

export function projectRow(query: LiveQuery, table: WatchedTable, row: Tuple): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  for (const field of query.fields) {
    const column = table.position.get(field) ?? -1
    const text = row[column]
    if (text === undefined) continue
    values[field] = text === null ? null : table.decoders[column]?.(text)
  }
  return query.project ? query.project(values) : values
}

export function isComplete(query: LiveQuery, table: WatchedTable, row: Tuple): boolean {
  return query.fields.every((field) => row[table.position.get(field) ?? -1] !== undefined)
}

function arrival(range: Range, key: string, row: Tuple, at: Moment): Edit {
  return edit(range, isComplete(range.query, range.table, row) ? "put" : "partial", key, row, at)
}

function alteration(range: Range, key: string, row: Tuple, at: Moment): Edit {
  if (isComplete(range.query, range.table, row)) return edit(range, "put", key, row, at)
  // A projection needs the whole row, so only the row's own fields can be sent in part.
  return edit(range, range.query.project ? "partial" : "merge", key, row, at)
}

function edit(range: Range, op: Edit["op"], key: string, row: Tuple | null, at: Moment): Edit {
  const since = op === "partial" ? { xid: at.xid, end: at.end } : null
  return { query: range.query, table: range.table, op, key, row, since, text: null }
}
