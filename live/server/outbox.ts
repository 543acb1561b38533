import type { GoodbyeEvent, Lsn, ResetEvent, RevokedEvent } from "../protocol/contract.ts"
import { editText, mergeEdits, type Edit } from "./edits.ts"
import { CHANNEL_LIMITS, OUTBOX_LIMITS, type OutboxLimits } from "./limits.ts"
import { lsnToWire } from "./lsn.ts"

/** An event for a client, before it has its sequence number: `"event",{"sequence":` … `rest`. */
interface Waiting {
  readonly kind: "event"
  readonly event: string
  readonly rest: string
  /** The client's position after it, if it changes that. */
  readonly lsn: bigint | null
}

/** An event of a channel, which is not stored: `"event",{"sequence":` … `,"id":` … `tail`. */
export interface Broadcast {
  readonly event: "message" | "members"
  readonly id: number
  readonly channel: string
  /** One that waits is replaced by the next of the same event, subscription, channel and subject. */
  readonly subject: string
  readonly tail: string
}

/** Commits held back, merged row by row: still one step from a consistent state to another. */
interface Batch {
  readonly kind: "batch"
  lsn: bigint
  at: number
  xids: string[]
  readonly edits: Map<number, Map<string, Edit>>
  bytes: number
}

/** A commit's position and the texts that are the same for all recipients. */
export interface CommitHeader {
  readonly lsn: bigint
  readonly at: number
  readonly xid: string
  readonly text: string
}

/**
 * Everything that is sent to one client goes through here, in order and numbered. A client that
 * does not acknowledge receives nothing more: its commits are merged, and dropped beyond a limit.
 * Either way its memory is bounded.
 */
export class Outbox {
  readonly #send: (frame: string) => void
  readonly #limits: OutboxLimits
  readonly #clock: () => number
  #sequence = 0
  #acknowledged = 0
  /** Sizes of the events after `#acknowledged`; -1 for an event of a channel. */
  #sizes: number[] = []
  #bytesInFlight = 0
  #broadcastsInFlight = 0
  #broadcasts = new Map<string, Broadcast>()
  #waiting: (Waiting | Batch)[] | null = null
  #waitingBytes = 0
  #batchBytes = 0
  #held = 0
  /** The current commit's edits, by pairs of subscription and edit. */
  #staged: (number | Edit)[] = []
  #lsn = 0n
  /** When the client last kept up, for the check that looks for slow ones. */
  #freeAt: number
  sentAt: number

  constructor(send: (frame: string) => void, clock: () => number, limits: OutboxLimits = OUTBOX_LIMITS) {
    this.#send = send
    this.#clock = clock
    this.#limits = limits
    this.#freeAt = clock()
    this.sentAt = clock()
  }

  /** The position of the last event that was sent, not merely queued. */
  get lsn(): bigint {
    return this.#lsn
  }
  get backlogBytes(): number {
    return this.#waitingBytes
  }
  /**
   * The memory that the client takes, in bytes: unacknowledged events and waiting ones. Waiting
   * edits in `counted` were counted for another client that shares them; the others are added to
   * it.
   */
  measure(counted: Set<Edit>): number {
    let shared = 0
    for (const { edit } of this.waitingEdits()) {
      if (counted.has(edit)) shared += edit.row === null ? 0 : sizeOf(edit) - OWN_BYTES
      else counted.add(edit)
    }
    return this.#bytesInFlight + Math.max(0, this.#waitingBytes - shared)
  }
  /** Whether too many commits are waiting. Snapshots are limited where they are taken. */
  get overflowing(): boolean {
    return this.#batchBytes > this.#limits.backlogBytes
  }
  get held(): boolean {
    return this.#held > 0
  }
  /** For how long something has been waiting for the client. */
  stalledMs(): number {
    return this.#waiting === null || this.#held > 0 ? 0 : this.#clock() - this.#freeAt
  }

  /** Adds an edit to the commit that is being assembled; true if it is the first. */
  stage(id: number, edit: Edit): boolean {
    return this.#staged.push(id, edit) === 2
  }

  /** Sends the staged edits as one commit, or merges them into what is already waiting. */
  commit(header: CommitHeader): void {
    const staged = this.#staged
    this.#staged = []
    if (this.#waiting === null && this.#hasCredit()) {
      let changes = ""
      for (let index = 0; index < staged.length; index += 2) {
        // Pairs, as `stage` pushed them.
        const text = `[${staged[index] as number},${editText(staged[index + 1] as Edit)}`
        changes = changes === "" ? text : `${changes},${text}`
      }
      this.#lsn = header.lsn
      this.#emit("commit", `${header.text}${changes}]}]`)
      return
    }
    this.#postpone(header, staged)
  }

