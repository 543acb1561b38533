import type { LiveRow, Loaded, Position, RowOrder, SubscriptionSnapshot } from "../protocol/contract.ts"
import { sortedRows, type RowChange } from "./rows.ts"

/** An optimistic change. It stays on top of all incoming changes until its mutation settles. */
export interface PendingChange {
  mutationId: string
  change: RowChange
}

/**
 * The rows of one live query with one set of arguments: the server's rows, with the optimistic
 * changes on top. Readers are notified only by `announce`, so that one commit causes one render.
 * Without `isFollowed` no commit changes the rows.
 */
export function createCollection(loaded: Loaded, isFollowed = true) {
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
    end: loaded.end,
    isFollowed,
    /** The token from which the server can continue the rows; absent if they must be read again. */
    token: loaded.have?.token,
    /** Where the rows stopped being live, with all commits up to there, if they ever were. */
    upTo: undefined as Position | undefined,
    loadedAt: loaded.have?.position,
    /** Commits are applied up to the connection's position: from a snapshot until the subscription ends. */
    live: false,
    /** False for rows that have not been read from the database yet. */
    isRead: loaded.have !== undefined,

    /**
     * The rows to show. While nothing has changed, each of two loaders that read at the same
     * position gets its own rows back.
     */
    rows: (asked: Loaded = loaded) =>
      shown === loaded.rows && isSameMoment(asked, loaded) ? asked.rows : shown,
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
      stale ||= snapshot.kind === "rows" || snapshot.changes.length > 0
      this.token = snapshot.token
      this.live = true
      this.isRead = true
    },
    apply(change: RowChange) {
      synced.apply(change)
      stale = true
    },
    /** Replaces the rows by a loader's newer ones, while no connection keeps them live. */
    adopt(newer: Loaded) {
      order = newer.order
      synced = sortedRows(order, newer.rows)
      this.end = newer.end
      this.token = newer.have?.token
      this.upTo = undefined
      this.loadedAt = newer.have?.position
      this.live = false
      this.isRead = newer.have !== undefined || !isFollowed
      stale = true
    },
    /** Call it when the subscription has ended, with everything up to `position` applied. */
    suspend(position: Position) {
      if (this.live) this.upTo = position
      this.live = false
    },
    /** Whether the rows are at least as new. Positions of different epochs cannot be compared. */
    isPast({ epoch, lsn }: Position): boolean {
      const known = this.upTo ?? this.loadedAt
      return known?.epoch === epoch && known.lsn >= lsn
    },
    /** Keeps the rows on the screen, but removes the token to continue from. */
    forget() {
      this.token = undefined
      this.upTo = undefined
      this.loadedAt = undefined
      this.live = false
    },
    clear() {
      this.forget()
      this.end = null
      this.isRead = true
      synced = sortedRows(order, [])
      pending = []
      stale = true
    },
    show(changes: readonly PendingChange[]) {
      pending = [...pending, ...changes]
      stale ||= changes.length > 0
    },
    /** Removes optimistic changes. `isDone`: the database has made them. */
    settle(isSettled: (mutationId: string) => boolean, isDone: boolean) {
      const left: PendingChange[] = []
      for (const one of pending) {
        if (!isSettled(one.mutationId)) left.push(one)
        // There is no commit that would bring it.
        else if (isDone && !isFollowed) synced.apply(one.change)
      }
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

function isSameMoment({ have: one }: Loaded, { have: other }: Loaded): boolean {
  return (
    one !== undefined &&
    one.position.lsn === other?.position.lsn &&
    one.position.epoch === other.position.epoch
  )
}

/** Converts the wire format's tuple into a change of rows. */
export function rowChange(
  op: "put" | "merge" | "remove",
  key: string,
  row?: Record<string, unknown>,
): RowChange {
  return op === "remove" ? { op, key } : { op, key, row: row ?? {} }
}
