import { keysTouched, type Shape } from "./shapes.ts"
import { Tape } from "./tape.ts"
import { Touches } from "./touches.ts"
import type { Transaction } from "./transactions.ts"
import { sees, type Visibility } from "./visibility.ts"

export interface RingLimits {
  /** How long a client may be away and still continue. */
  readonly windowMs: number
  readonly bytes: number
}

/** Marks a snapshot from the moment it was asked for, so that the ring keeps what it may not see. */
export interface Ticket {
  readonly startedAt: number
  readonly restarts: number
}

/** A transaction that some open snapshot may not see. */
interface Unseen {
  readonly number: number
  readonly xid: bigint
  readonly start: bigint
  /** The clock when a snapshot that sees it was complete: every snapshot started later sees it too. */
  seenAt: number
}

const NOT_YET = Number.POSITIVE_INFINITY

/** Bytes that the ring keeps of each transaction beside its own: where it is, and what it touched. */
const BESIDE = 100

/**
 * The recent transactions, for two uses: to continue a client that was away, and to complete a snapshot, because a commit can be streamed
 * before snapshots see it. The second use decides when an entry may go: not before some snapshot has seen it.
 */
export class Ring {
  readonly #limits: RingLimits
  readonly #now: () => number
  readonly #tape = new Tape()
  #bytes = 0
  #start: bigint
  #end: bigint
  #clock = 0
  /** Oldest first. */
  #unseen: Unseen[] = []
  /** Ids of transactions that had to be dropped unseen; a snapshot that lacks one of them cannot be completed. */
  #owed = new Set<bigint>()
  readonly #open = new Set<Ticket>()
  #restarts = 0
  readonly #touches = new Map<Shape, Touches>()
  /** Truncates and large ones, by number: they have more than what the tape keeps. */
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
  /** Where another process may begin to read and still find everything that snapshots may not see yet. */
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
    return this.#tape.next - this.#tape.first
  }

  append(transaction: Transaction): void {
    const number = this.#tape.next
    const { xid, start } = transaction
    this.#tape.append(transaction, this.#now())
    this.#unseen.push({ number, xid, start, seenAt: NOT_YET })
    this.#end = transaction.end
    for (const [shape, touches] of this.#touches) this.#enter(touches, shape, number, transaction)
    if (transaction.large || transaction.truncated.size > 0) this.#sweeping.set(number, transaction)
    this.#bytes += this.#bytesOf(number)
    if (this.#bytes > this.#limits.bytes) this.prune()
  }

  /** Everything up to here has been read and held nothing of interest. */
  advance(lsn: bigint): void {
    if (lsn > this.#end) this.#end = lsn
  }

  /** Forgets everything: there is a hole before `start`. */
  restart(start: bigint): void {
    this.#tape.clear()
    this.#bytes = 0
    this.#unseen = []
    this.#owed.clear()
    this.#sweeping.clear()
    this.#start = start
    this.#end = start
    this.#restarts += 1
  }

  addShape(shape: Shape): void {
    const touches = new Touches()
    this.#touches.set(shape, touches)
    for (let number = this.#tape.first; number < this.#tape.next; number++) {
      this.#enter(touches, shape, number, this.#tape.glance(number, shape))
    }
  }

  /** Transactions after `since` that touched a place, oldest first; large ones and truncates are in `sweeping`. */
  touching(shape: Shape, key: string, since: bigint): readonly Transaction[] {
    const found: Transaction[] = []
    for (const number of this.#touches.get(shape)?.newestFirst(key, this.#tape.first) ?? []) {
      if (this.#tape.endOf(number) <= since) break
      const transaction = this.#get(number)
      if (hasTouched(transaction, shape, key)) found.push(transaction)
    }
    return found.toReversed()
  }

  /** Transactions after `since` whose reach is not known row by row. There are few, so they are searched for. */
  sweeping(since: bigint): readonly Transaction[] {
    return [...this.#sweeping.values()].filter((transaction) => transaction.end > since)
  }

  beginSnapshot(): Ticket {
    const ticket = { startedAt: ++this.#clock, restarts: this.#restarts }
    this.#open.add(ticket)
    return ticket
  }

  /** Tells what the snapshot sees, once it is known. */
  learn(visibility: Visibility): void {
    const seenAt = ++this.#clock
    for (const each of this.#unseen) {
      if (each.seenAt === NOT_YET && sees(visibility, each.xid)) each.seenAt = seenAt
    }
    for (const xid of this.#owed) if (sees(visibility, xid)) this.#owed.delete(xid)
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
   * What the stream has delivered and the snapshot does not see, oldest first; to be added to what was read. Null when that cannot be told
   * any more: take another snapshot. A hole in the stream may hold what a snapshot from before it lacks.
   */
  missingFrom(ticket: Ticket, visibility: Visibility): readonly Transaction[] | null {
    if (ticket.restarts !== this.#restarts) return null
    for (const xid of this.#owed) if (!sees(visibility, xid)) return null
    return this.#unseen.filter(({ xid }) => !sees(visibility, xid)).map(({ number }) => this.#get(number))
  }

  /** Drops what is too old or too much. */
  prune(): void {
    const horizon = this.#now() - this.#limits.windowMs
    while (this.length > 0) {
      const oldest = this.#tape.first
      const crowded = this.#bytes > this.#limits.bytes
      if (!crowded && this.#tape.arrivalOf(oldest) > horizon) break
      const unseen = this.#unseen[0]
      if (unseen?.number === oldest) {
        if (!crowded) break
        this.#owed.add(unseen.xid)
        this.#unseen.shift()
      }
      this.#drop(oldest)
    }
    this.#tape.forget()
  }

  #drop(oldest: number): void {
    this.#start = this.#tape.endOf(oldest)
    this.#bytes -= this.#bytesOf(oldest)
    this.#sweeping.delete(oldest)
    this.#tape.dropFirst()
  }

  #get(number: number): Transaction {
    return this.#sweeping.get(number) ?? this.#tape.get(number)
  }

  #bytesOf(number: number): number {
    return this.#tape.bytesOf(number) + (this.#sweeping.get(number)?.bytes ?? 0) + BESIDE
  }

  #enter(touches: Touches, shape: Shape, number: number, { changes }: Transaction): void {
    for (const change of changes) {
      if (change.table !== shape.table) continue
      for (const key of keysTouched(shape, change)) touches.add(key, number, this.#tape.first)
    }
  }
}

function hasTouched({ changes }: Transaction, shape: Shape, key: string): boolean {
  return changes.some((change) => change.table === shape.table && keysTouched(shape, change).includes(key))
}
