import { keysTouched, type Shape } from "./shapes.ts"
import { TransactionSlabs } from "./transaction-slabs.ts"
import { TransactionIndex } from "./transaction-index.ts"
import type { Transaction } from "./transactions.ts"
import { sees, type Moment, type Visibility } from "./visibility.ts"

export interface RingLimits {
  /** How long a client may be disconnected and still continue. */
  readonly windowMs: number
  readonly bytes: number
}

/**
 * Registers a snapshot before it is taken, so that the ring keeps the transactions that it may not
 * see.
 */
export interface Ticket {
  readonly startedAt: number
  readonly restarts: number
  readonly doubts: number
}

/** A transaction that some open snapshot may not see. */
interface Unseen extends Moment {
  readonly number: number
  readonly start: bigint
  /**
   * The time at which a snapshot that sees it was complete: every snapshot started later sees it
   * too.
   */
  seenAt: number
}

const NOT_YET = Number.POSITIVE_INFINITY

/**
 * Bytes that the ring keeps for each transaction besides its own: its position, and what it
 * touched.
 */
const BESIDE = 100

/**
 * The recent transactions, for two purposes: to continue a client that was disconnected, and to
 * complete a snapshot, because a commit can be streamed before snapshots see it. The second decides
 * when an entry may be dropped: not before a snapshot has seen it.
 */
export class Ring {
  readonly #limits: RingLimits
  readonly #now: () => number
  readonly #transactions = new TransactionSlabs()
  #bytes = 0
  #start: bigint
  #end: bigint
  #clock = 0
  /** Oldest first. */
  #unseen: Unseen[] = []
  /**
   * Transactions that had to be dropped before any snapshot saw them. A snapshot that lacks one of
   * them cannot be completed.
   */
  #owed = new Set<Moment>()
  readonly #open = new Set<Ticket>()
  #restarts = 0
  #doubts = 0
  readonly #indexes = new Map<Shape, TransactionIndex>()
  /** Truncates and large transactions, by number: they have data that the slab does not hold. */
  readonly #sweeping = new Map<number, Transaction>()

  constructor(limits: RingLimits, start: bigint, now: () => number = () => performance.now()) {
    this.#limits = limits
    this.#now = now
    this.#start = start
    this.#end = start
  }

  /** Every transaction that ended after this is here. */
  get start(): bigint {
    return this.#start
  }
  /**
   * The position from which another process can start reading and still find everything that
   * snapshots may not see yet.
   */
  get settled(): bigint {
    const oldest = this.#unseen.find((entry) => entry.seenAt === NOT_YET)
    return oldest ? oldest.start : this.#end
  }
  /** How far the log has been read. */
  get end(): bigint {
    return this.#end
  }
  get bytes(): number {
    return this.#bytes
  }
  get length(): number {
    return this.#transactions.next - this.#transactions.first
  }

