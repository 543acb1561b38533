import type { GoodbyeEvent, Lsn, ResetEvent, RevokedEvent } from "./contract.ts"
import { editText, mergeEdits, type Edit } from "./edits.ts"
import { OUTBOX_LIMITS, type OutboxLimits } from "./limits.ts"
import { lsnToWire } from "./lsn.ts"

/** What leaves for a client, before it has its sequence number: `"event",{"sequence":` … `rest`. */
interface Waiting {
  readonly kind: "event"
  readonly event: string
  readonly rest: string
  /** The position it brings the client to, if it does. */
  readonly lsn: bigint | null
}

/** Commits held back, merged row by row: still a step from one consistent state to another. */
interface Batch {
  readonly kind: "batch"
  lsn: bigint
  at: number
  xids: string[]
  readonly edits: Map<number, Map<string, Edit>>
  bytes: number
}

/** A commit's place and the texts that are the same for all who get it. */
export interface CommitHeader {
  readonly lsn: bigint
  readonly at: number
  readonly xid: string
  readonly text: string
}

/**
 * Everything that is sent to one client goes through here, in order and with a number. A client
 * that does not acknowledge is sent no more: commits for it are merged, and beyond a limit given
 * up. What it costs is bounded either way.
 */
export class Outbox {
  readonly #send: (frame: string) => void
  readonly #limits: OutboxLimits
  readonly #clock: () => number
  #sequence = 0
  #acknowledged = 0
  /** Sizes of the events after `#acknowledged`. */
  #sizes: number[] = []
  #bytesInFlight = 0
  #waiting: (Waiting | Batch)[] | null = null
  #waitingBytes = 0
  #batchBytes = 0
  #held = 0
  /** The current commit's edits, by pairs of subscription and edit. */
  #staged: (number | Edit)[] = []
  #lsn = 0n
  /** When the client last kept up, for the sweep that looks for slow ones. */
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
   * What the client costs, in bytes: what was sent and not acknowledged, and what waits. Waiting
   * edits that are in `counted` were counted for another client that shares them; the others are
   * added to it.
   */
  measure(counted: Set<Edit>): number {
    let shared = 0
    for (const { edit } of this.waitingEdits()) {
      if (counted.has(edit)) shared += edit.row === null ? 0 : sizeOf(edit) - OWN_BYTES
      else counted.add(edit)
    }
    return this.#bytesInFlight + Math.max(0, this.#waitingBytes - shared)
  }
  /** Whether more commits wait than may: snapshots are bounded where they are taken. */
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

  /** Adds an edit to the commit in the making; true if it is the first. */
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

  snapshot(rest: string, lsn: bigint): void {
    this.#enqueue("snapshot", rest, lsn)
  }

  position(lsn: bigint, at: number, lag: number): void {
    // What waits carries a position of its own.
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
   * Sent immediately and out of turn, because the connection closes next. Of what waits, only what
   * takes rows away is worth sending.
   */
  goodbye(reason: GoodbyeEvent["reason"], retryAfter: number | null): void {
    const waiting = this.#waiting ?? []
    this.#empty()
    for (const item of waiting) {
      if (item.kind === "event" && item.event === "revoked") this.#emit(item.event, item.rest)
    }
    this.#emit("goodbye", `,"reason":"${reason}","retryAfter":${retryAfter}}]`)
  }

  /** Takes a subscription's edits out of what is waiting or in the making. */
  forget(ids: readonly number[]): void {
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
   * Drops the commits and snapshots that wait; the caller ends every subscription. Those that have
   * ended already are unknown to the caller, so what tells the client of their end stays: without
   * it rows that it may no longer see would remain on its screen.
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
      this.#bytesInFlight -= this.#sizes.shift() ?? 0
      this.#acknowledged += 1
    }
    this.#flush()
  }

  /** Stops sending until `release`; commits gather in the meantime. Calls nest. */
  hold(): void {
    this.#held += 1
  }

  release(): void {
    this.#held -= 1
    this.#flush()
  }

  /** The edits that wait, for a caller that holds the outbox in order to change them. */
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
      this.#sequence - this.#acknowledged < this.#limits.eventsInFlight &&
      this.#bytesInFlight < this.#limits.bytesInFlight
    )
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
  }

  #emit(event: string, rest: string): void {
    this.#sequence += 1
    const frame = `2["${event}",{"sequence":${this.#sequence}${rest}`
    this.#sizes.push(frame.length)
    this.#bytesInFlight += frame.length
    this.sentAt = this.#clock()
    this.#send(frame)
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
 * Returns by how many bytes the batch has grown, roughly: texts are made only when they are sent.
 */
function gather(batch: Batch, id: number, edit: Edit): number {
  let rows = batch.edits.get(id)
  if (!rows) batch.edits.set(id, (rows = new Map()))
  const before = rows.get(edit.key)
  const merged = before ? mergeEdits(before, edit) : edit
  rows.set(edit.key, merged)
  return sizeOf(merged) - (before ? sizeOf(before) : 0)
}

/** What an edit that waits costs each client, no matter who shares its row. */
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