  /**
   * Sends an event of a channel if the client keeps up, or keeps it until it does, beside everything
   * else: it takes no credit from commits, and waits while they do. Of those that wait, a newer one
   * replaces one of the same subject, and beyond the limit the oldest message is dropped. Lists of
   * members are not: no later event would correct them, and there is one for each joined channel at
   * most. Returns how many messages were dropped.
   */
  broadcast(broadcast: Broadcast): number {
    if (this.#waiting === null && this.#broadcasts.size === 0 && this.#canBroadcast()) {
      this.#emitBroadcast(broadcast)
      return 0
    }
    const { event, id, channel, subject } = broadcast
    const key = `${event} ${id} ${channel} ${subject}`
    const replaced = this.#broadcasts.delete(key)
    this.#broadcasts.set(key, broadcast)
    if (replaced) return event === "message" ? 1 : 0
    if (this.#broadcasts.size <= CHANNEL_LIMITS.waiting) return 0
    const messages = [...this.#broadcasts].filter(([, waiting]) => waiting.event === "message")
    const [oldest] = messages
    if (!oldest || messages.length <= CHANNEL_LIMITS.waiting) return 0
    this.#broadcasts.delete(oldest[0])
    return 1
  }

  forgetBroadcasts(id: number, channel?: string): void {
    for (const [key, waiting] of this.#broadcasts) {
      if (waiting.id === id && (channel === undefined || waiting.channel === channel)) {
        this.#broadcasts.delete(key)
      }
    }
  }

  snapshot(rest: string, lsn: bigint): void {
    this.#enqueue("snapshot", rest, lsn)
  }

  position(lsn: bigint, at: number, lag: number): void {
    // Waiting events carry their own position.
    if (this.#waiting !== null) return
    this.#enqueue("position", `,"lsn":"${lsnToWire(lsn)}","at":${at},"lag":${lag}}]`, lsn)
  }

  reset(ids: readonly number[], reason: ResetEvent["reason"]): void {
    this.forget(ids)
    this.#enqueue("reset", `,"ids":${JSON.stringify(ids)},"reason":"${reason}"}]`)
  }

  revoked(ids: readonly number[], reason: RevokedEvent["reason"]): void {
    this.forget(ids)
    this.#enqueue("revoked", `,"ids":${JSON.stringify(ids)},"reason":"${reason}"}]`)
  }

  /**
   * Sent immediately and before waiting events, because the connection closes next. Of those, only
   * the ones that remove rows are still worth sending.
   */
  goodbye(reason: GoodbyeEvent["reason"], retryAfter: number | null): void {
    const waiting = this.#waiting ?? []
    this.#empty()
    this.#broadcasts.clear()
    for (const item of waiting) {
      if (item.kind === "event" && item.event === "revoked") this.#emit(item.event, item.rest)
    }
    this.#emit("goodbye", `,"reason":"${reason}","retryAfter":${retryAfter}}]`)
  }

  /** Removes a subscription's edits from waiting commits and the one being assembled. */
  forget(ids: readonly number[]): void {
    if (this.#broadcasts.size > 0) for (const id of ids) this.forgetBroadcasts(id)
    const staged = this.#staged
    if (staged.length > 0) {
      this.#staged = staged.filter((_, index) => !ids.includes(staged[index - (index % 2)] as number))
    }
    for (const item of this.#waiting ?? []) {
      if (item.kind === "event") continue
      for (const id of ids) item.edits.delete(id)
    }
  }

  /**
   * Drops waiting commits and snapshots; the caller ends every subscription. The caller does not
   * know subscriptions that have already ended, so the events about their end are kept: without
   * them, rows that the client may no longer see would stay on its screen.
   */
  abandon(): void {
    const ends = (this.#waiting ?? []).filter(endsSubscriptions)
    this.#empty()
    for (const item of ends) this.#wait(item, item.rest.length)
    this.#freeAt = this.#clock()
  }

  acknowledge(sequence: number): void {
    if (sequence > this.#sequence) return
    while (this.#acknowledged < sequence) {
      const size = this.#sizes.shift() ?? 0
      if (size < 0) this.#broadcastsInFlight -= 1
      else this.#bytesInFlight -= size
      this.#acknowledged += 1
    }
    this.#flush()
  }

  /** Stops sending until `release`; commits accumulate in the meantime. Calls nest. */
  hold(): void {
    this.#held += 1
  }

  release(): void {
    this.#held -= 1
    this.#flush()
  }

  /** The waiting edits, for a caller that holds the outbox in order to change them. */
  *waitingEdits(): Generator<{ id: number; edit: Edit; replace(edit: Edit): void }> {
    for (const item of this.#waiting ?? []) {
      if (item.kind === "event") continue
      for (const [id, rows] of item.edits) {
        for (const [key, edit] of rows) yield { id, edit, replace: (other) => rows.set(key, other) }
      }
    }
  }

  #hasCredit(): boolean {
    return (
      this.#held === 0 &&
      this.#sequence - this.#acknowledged - this.#broadcastsInFlight < this.#limits.eventsInFlight &&
      this.#bytesInFlight < this.#limits.bytesInFlight
    )
  }

  #canBroadcast(): boolean {
    return this.#held === 0 && this.#broadcastsInFlight < CHANNEL_LIMITS.inFlight
  }

  #enqueue(event: string, rest: string, lsn: bigint | null = null): void {
    if (this.#waiting === null && this.#hasCredit()) {
      if (lsn !== null) this.#lsn = lsn
      return this.#emit(event, rest)
    }
    this.#wait({ kind: "event", event, rest, lsn }, rest.length)
  }

  #wait(item: Waiting | Batch, bytes: number): void {
    if (this.#waiting === null) {
      this.#waiting = []
      this.#freeAt = this.#clock()
    }
    this.#waiting.push(item)
    this.#waitingBytes += bytes
  }

  #postpone(header: CommitHeader, staged: readonly (number | Edit)[]): void {
    let batch = this.#waiting?.at(-1)
    if (batch?.kind !== "batch") {
      batch = { kind: "batch", lsn: 0n, at: 0, xids: [], edits: new Map(), bytes: 200 }
      this.#wait(batch, batch.bytes)
      this.#batchBytes += batch.bytes
    }
    batch.lsn = header.lsn
    batch.at = header.at
    batch.xids.push(header.xid)
    let bytes = 24
    for (let index = 0; index < staged.length; index += 2) {
      bytes += gather(batch, staged[index] as number, staged[index + 1] as Edit)
    }
    batch.bytes += bytes
    this.#waitingBytes += bytes
    this.#batchBytes += bytes
  }

  #empty(): void {
    this.#waiting = null
    this.#waitingBytes = 0
    this.#batchBytes = 0
  }

