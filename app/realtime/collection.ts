import type { LiveRow, Loaded, RowOrder, SubscriptionSnapshot } from "#server/realtime/contract.ts"
import { sortedRows, type RowChange } from "./rows.ts"

/** A change shown before the server has answered. It stays on top of whatever arrives until it settles. */
export interface PendingChange {
  mutationId: string
  change: RowChange
}

/**
 * The rows of one live query with one set of arguments: what the server said, with the changes that are still on
 * their way laid over it. Nothing is announced to readers until `announce`, so that one commit is one update of the screen.
 */
export function createCollection(loaded: Loaded) {
  const readers = new Set<() => void>()
  let order: RowOrder = loaded.order
  let synced = sortedRows(order, loaded.rows)
  let pending: PendingChange[] = []
  let shown: readonly LiveRow[] = loaded.rows
  let stale = false

  function overlay(): readonly LiveRow[] {
    if (pending.length === 0) return synced.list()
    const view = sortedRows(order, synced.list())
    for (const { change } of pending) view.apply(change)
    return view.list()
  }

  return {
    query: loaded.query,
    args: loaded.args,
    token: loaded.have?.token,
    end: loaded.end,
    /** True from the first snapshot on: then commits have been applied up to the connection's position. */
    live: false,

    rows: () => shown,
    watch(reader: () => void) {
      readers.add(reader)
      return () => void readers.delete(reader)
    },
    applySnapshot(snapshot: SubscriptionSnapshot) {
      if (snapshot.kind === "rows") {
        order = snapshot.order
        synced = sortedRows(order, snapshot.rows)
        this.end = snapshot.end
      } else {
        for (const [, op, key, row] of snapshot.changes) synced.apply(rowChange(op, key, row))
      }
      this.token = snapshot.token
      this.live = true
      stale = true
    },
    apply(change: RowChange) {
      synced.apply(change)
      stale = true
    },
    /** Takes a loader's newer rows while no connection keeps these live. */
    adopt(newer: Loaded) {
      order = newer.order
      synced = sortedRows(order, newer.rows)
      this.end = newer.end
      this.token = newer.have?.token
      this.live = false
      stale = true
    },
    clear() {
      synced = sortedRows(order, [])
      pending = []
      stale = true
    },
    show(change: PendingChange) {
      pending = [...pending, change]
      stale = true
    },
    settle(isSettled: (mutationId: string) => boolean) {
      const left = pending.filter(({ mutationId }) => !isSettled(mutationId))
      stale ||= left.length < pending.length
      pending = left
    },
    holds: (key: string) => synced.has(key),
    announce() {
      if (!stale) return
      stale = false
      shown = overlay()
      for (const reader of readers) reader()
    },
  }
}

export type Collection = ReturnType<typeof createCollection>

/** The wire's tuple as a change of rows. */
export function rowChange(
  op: "put" | "merge" | "remove",
  key: string,
  row?: Record<string, unknown>,
): RowChange {
  return op === "remove" ? { op, key } : { op, key, row: row ?? {} }
}
