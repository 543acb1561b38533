import { setImmediate as nextTick } from "node:timers/promises"

import { concernsAccess } from "./access-changes.ts"
import type { Activity } from "./activity.ts"
import { createPositionWaiters, type PositionWaiters } from "./position-waiters.ts"
import type { Client, Subscription } from "./client.ts"
import type { ResetEvent } from "../protocol/contract.ts"
import { editsOf, isReadable, type Edit } from "./edits.ts"
import type { Metrics } from "./metrics.ts"
import { commitHeader, type Outbox } from "./outbox.ts"
import type { Epoch } from "./lineage.ts"
import type { Ring } from "./ring.ts"
import type { Shapes } from "./shapes.ts"
import type { WatchedTable } from "./tables.ts"
import { createTopics, type Topics, type Touched } from "./topics.ts"
import { largeAffects, type Transaction } from "./transactions.ts"

/** The longest time for which a broadcast blocks the event loop, in ms. */
const TURN_MS = 5

/** Bytes that wait to be sent on, from which reading is slowed down. */
const HIGH_BYTES = 32 * 1024 * 1024

export interface HubOptions {
  readonly ring: Ring
  readonly shapes: Shapes
  readonly metrics: Metrics
  readonly activity: Activity
  /**
   * Subscriptions that must be authorized again because of this transaction. Their outboxes are
   * held.
   */
  readonly recheck: (subscriptions: ReadonlySet<Subscription>, transaction: Transaction) => void
  /** A client's outbox, which is held, contains an edit whose row must be read. */
  readonly complete: (outbox: Outbox, edit: Edit, transaction: Transaction) => void
  /** The log must advance: a waiter needs a place that has been reserved but not written. */
  readonly nudge: () => void
  /**
   * Called with every message that the product wrote to the log, between the commits around it, and
   * the position after it.
   */
  readonly onMessage: (prefix: string, content: string, end: bigint) => void
  /** Called when a subscription has ended. */
  readonly ended: (subscription: Subscription) => void
  /** Called between two transactions when the epoch has changed and everybody stays subscribed. */
  readonly entered: () => void
  /** Called when transactions arrive faster than they can be sent on. */
  readonly pressure: (high: boolean) => void
}

type Job =
  | { kind: "transaction"; transaction: Transaction }
  | { kind: "advance"; lsn: bigint }
  | { kind: "restart"; start: bigint; epoch: Epoch }
  | { kind: "epoch"; epoch: Epoch }

/** Takes transactions in order and sends each client, in one step, the edits that concern it. */
export class Hub {
  readonly clients = new Set<Client>()
  readonly topics: Topics
  readonly #options: HubOptions
  readonly #waiters: PositionWaiters
  #position = 0n
  #epoch: Epoch | null = null
  #jobs: Job[] = []
  #queued = 0
  #isPumping = false
  #isInside = false
  #acts: (() => void)[] = []
  #turnEndsAt = 0

  constructor(options: HubOptions) {
    this.#options = options
    this.topics = createTopics(options.shapes)
    this.#waiters = createPositionWaiters(options.nudge)
  }

  /** Everything up to here has been added to every outbox. */
  position(): bigint {
    return this.#position
  }

  /** The name of the epoch; empty before the first start. */
  epoch(): string {
    return this.#epoch?.name ?? ""
  }

  queueBytes(): number {
    return this.#queued
  }

  /** Whether a position of the named epoch is also one of the current epoch. */
  includes(epoch: string, lsn: bigint): boolean {
    return this.#epoch?.includes(epoch, lsn) ?? false
  }

  transaction(transaction: Transaction): void {
    const { ring, metrics } = this.#options
    ring.append(transaction)
    metrics.count("transactions")
    metrics.count("changes", transaction.changes.length)
    this.#push({ kind: "transaction", transaction }, transaction.bytes)
  }

