import { setImmediate as nextTick } from "node:timers/promises"

import { concernsAccess } from "./access-changes.ts"
import type { Activity } from "./activity.ts"
import { createPositionWaiters } from "./position-waiters.ts"
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

export interface Hub {
  readonly clients: Set<Client>
  readonly topics: Topics
  /** Everything up to here has been added to every outbox. */
  position(): bigint
  /** The name of the epoch; empty before the first start. */
  epoch(): string
  /** Whether a position of the named epoch is also one of the current epoch. */
  includes(epoch: string, lsn: bigint): boolean
  transaction(transaction: Transaction): void
  advance(lsn: bigint): void
  restart(start: bigint, epoch: Epoch): void
  /** The log goes on in another epoch, which includes everything up to here. */
  enter(epoch: Epoch): void
  /** Resolves with true when the position has reached `lsn`, with false if that takes too long. */
  reached(lsn: bigint, timeoutMs: number): Promise<boolean>
  /** Runs between two transactions, when all clients are at the same position. */
  between(act: () => void): void
  follow(subscription: Subscription): void
  unfollow(subscription: Subscription): void
  reset(subscriptions: Iterable<Subscription>, reason: ResetEvent["reason"]): void
  /** Resets the subscriptions that read the table, and those whose authorization depends on it. */
  resetTable(table: WatchedTable, reason: ResetEvent["reason"]): void
  leave(client: Client): void
  queueBytes(): number
  /** Releases everything that waits for a position. */
  close(): void
}

