import type { Message } from "./pgoutput.ts"
import { keysTouched, type Shape, type Shapes } from "./shapes.ts"
import type { RowChange, WatchedTable } from "./tables.ts"

/** A committed transaction, as far as it concerns watched tables. */
export interface Transaction {
  readonly xid: bigint
  /**
   * Where its commit record begins. PostgreSQL sends the transaction to readers that start here or
   * earlier, and to none that start later.
   */
  readonly start: bigint
  /** Where it ends in the log: the position of a client that has applied it. */
  readonly end: bigint
  /** Commit time, ms. */
  readonly at: number
  readonly changes: readonly RowChange[]
  readonly truncated: ReadonlySet<WatchedTable>
  /** Set when there were too many changes to keep: only which places they touched. */
  readonly large: LargeSummary | null
  readonly messages: readonly { prefix: string; content: string }[]
  /** The approximate memory that it takes, in bytes. */
  readonly bytes: number
}

export interface LargeSummary {
  readonly tables: ReadonlySet<WatchedTable>
  readonly keys: ReadonlyMap<Shape, ReadonlySet<string>>
}

export interface TransactionLimits {
  readonly changes: number
  readonly bytes: number
}

/** Whether a large transaction touched a place; true also if that is no longer known. */
export function largeAffects(large: LargeSummary, shape: Shape, key: string): boolean {
  if (!large.tables.has(shape.table)) return false
  const keys = large.keys.get(shape)
  return keys === undefined || keys.has(key)
}

interface Draft {
  xid: bigint
  changes: RowChange[]
  truncated: Set<WatchedTable> | null
  messages: { prefix: string; content: string }[] | null
  large: { tables: Set<WatchedTable>; keys: Map<Shape, Set<string>>; kept: number } | null
  bytes: number
}

/** The value that nearly every transaction has. */
export const NO_TABLES: ReadonlySet<WatchedTable> = new Set()
const NO_MESSAGES: readonly [] = []

/**
 * Collects messages into whole transactions. Protocol version 1 sends a transaction only once it
 * has committed.
 */
export class Assembler {
  readonly #shapes: Shapes
  readonly #limits: TransactionLimits
  readonly #widen: (xid: number) => bigint
  #draft: Draft | null = null

  constructor(shapes: Shapes, limits: TransactionLimits, widen: (xid: number) => bigint) {
    this.#shapes = shapes
    this.#limits = limits
    this.#widen = widen
  }

  idle() {
    return this.#draft === null
  }

  reset() {
    this.#draft = null
  }

  take(message: Message, bytes: number): Transaction | null {
    if (message.kind === "begin") {
      this.#draft = {
        xid: this.#widen(message.xid),
        changes: [],
        truncated: null,
        messages: null,
        large: null,
        bytes: 0,
      }
      return null
    }
    if (this.#draft === null) return null // a message that belongs to no transaction
    if (message.kind !== "commit") {
      this.#add(this.#draft, message, bytes)
      return null
    }
    const { xid, changes, truncated, large, messages, bytes: size } = this.#draft
    this.#draft = null
    const { start, end, at } = message
    const rest = { truncated: truncated ?? NO_TABLES, messages: messages ?? NO_MESSAGES }
    return { xid, start, end, at, changes, ...rest, large, bytes: size }
  }

  #add(to: Draft, message: Exclude<Message, { kind: "begin" | "commit" }>, bytes: number): void {
    switch (message.kind) {
      case "insert":
        return this.#keep(to, { table: message.table, inserted: true, old: null, row: message.row }, bytes)
      case "update":
        return this.#keep(
          to,
          { table: message.table, inserted: false, old: message.old, row: message.row },
          bytes,
        )
      case "delete":
        return this.#keep(to, { table: message.table, inserted: false, old: message.old, row: null }, bytes)
      case "truncate":
        to.truncated ??= new Set()
        for (const table of message.tables) to.truncated.add(table)
        return
      case "message":
        if (message.transactional && message.prefix.startsWith("realtime."))
          (to.messages ??= []).push(message)
    }
  }

  #keep(to: Draft, change: RowChange, bytes: number): void {
    if (to.large) return this.#summarize(to, change)
    to.changes.push(change)
    to.bytes += 2 * bytes + 100
    if (to.changes.length <= this.#limits.changes && to.bytes <= this.#limits.bytes) return
    const kept = to.changes
    to.changes = []
    to.large = { tables: new Set(), keys: new Map(), kept: 0 }
    to.bytes = 1000
    for (const each of kept) this.#summarize(to, each)
  }

  #summarize(to: Draft, change: RowChange): void {
    const large = to.large
    if (!large) return
    large.tables.add(change.table)
    for (const shape of this.#shapes.of(change.table)) {
      // Beyond this many places none are kept: then every place of the table counts as touched.
      if (large.kept > this.#limits.changes * 4) {
        large.keys.clear()
        return
      }
      let keys = large.keys.get(shape)
      if (!keys) large.keys.set(shape, (keys = new Set()))
      for (const key of keysTouched(shape, change)) {
        if (keys.has(key)) continue
        keys.add(key)
        large.kept += 1
        to.bytes += 100
      }
    }
  }
}
