import { keysTouched, type Shape } from "./shapes.ts"
import { sees, type Visibility } from "./visibility.ts"
import type { Transaction } from "./transactions.ts"

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

interface Entry {
  readonly transaction: Transaction
  readonly arrivedAt: number
  /** The clock when a snapshot that sees it was complete: every snapshot started later sees it too. */
  seenAt: number
  /** Every open snapshot sees it. */
  settled: boolean
}

const NOT_YET = Number.POSITIVE_INFINITY

/**
 * The recent transactions, for two uses: to continue a client that was away, and to complete a snapshot, because a commit can be streamed
 * before snapshots see it. The second use decides when an entry may go: not before some snapshot has seen it.
 */
export class Ring {
  readonly #limits: RingLimits
  readonly #now: () => number
  /** Oldest first; `#first` counts those already dropped from the front. */
  #entries: (Entry | undefined)[] = []
  #first = 0
  #bytes = 0
  #start: bigint
  #end: bigint
  #clock = 0
  #unseen: Entry[] = []
  /** Ids of transactions that had to be dropped unseen; a snapshot that lacks one of them cannot be completed. */
  #owed = new Set<bigint>()
  readonly #open = new Set<Ticket>()
  #restarts = 0
  /** Where each place of each shape was touched: transactions, oldest first. */
  readonly #touches = new Map<Shape, Map<string, Transaction[]>>()
  readonly #sweeping = new Set<Transaction>()

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
    return oldest ? oldest.transaction.start : this.#end
  }
  /** How far the log has been read. */
  get end(): bigint {
    return this.#end
  }
  get bytes(): number {
    return this.#bytes
  }
  get length(): number {
    return this.#entries.length - this.#first
  }

  append(transaction: Transaction): void {
    const entry = { transaction, arrivedAt: this.#now(), seenAt: NOT_YET, settled: false }
    this.#entries.push(entry)
    this.#unseen.push(entry)
    this.#bytes += transaction.bytes + 200
    this.#end = transaction.end
    for (const [shape, places] of this.#touches) post(places, shape, transaction)
    if (transaction.large || transaction.truncated.size > 0) this.#sweeping.add(transaction)
    if (this.#bytes > this.#limits.bytes) this.prune()
  }

  /** Everything up to here has been read and held nothing of interest. */
  advance(lsn: bigint): void {
    if (lsn > this.#end) this.#end = lsn
  }

  /** Forgets everything: there is a hole before `start`. */
  restart(start: bigint): void {
    this.#entries = []
    this.#first = 0
    this.#bytes = 0
    this.#unseen = []
    this.#owed.clear()
    this.#sweeping.clear()
    for (const places of this.#touches.values()) places.clear()
    this.#start = start
    this.#end = start
    this.#restarts += 1
  }

  addShape(shape: Shape): void {
    const places = new Map<string, Transaction[]>()
    this.#touches.set(shape, places)
    for (let index = this.#first; index < this.#entries.length; index++) {
      const entry = this.#entries[index]
      if (entry) post(places, shape, entry.transaction)
    }
  }

  /** Transactions after `since` that touched a place, oldest first; large ones and truncates are in `sweeping`. */
  touching(shape: Shape, key: string, since: bigint): readonly Transaction[] {
    const touched = this.#touches.get(shape)?.get(key) ?? []
    return touched.slice(firstAfter(touched, since))
  }

  /** Transactions after `since` whose reach is not known row by row. There are few, so they are searched for. */
  sweeping(since: bigint): readonly Transaction[] {
    return [...this.#sweeping].filter((transaction) => transaction.end > since)
  }

  beginSnapshot(): Ticket {
    const ticket = { startedAt: ++this.#clock, restarts: this.#restarts }
    this.#open.add(ticket)
    return ticket
  }

  /** Tells what the snapshot sees, once it is known. */
  learn(visibility: Visibility): void {
    const seenAt = ++this.#clock
    for (const entry of this.#unseen) {
      if (entry.seenAt === NOT_YET && sees(visibility, entry.transaction.xid)) entry.seenAt = seenAt
    }
    for (const xid of this.#owed) if (sees(visibility, xid)) this.#owed.delete(xid)
  }

  endSnapshot(ticket: Ticket): void {
    this.#open.delete(ticket)
    let oldest = NOT_YET
    for (const open of this.#open) oldest = Math.min(oldest, open.startedAt)
    for (const entry of this.#unseen) entry.settled = entry.seenAt < oldest
    if (this.#unseen.some((entry) => entry.settled)) {
      this.#unseen = this.#unseen.filter((entry) => !entry.settled)
    }
  }

  /**
   * What the stream has delivered and the snapshot does not see, oldest first; to be added to what was read. Null when that cannot be told
   * any more: take another snapshot. A hole in the stream may hold what a snapshot from before it lacks.
   */
  missingFrom(ticket: Ticket, visibility: Visibility): readonly Transaction[] | null {
    if (ticket.restarts !== this.#restarts) return null
    for (const xid of this.#owed) if (!sees(visibility, xid)) return null
    return this.#unseen
      .filter((entry) => !sees(visibility, entry.transaction.xid))
      .map((entry) => entry.transaction)
  }

  /** Drops what is too old or too much. */
  prune(): void {
    const horizon = this.#now() - this.#limits.windowMs
    for (;;) {
      const entry = this.#entries[this.#first]
      if (!entry) break
      const crowded = this.#bytes > this.#limits.bytes
      if (entry.arrivedAt > horizon && !crowded) break
      if (!entry.settled) {
        if (!crowded) break
        this.#owed.add(entry.transaction.xid)
        // The oldest of all is the oldest of these too.
        this.#unseen.shift()
      }
      this.#drop(entry)
    }
    if (this.#first > 1024 && this.#first * 2 > this.#entries.length) {
      this.#entries = this.#entries.slice(this.#first)
      this.#first = 0
    }
  }

  #drop(entry: Entry): void {
    const { transaction } = entry
    this.#entries[this.#first] = undefined
    this.#first += 1
    this.#bytes -= transaction.bytes + 200
    this.#start = transaction.end
    this.#sweeping.delete(transaction)
    for (const [shape, places] of this.#touches) withdraw(places, shape, transaction)
  }
}

function post(places: Map<string, Transaction[]>, shape: Shape, transaction: Transaction): void {
  for (const change of transaction.changes) {
    if (change.table !== shape.table) continue
    for (const key of keysTouched(shape, change)) {
      const touched = places.get(key)
      if (!touched) places.set(key, [transaction])
      else if (touched.at(-1) !== transaction) touched.push(transaction)
    }
  }
}

/** The index of the first transaction past a position. */
function firstAfter(transactions: readonly Transaction[], since: bigint): number {
  let low = 0
  let high = transactions.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((transactions[middle]?.end ?? 0n) > since) high = middle
    else low = middle + 1
  }
  return low
}

function withdraw(places: Map<string, Transaction[]>, shape: Shape, transaction: Transaction): void {
  for (const change of transaction.changes) {
    if (change.table !== shape.table) continue
    for (const key of keysTouched(shape, change)) {
      const touched = places.get(key)
      if (touched?.[0] !== transaction) continue
      if (touched.length === 1) places.delete(key)
      else touched.shift()
    }
  }
}
