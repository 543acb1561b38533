import { editsOf, editText, mergeEdits, type Edit } from "./edits.ts"
import { PageUnsettled } from "./page.ts"
import type { Range } from "./range.ts"
import type { Ring } from "./ring.ts"
import { keysTouched } from "./shapes.ts"
import { largeAffects, type Transaction } from "./transactions.ts"

/** The net effect of what has been committed since, row by row. */
export function changesSince(ring: Ring, range: Range, since: bigint, position: bigint): string[] {
  const swept = ring.sweeping(since).some((each) => each.end <= position && affects(each, range))
  if (swept) throw new PageUnsettled({ reread: true })
  const edits = new Map<string, Edit>()
  for (const transaction of ring.touching(range.shape, range.key, since)) {
    if (transaction.end > position) break
    for (const change of transaction.changes) {
      if (change.table !== range.table) continue
      for (const edit of editsOf(range, change, transaction)) {
        const before = edits.get(edit.key)
        edits.set(edit.key, before ? mergeEdits(before, edit) : edit)
      }
    }
  }
  const all = [...edits.values()]
  if (all.some((edit) => edit.op === "partial")) throw new PageUnsettled({ reread: true })
  return all.map(editText)
}

/** Whether a transaction touched a place, or may have. */
export function affects(transaction: Transaction, place: Pick<Range, "shape" | "key">): boolean {
  if (transaction.truncated.has(place.shape.table)) return true
  if (transaction.large && largeAffects(transaction.large, place.shape, place.key)) return true
  return transaction.changes.some(
    (change) => change.table === place.shape.table && keysTouched(place.shape, change).includes(place.key),
  )
}