  append(transaction: Transaction): void {
    const number = this.#transactions.next
    const { xid, start, end } = transaction
    this.#transactions.append(transaction, this.#now())
    this.#unseen.push({ number, xid, start, end, seenAt: NOT_YET })
    this.#end = transaction.end
    for (const [shape, index] of this.#indexes) this.#enter(index, shape, number, transaction)
    if (transaction.large || transaction.truncated.size > 0) this.#sweeping.set(number, transaction)
    this.#bytes += this.#bytesOf(number)
    if (this.#bytes > this.#limits.bytes) this.prune()
  }

  /** Everything up to here has been read and contained nothing of interest. */
  advance(lsn: bigint): void {
    if (lsn > this.#end) this.#end = lsn
  }

  /** Drops everything: the log before `start` was not read. */
  restart(start: bigint): void {
    this.#transactions.clear()
    this.#bytes = 0
    this.#unseen = []
    this.#owed.clear()
    this.#sweeping.clear()
    this.#start = start
    this.#end = start
    this.#restarts += 1
  }

  /**
   * Snapshots are read from another server now: what those of the last one saw says nothing about
   * its own.
   */
  doubt(): void {
    this.#doubts += 1
    this.#unseen = []
    for (let number = this.#transactions.first; number < this.#transactions.next; number++) {
      this.#unseen.push({ number, ...this.#transactions.placeOf(number), seenAt: NOT_YET })
    }
  }

  addShape(shape: Shape): void {
    const index = new TransactionIndex()
    this.#indexes.set(shape, index)
    for (let number = this.#transactions.first; number < this.#transactions.next; number++) {
      this.#enter(index, shape, number, this.#transactions.unpackColumns(number, shape))
    }
  }

  /**
   * Transactions after `since` that touched a place, oldest first; large ones and truncates are in
   * `sweeping`.
   */
  touching(shape: Shape, key: string, since: bigint): readonly Transaction[] {
    const found: Transaction[] = []
    for (const number of this.#indexes.get(shape)?.newestFirst(key, this.#transactions.first) ?? []) {
      if (this.#transactions.endOf(number) <= since) break
      const transaction = this.#get(number)
      if (hasTouched(transaction, shape, key)) found.push(transaction)
    }
    return found.toReversed()
  }

  /**
   * Transactions after `since` whose effects are not known row by row. They are few, so they are
   * searched one by one.
   */
  sweeping(since: bigint): readonly Transaction[] {
    return [...this.#sweeping.values()].filter((transaction) => transaction.end > since)
  }

  beginSnapshot(): Ticket {
    const ticket = { startedAt: ++this.#clock, restarts: this.#restarts, doubts: this.#doubts }
    this.#open.add(ticket)
    return ticket
  }

  /** Records what the snapshot sees, once it is known. */
  learn(ticket: Ticket, visibility: Visibility): void {
    if (ticket.doubts !== this.#doubts) return
    const seenAt = ++this.#clock
    for (const each of this.#unseen) {
      if (each.seenAt === NOT_YET && sees(visibility, each)) each.seenAt = seenAt
    }
    for (const each of this.#owed) if (sees(visibility, each)) this.#owed.delete(each)
  }

  endSnapshot(ticket: Ticket): void {
    this.#open.delete(ticket)
    let oldest = NOT_YET
    for (const open of this.#open) oldest = Math.min(oldest, open.startedAt)
    if (this.#unseen.some(({ seenAt }) => seenAt < oldest)) {
      this.#unseen = this.#unseen.filter(({ seenAt }) => seenAt >= oldest)
    }
  }

  /**
   * The transactions, oldest first, that the stream has delivered and the snapshot does not see:
   * apply them to the rows that were read. Null if that is no longer known, and another snapshot is
   * needed. A gap in the stream may contain transactions that an earlier snapshot lacks.
   */
  missingFrom(ticket: Ticket, visibility: Visibility): readonly Transaction[] | null {
    if (ticket.restarts !== this.#restarts) return null
    for (const each of this.#owed) if (!sees(visibility, each)) return null
    return this.#unseen.filter((each) => !sees(visibility, each)).map(({ number }) => this.#get(number))
  }

  /** Drops transactions that are too old, or more than fit. */
  prune(): void {
    const horizon = this.#now() - this.#limits.windowMs
    while (this.length > 0) {
      const oldest = this.#transactions.first
      const crowded = this.#bytes > this.#limits.bytes
      if (!crowded && this.#transactions.arrivalOf(oldest) > horizon) break
      const unseen = this.#unseen[0]
      if (unseen?.number === oldest) {
        if (!crowded) break
        this.#owed.add({ xid: unseen.xid, end: unseen.end })
        this.#unseen.shift()
      }
      this.#drop(oldest)
    }
    this.#transactions.forget()
  }

  #drop(oldest: number): void {
    this.#start = this.#transactions.endOf(oldest)
    this.#bytes -= this.#bytesOf(oldest)
    this.#sweeping.delete(oldest)
    this.#transactions.dropFirst()
  }

  #get(number: number): Transaction {
    return this.#sweeping.get(number) ?? this.#transactions.get(number)
  }

  #bytesOf(number: number): number {
    return this.#transactions.bytesOf(number) + (this.#sweeping.get(number)?.bytes ?? 0) + BESIDE
  }

  #enter(index: TransactionIndex, shape: Shape, number: number, { changes }: Transaction): void {
    for (const change of changes) {
      if (change.table !== shape.table) continue
      for (const key of keysTouched(shape, change)) index.add(key, number, this.#transactions.first)
    }
  }
}

function hasTouched({ changes }: Transaction, shape: Shape, key: string): boolean {
  return changes.some((change) => change.table === shape.table && keysTouched(shape, change).includes(key))
}
