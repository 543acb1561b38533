import { isTextBefore, type LiveRow, type RowOrder } from "../protocol/contract.ts"

/**
 * What `put`, `merge` and `remove` do to a set of rows, for commits and optimistic changes alike.
 */
export type RowChange =
  | { op: "put" | "merge"; key: string; row: Record<string, unknown> }
  | { op: "remove"; key: string }

/**
 * A sorted list under single changes. A row's place is found by binary search, so that a commit on
 * a long list costs no sort. The array is replaced at each change, but unchanged rows keep their
 * identity, as React expects.
 */
export function sortedRows(order: RowOrder, initial: readonly LiveRow[]) {
  const compare = rowComparison(order)
  const byKey = new Map(initial.map((row) => [row._id, row]))
  let list: readonly LiveRow[] = initial

  function place(row: LiveRow): number {
    let low = 0
    let high = list.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (compare(list[middle] as LiveRow, row) < 0) low = middle + 1
      else high = middle
    }
    return low
  }

  function take(row: LiveRow) {
    const at = place(row)
    // Falls back to a scan, in case the list was not sorted.
    const found = list[at]?._id === row._id ? at : list.findIndex(({ _id }) => _id === row._id)
    list = list.toSpliced(found, 1)
    byKey.delete(row._id)
  }

  return {
    list: () => list,
    has: (key: string) => byKey.has(key),
    get: (key: string) => byKey.get(key),
    apply(change: RowChange) {
      const old = byKey.get(change.key)
      if (change.op === "merge" && !old) return
      if (old) take(old)
      if (change.op === "remove") return
      const row = { ...(change.op === "merge" ? old : undefined), ...change.row, _id: change.key }
      byKey.set(row._id, row)
      list = list.toSpliced(place(row), 0, row)
    },
  }
}

/** Rows that are equal in every named field are ordered by `_id`, so that the order is total. */
export function rowComparison(order: RowOrder) {
  const fields: RowOrder = [...order, ["_id", order.at(-1)?.[1] ?? "asc"]]
  return (left: LiveRow, right: LiveRow) => {
    for (const [field, direction] of fields) {
      const one = (left as unknown as Record<string, unknown>)[field]
      const other = (right as unknown as Record<string, unknown>)[field]
      if (one === other) continue
      const less = isLess(one, other) ? -1 : 1
      return direction === "asc" ? less : -less
    }
    return 0
  }
}

/** PostgreSQL's rule for NULL: last in ascending order. */
function isLess(one: unknown, other: unknown) {
  if (one === null || one === undefined) return false
  if (other === null || other === undefined) return true
  if (typeof one === "string" && typeof other === "string") return isTextBefore(one, other)
  return (one as number) < (other as number)
}