  advance(lsn: bigint): void {
    this.#options.ring.advance(lsn)
    if (lsn > this.#position) this.#push({ kind: "advance", lsn }, 0)
  }

  restart(start: bigint, epoch: Epoch): void {
    this.#options.ring.restart(start)
    this.#push({ kind: "restart", start, epoch }, 0)
  }

  /** The log goes on in another epoch, which includes everything up to here. */
  enter(epoch: Epoch): void {
    this.#push({ kind: "epoch", epoch }, 0)
  }

  /** Resolves with true when the position has reached `lsn`, with false if that takes too long. */
  reached(lsn: bigint, timeoutMs: number): Promise<boolean> {
    return this.#waiters.reached(lsn, timeoutMs)
  }

  /** Runs between two transactions, when all clients are at the same position. */
  between(act: () => void): void {
    if (this.#isInside) this.#acts.push(act)
    else act()
  }

  follow(subscription: Subscription): void {
    subscription.client.subscriptions.set(subscription.id, subscription)
    this.topics.add(subscription)
  }

  unfollow(subscription: Subscription): void {
    this.topics.remove(subscription)
    subscription.client.subscriptions.delete(subscription.id)
    subscription.client.outbox.forget([subscription.id])
    this.#options.ended(subscription)
  }

  reset(subscriptions: Iterable<Subscription>, reason: ResetEvent["reason"]): void {
    const { activity, metrics } = this.#options
    const ids = new Map<Client, number[]>()
    for (const subscription of Array.from(subscriptions)) {
      const { client, id, query } = subscription
      activity.reset(query.name, reason)
      const all = ids.get(client)
      if (all) all.push(id)
      else ids.set(client, [id])
      this.unfollow(subscription)
    }
    for (const [client, all] of ids) {
      client.outbox.reset(all, reason)
      metrics.count(`resets_${reason}`, all.length)
    }
  }

  /** Resets the subscriptions that read the table, and those whose authorization depends on it. */
  resetTable(table: WatchedTable, reason: ResetEvent["reason"]): void {
    const concerned: Subscription[] = []
    for (const each of this.#everySubscription()) {
      const places = [each.range, ...each.dependencies]
      if (places.some(({ shape }) => shape.table === table)) concerned.push(each)
    }
    this.reset(concerned, reason)
  }

  leave(client: Client): void {
    client.closed = true
    this.clients.delete(client)
    for (const subscription of client.subscriptions.values()) {
      this.topics.remove(subscription)
      this.#options.ended(subscription)
    }
    client.subscriptions.clear()
  }

  /** Releases everything that waits for a position. */
  close(): void {
    this.#waiters.close()
  }

  #push(job: Job, bytes: number): void {
    this.#jobs.push(job)
    this.#queued += bytes
    if (this.#queued > HIGH_BYTES) this.#options.pressure(true)
    if (!this.#isPumping) void this.#pump()
  }

  async #pump(): Promise<void> {
    this.#isPumping = true
    this.#turnEndsAt = performance.now() + TURN_MS
    while (this.#jobs.length > 0) {
      const batch = this.#jobs
      this.#jobs = []
      for (const job of batch) {
        if (job.kind === "transaction") {
          // Not before: a message of a channel must not overtake the commit that ends somebody's access.
          const { bytes, end, messages } = job.transaction
          for (const { prefix, content } of messages) this.#options.onMessage(prefix, content, end)
          this.#isInside = true
          await this.#deliver(job.transaction)
          this.#isInside = false
          this.#queued -= bytes
          this.#position = end
        } else this.#move(job)
        this.#arrive()
        if (performance.now() > this.#turnEndsAt) await this.#pause()
      }
    }
    this.#isPumping = false
    this.#options.pressure(false)
  }

  #move(job: Exclude<Job, { kind: "transaction" }>): void {
    if (job.kind === "advance") {
      if (job.lsn > this.#position) this.#position = job.lsn
    } else if (job.kind === "epoch") {
      this.#epoch = job.epoch
      this.#options.entered()
    } else {
      this.#position = job.start
      this.#epoch = job.epoch
      this.reset(this.#everySubscription(), "gap")
    }
  }

  async #pause(): Promise<void> {
    this.#options.metrics.count("broadcast_pauses")
    await nextTick()
    this.#turnEndsAt = performance.now() + TURN_MS
  }

  /** At a new position: runs what waited for it. */
  #arrive(): void {
    this.#waiters.arrive(this.#position)
    while (this.#acts.length > 0) {
      const due = this.#acts
      this.#acts = []
      for (const act of due) act()
    }
  }

  async #deliver(transaction: Transaction): Promise<void> {
    const { activity, metrics } = this.#options
    this.#sweep(transaction)
    const places = this.topics.touchedBy(transaction.changes)
    this.#holdDependants(places, transaction)
    const touched: Outbox[] = []
    const unreadable: Subscription[] = []
    for (const { place, change } of places) {
      for (const { range, followers } of place.topics.values()) {
        const edits = editsOf(range, change, transaction)
        if (edits.length === 0) continue
        if (!edits.every(isReadable)) {
          unreadable.push(...followers)
          continue
        }
        activity.changesSent(range.query.name, edits.length * followers.size)
        for (const follower of followers) {
          this.#stage(follower, edits, transaction, touched)
          if (performance.now() > this.#turnEndsAt) await this.#pause()
        }
      }
    }
    if (unreadable.length > 0) this.reset(unreadable.filter(isCurrent), "gap")
    if (touched.length === 0) return
    const header = commitHeader(transaction.end, transaction.at, transaction.xid)
    for (const outbox of touched) {
      outbox.commit(header)
      if (performance.now() > this.#turnEndsAt) await this.#pause()
    }
    metrics.count("commits_sent", touched.length)
    metrics.observe("commit_to_sent_ms", Math.max(0, Date.now() - transaction.at))
  }

  #stage(to: Subscription, edits: readonly Edit[], transaction: Transaction, touched: Outbox[]): void {
    const { outbox } = to.client
    for (const edit of edits) {
      if (edit.op === "partial") {
        outbox.hold()
        this.#options.complete(outbox, edit, transaction)
      }
      if (outbox.stage(to.id, edit)) touched.push(outbox)
    }
  }

  #holdDependants(places: readonly Touched[], transaction: Transaction): void {
    const dependants = new Set<Subscription>()
    for (const { change, shape, key, place } of places) {
      for (const [dependant, on] of place.dependants) {
        if (concernsAccess({ shape, key, on }, change)) dependants.add(dependant)
      }
    }
    if (dependants.size === 0) return
    for (const dependant of dependants) dependant.client.outbox.hold()
    this.#options.recheck(dependants, transaction)
  }

  /**
   * Resets the subscriptions that a truncate or a transaction with too many rows has touched,
   * including those that depend on such rows.
   */
  #sweep({ truncated, large }: Transaction): void {
    if (truncated.size === 0 && !large) return
    const emptied: Subscription[] = []
    const flooded: Subscription[] = []
    for (const subscription of this.#everySubscription()) {
      const places = [subscription.range, ...subscription.dependencies]
      if (places.some((place) => truncated.has(place.shape.table))) emptied.push(subscription)
      else if (large && places.some((place) => largeAffects(large, place.shape, place.key)))
        flooded.push(subscription)
    }
    this.reset(emptied, "truncate")
    this.reset(flooded, "large")
  }

  *#everySubscription(): Generator<Subscription> {
    for (const client of this.clients) yield* client.subscriptions.values()
  }
}

/** Whether it has not been cancelled in the meantime. */
export function isCurrent(subscription: Subscription): boolean {
  return subscription.client.subscriptions.get(subscription.id) === subscription
}