  #flush(): void {
    while (this.#waiting && this.#hasCredit()) {
      const item = this.#waiting.shift()
      if (item === undefined) {
        this.#empty()
      } else if (item.kind === "event") {
        this.#waitingBytes -= item.rest.length
        if (item.lsn !== null) this.#lsn = item.lsn
        this.#emit(item.event, item.rest)
      } else {
        this.#waitingBytes -= item.bytes
        this.#batchBytes -= item.bytes
        this.#lsn = item.lsn
        this.#emit("commit", batchText(item))
      }
      this.#freeAt = this.#clock()
    }
    if (this.#waiting !== null) return
    for (const [key, broadcast] of this.#broadcasts) {
      if (!this.#canBroadcast()) return
      this.#broadcasts.delete(key)
      this.#emitBroadcast(broadcast)
    }
  }

  #emit(event: string, rest: string): void {
    this.#sequence += 1
    const frame = `2["${event}",{"sequence":${this.#sequence}${rest}`
    this.#sizes.push(frame.length)
    this.#bytesInFlight += frame.length
    this.sentAt = this.#clock()
    this.#send(frame)
  }

  /** Does not count as the client having heard of its position. */
  #emitBroadcast({ event, id, tail }: Broadcast): void {
    this.#sequence += 1
    this.#sizes.push(-1)
    this.#broadcastsInFlight += 1
    this.#send(`2["${event}",{"sequence":${this.#sequence},"id":${id}${tail}`)
  }
}

function endsSubscriptions(item: Waiting | Batch): item is Waiting {
  return item.kind === "event" && (item.event === "revoked" || item.event === "reset")
}

export function commitHeader(lsn: bigint, at: number, xid: bigint): CommitHeader {
  const wire: Lsn = lsnToWire(lsn)
  return { lsn, at, xid: String(xid), text: `,"lsn":"${wire}","at":${at},"xids":["${xid}"],"changes":[` }
}

/**
 * Returns approximately how many bytes the batch has grown by: texts are only created when they are
 * sent.
 */
function gather(batch: Batch, id: number, edit: Edit): number {
  let rows = batch.edits.get(id)
  if (!rows) batch.edits.set(id, (rows = new Map()))
  const before = rows.get(edit.key)
  const merged = before ? mergeEdits(before, edit) : edit
  rows.set(edit.key, merged)
  return sizeOf(merged) - (before ? sizeOf(before) : 0)
}

/** The memory that a waiting edit takes for each client, however many share its row. */
const OWN_BYTES = 100

function sizeOf(edit: Edit): number {
  let size = OWN_BYTES
  for (const value of edit.row ?? []) size += value?.length ?? 4
  return size
}

function batchText(batch: Batch): string {
  const changes: string[] = []
  for (const [id, rows] of batch.edits) {
    for (const edit of rows.values()) changes.push(`[${id},${editText(edit)}`)
  }
  return `,"lsn":"${lsnToWire(batch.lsn)}","at":${batch.at},"xids":${JSON.stringify(batch.xids)},"changes":[${changes.join(",")}]}]`
}
