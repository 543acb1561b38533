import type { LiveRow, Loaded, Position, RowOrder, SubscriptionSnapshot } from "../protocol/contract.ts"
import { sortedRows, type RowChange, type SortedRows } from "./rows.ts"

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
export class Collection {
  readonly query: string
  readonly args: unknown
  readonly isFollowed: boolean
  end: Loaded["end"]
  /** The token from which the server can continue the rows; absent if they must be read again. */
  token: string | undefined
  /**
   * The position up to which commits were applied when the rows stopped being live, if they ever
   * were.
   */
  upTo: Position | undefined
  loadedAt: Position | undefined
  /**
   * True from a snapshot until the subscription ends: commits are applied up to the connection's
   * position.
   */
  live = false
  /** False for rows that have not been read from the database yet. */
  isRead: boolean
  readonly #loaded: Loaded
  readonly #readers = new Set<() => void>()
  #order: RowOrder
  #synced: SortedRows
  #pending: PendingChange[] = []
  #shown: readonly LiveRow[]
  #stale = false

  constructor(loaded: Loaded, isFollowed = true) {
    this.#loaded = loaded
    this.query = loaded.query
    this.args = loaded.args
    this.isFollowed = isFollowed
    this.end = loaded.end
    this.token = loaded.have?.token
    this.loadedAt = loaded.have?.position
    this.isRead = loaded.have !== undefined
    this.#order = loaded.order
    this.#synced = sortedRows(loaded.order, loaded.rows)
    this.#shown = loaded.rows
  }

  /**
   * The rows to show. While nothing has changed, each of two loaders that read at the same
   * position gets its own rows back.
   */
  rows(asked: Loaded = this.#loaded): readonly LiveRow[] {
    return this.#shown === this.#loaded.rows && isSameMoment(asked, this.#loaded) ? asked.rows : this.#shown
  }

  readonly watch = (reader: () => void) => {
    this.#readers.add(reader)
    return () => void this.#readers.delete(reader)
  }

  applySnapshot(snapshot: SubscriptionSnapshot): void {
    if (snapshot.kind === "rows") {
      this.#order = snapshot.order
      this.#synced = sortedRows(snapshot.order, snapshot.rows)
      this.end = snapshot.end
    } else {
      for (const [, op, key, row] of snapshot.changes) this.#synced.apply(rowChange(op, key, row))
    }
    this.#stale ||= snapshot.kind === "rows" || snapshot.changes.length > 0
    this.token = snapshot.token
    this.live = true
    this.isRead = true
  }

  apply(change: RowChange): void {
    this.#synced.apply(change)
    this.#stale = true
  }

  /** Replaces the rows by a loader's newer ones, while no connection keeps them live. */
  adopt(newer: Loaded): void {
    this.#order = newer.order
    this.#synced = sortedRows(newer.order, newer.rows)
    this.end = newer.end
    this.token = newer.have?.token
    this.upTo = undefined
    this.loadedAt = newer.have?.position
    this.live = false
    this.isRead = newer.have !== undefined || !this.isFollowed
    this.#stale = true
  }

  /** Call it when the subscription has ended, with everything up to `position` applied. */
  suspend(position: Position): void {
    if (this.live) this.upTo = position
    this.live = false
  }

  /**
   * Whether the rows are at least as new as this position. False for positions of different
   * epochs, which cannot be compared.
   */
  isPast({ epoch, lsn }: Position): boolean {
    const known = this.upTo ?? this.loadedAt
    return known?.epoch === epoch && known.lsn >= lsn
  }

  /** Keeps the rows on the screen, but removes the token to continue from. */
  forget(): void {
    this.token = undefined
    this.upTo = undefined
    this.loadedAt = undefined
    this.live = false
  }

  clear(): void {
    this.forget()
    this.end = null
    this.isRead = true
    this.#synced = sortedRows(this.#order, [])
    this.#pending = []
    this.#stale = true
  }

  show(changes: readonly PendingChange[]): void {
    this.#pending = [...this.#pending, ...changes]
    this.#stale ||= changes.length > 0
  }

  /** Removes optimistic changes. `isDone`: the database has made them. */
  settle(isSettled: (mutationId: string) => boolean, isDone: boolean): void {
    const left: PendingChange[] = []
    for (const one of this.#pending) {
      if (!isSettled(one.mutationId)) left.push(one)
      // There is no commit that would bring it.
      else if (isDone && !this.isFollowed) this.#synced.apply(one.change)
    }
    this.#stale ||= left.length < this.#pending.length
    this.#pending = left
  }

  holds(key: string): boolean {
    return this.#synced.has(key)
  }

  announce(): void {
    if (!this.#stale) return
    this.#stale = false
    this.#shown = this.#overlay()
    for (const reader of this.#readers) reader()
  }

  #overlay(): readonly LiveRow[] {
    if (this.#pending.length === 0) return this.#synced.list()
    const view = sortedRows(this.#order, this.#synced.list())
    for (const { change } of this.#pending) view.apply(change)
    return view.list()
  }
}

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