/** Takes transactions in order and sends each client, in one step, the edits that concern it. */
export function createHub(options: HubOptions): Hub {
  const { ring, shapes, metrics, activity } = options
  const topics = createTopics(shapes)
  const clients = new Set<Client>()
  let position = 0n
  let epoch: Epoch | null = null
  let jobs: Job[] = []
  let queued = 0
  let pumping = false
  let inside = false
  let acts: (() => void)[] = []
  let turnEndsAt = 0
  const waiters = createPositionWaiters(options.nudge)

  return {
    clients,
    topics,
    close: waiters.close,
    position: () => position,
    epoch: () => epoch?.name ?? "",
    includes: (name, lsn) => epoch?.includes(name, lsn) ?? false,
    queueBytes: () => queued,
    transaction(transaction) {
      ring.append(transaction)
      metrics.count("transactions")
      metrics.count("changes", transaction.changes.length)
      push({ kind: "transaction", transaction }, transaction.bytes)
    },
    advance(lsn) {
      ring.advance(lsn)
      if (lsn > position) push({ kind: "advance", lsn }, 0)
    },
    restart(start, to) {
      ring.restart(start)
      push({ kind: "restart", start, epoch: to }, 0)
    },
    enter: (to) => push({ kind: "epoch", epoch: to }, 0),
    reached: waiters.reached,
    between(act) {
      if (inside) acts.push(act)
      else act()
    },
    follow(subscription) {
      subscription.client.subscriptions.set(subscription.id, subscription)
      topics.add(subscription)
    },
    unfollow,
    reset,
    resetTable(table, reason) {
      const concerned: Subscription[] = []
      for (const each of everySubscription()) {
        const places = [each.range, ...each.dependencies]
        if (places.some(({ shape }) => shape.table === table)) concerned.push(each)
      }
      reset(concerned, reason)
    },
    leave(client) {
      client.closed = true
      clients.delete(client)
      for (const subscription of client.subscriptions.values()) {
        topics.remove(subscription)
        options.ended(subscription)
      }
      client.subscriptions.clear()
    },
  }

  function push(job: Job, bytes: number): void {
    jobs.push(job)
    queued += bytes
    if (queued > 32 * 1024 * 1024) options.pressure(true)
    if (!pumping) void pump()
  }

  async function pump(): Promise<void> {
    pumping = true
    turnEndsAt = performance.now() + TURN_MS
    while (jobs.length > 0) {
      const batch = jobs
      jobs = []
      for (const job of batch) {
        if (job.kind === "transaction") {
          // Not before: a message of a channel must not overtake the commit that ends somebody's access.
          const { messages, end } = job.transaction
          for (const { prefix, content } of messages) options.onMessage(prefix, content, end)
          inside = true
          await deliver(job.transaction)
          inside = false
          queued -= job.transaction.bytes
          position = end
        } else if (job.kind === "advance") {
          if (job.lsn > position) position = job.lsn
        } else if (job.kind === "epoch") {
          epoch = job.epoch
          options.entered()
        } else {
          position = job.start
          epoch = job.epoch
          reset(everySubscription(), "gap")
        }
        arrive()
        if (performance.now() > turnEndsAt) await pause()
      }
    }
    pumping = false
    options.pressure(false)
  }

  async function pause(): Promise<void> {
    metrics.count("broadcast_pauses")
    await nextTick()
    turnEndsAt = performance.now() + TURN_MS
  }

  /** At a new position: runs what waited for it. */
  function arrive(): void {
    waiters.arrive(position)
    while (acts.length > 0) {
      const due = acts
      acts = []
      for (const act of due) act()
    }
  }

  async function deliver(transaction: Transaction): Promise<void> {
    sweep(transaction)
    const places = topics.touchedBy(transaction.changes)
    holdDependants(places, transaction)
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
          stage(follower, edits, transaction, touched)
          if (performance.now() > turnEndsAt) await pause()
        }
      }
    }
    if (unreadable.length > 0) reset(unreadable.filter(isCurrent), "gap")
    if (touched.length === 0) return
    const header = commitHeader(transaction.end, transaction.at, transaction.xid)
    for (const outbox of touched) {
      outbox.commit(header)
      if (performance.now() > turnEndsAt) await pause()
    }
    metrics.count("commits_sent", touched.length)
    metrics.observe("commit_to_sent_ms", Math.max(0, Date.now() - transaction.at))
  }

  function stage(
    to: Subscription,
    edits: readonly Edit[],
    transaction: Transaction,
    touched: Outbox[],
  ): void {
    const { outbox } = to.client
    for (const edit of edits) {
      if (edit.op === "partial") {
        outbox.hold()
        options.complete(outbox, edit, transaction)
      }
      if (outbox.stage(to.id, edit)) touched.push(outbox)
    }
  }

  function holdDependants(places: readonly Touched[], transaction: Transaction): void {
    const dependants = new Set<Subscription>()
    for (const { change, shape, key, place } of places) {
      for (const [dependant, on] of place.dependants) {
        if (concernsAccess({ shape, key, on }, change)) dependants.add(dependant)
      }
    }
    if (dependants.size === 0) return
    for (const dependant of dependants) dependant.client.outbox.hold()
    options.recheck(dependants, transaction)
  }

  /**
   * Resets the subscriptions that a truncate or a transaction with too many rows has touched,
   * including those that depend on such rows.
   */
  function sweep(transaction: Transaction): void {
    if (transaction.truncated.size === 0 && !transaction.large) return
    const truncated: Subscription[] = []
    const flooded: Subscription[] = []
    for (const subscription of everySubscription()) {
      const places = [subscription.range, ...subscription.dependencies]
      if (places.some((place) => transaction.truncated.has(place.shape.table))) truncated.push(subscription)
      else if (
        transaction.large &&
        places.some((place) => transaction.large && largeAffects(transaction.large, place.shape, place.key))
      ) {
        flooded.push(subscription)
      }
    }
    reset(truncated, "truncate")
    reset(flooded, "large")
  }

  function* everySubscription(): Generator<Subscription> {
    for (const client of clients) yield* client.subscriptions.values()
  }

  function unfollow(subscription: Subscription): void {
    topics.remove(subscription)
    subscription.client.subscriptions.delete(subscription.id)
    subscription.client.outbox.forget([subscription.id])
    options.ended(subscription)
  }

  function reset(subscriptions: Iterable<Subscription>, reason: ResetEvent["reason"]): void {
    const ids = new Map<Client, number[]>()
    for (const subscription of Array.from(subscriptions)) {
      const { client, id, query } = subscription
      activity.reset(query.name, reason)
      const all = ids.get(client)
      if (all) all.push(id)
      else ids.set(client, [id])
      unfollow(subscription)
    }
    for (const [client, all] of ids) {
      client.outbox.reset(all, reason)
      metrics.count(`resets_${reason}`, all.length)
    }
  }
}

/** Whether it has not been cancelled in the meantime. */
export function isCurrent(subscription: Subscription): boolean {
  return subscription.client.subscriptions.get(subscription.id) === subscription
}
