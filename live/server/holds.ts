import { setTimeout as sleep } from "node:timers/promises"

import { completeEdit, isReadable, type Edit } from "./edits.ts"
import { isCurrent, type Hub } from "./hub.ts"
import type { Log } from "./log.ts"
import type { Metrics } from "./metrics.ts"
import type { Outbox } from "./outbox.ts"
import type { Snapshot, SnapshotReader, Snapshots } from "./snapshot.ts"
import type { Tuple } from "./tables.ts"
import type { Subscription } from "./client.ts"
import type { Transaction } from "./transactions.ts"
import { maySee, sees } from "./visibility.ts"

export interface HoldOptions {
  readonly hub: () => Hub
  readonly snapshots: Snapshots
  readonly log: Log
  readonly metrics: Metrics
}

/** The running checks of a subscription, and the transactions that required them. */
interface Checks {
  readonly running: number
  readonly transactions: readonly Transaction[]
}

const STREAM_TIMEOUT_MS = 5000

/**
 * The two reasons to hold a client's commits back for a moment: it must be authorized again, or a
 * row in them must be read.
 */
export class Holds {
  readonly #options: HoldOptions
  readonly #metrics: Metrics
  readonly #checks = new WeakMap<Subscription, Checks>()
  #incomplete: { outbox: Outbox; edit: Edit; transaction: Transaction }[] = []

  constructor(options: HoldOptions) {
    this.#options = options
    this.#metrics = options.metrics
  }

  recheck(subscriptions: ReadonlySet<Subscription>, transaction: Transaction): void {
    this.#metrics.count("rechecks", subscriptions.size)
    for (const subscription of subscriptions) {
      const { running, transactions } = this.#checks.get(subscription) ?? { running: 0, transactions: [] }
      this.#checks.set(subscription, { running: running + 1, transactions: [...transactions, transaction] })
    }
    void this.#recheck([...subscriptions], transaction)
  }

  complete(outbox: Outbox, edit: Edit, transaction: Transaction): void {
    this.#metrics.count("rows_completed")
    if (this.#incomplete.push({ outbox, edit, transaction }) > 1) return
    setImmediate(() => {
      const due = this.#incomplete
      this.#incomplete = []
      void this.#complete(due)
    })
  }

  async #recheck(subscriptions: readonly Subscription[], transaction: Transaction): Promise<void> {
    let denied: readonly Subscription[] = []
    let unknown: readonly Subscription[] = []
    const hub = this.#options.hub()
    try {
      const snapshot = await this.#takeSeeing([transaction], async (reader) => {
        const verdicts = await Promise.all(
          subscriptions.map(
            async ({ query, client, args }) => query.authorize?.(client.viewer, args, reader.sql) ?? false,
          ),
        )
        return subscriptions.filter((_, index) => verdicts[index] !== true)
      })
      snapshot.release()
      denied = snapshot.value
      // Once the stream is there, every change of rights that the snapshot shows is among the checks.
      if (denied.length < subscriptions.length && !(await hub.reached(snapshot.lsn, STREAM_TIMEOUT_MS)))
        throw new Error("The stream did not reach the snapshot.")
      const isLater = (each: Transaction) => each.end > transaction.end && maySee(snapshot.visibility, each)
      // The verdict is of a later moment: access may have ended in between and come back.
      unknown = subscriptions.filter((each) => this.#checks.get(each)?.transactions.some(isLater))
    } catch (error) {
      this.#options.log.error({ err: error }, "could not check access again; those subscriptions start over")
      unknown = subscriptions
    }
    hub.between(() => {
      for (const subscription of denied.filter(isCurrent)) {
        hub.unfollow(subscription)
        subscription.client.outbox.revoked([subscription.id], "denied")
        this.#metrics.count("revoked")
      }
      hub.reset(unknown.filter(isCurrent), "gap")
      for (const subscription of subscriptions) this.#settle(subscription)
      for (const { client } of subscriptions) client.outbox.release()
    })
  }

  /** The transactions are kept until no check runs, because an earlier one may end last. */
  #settle(subscription: Subscription): void {
    const { running, transactions } = this.#checks.get(subscription) ?? { running: 1, transactions: [] }
    if (running === 1) this.#checks.delete(subscription)
    else this.#checks.set(subscription, { running: running - 1, transactions })
  }

  async #complete(due: readonly { outbox: Outbox; edit: Edit; transaction: Transaction }[]): Promise<void> {
    const hub = this.#options.hub()
    let snapshot: Snapshot<Map<Edit, Tuple | null>> | null = null
    try {
      const edits = new Set(due.map(({ edit }) => edit))
      snapshot = await this.#takeSeeing(
        due.map(({ transaction }) => transaction),
        async (reader) => {
          const rows = [...edits].map(async (edit) => [edit, await reader.row(edit.table, edit.key)] as const)
          return new Map(await Promise.all(rows))
        },
      )
      if (!(await hub.reached(snapshot.lsn, STREAM_TIMEOUT_MS)))
        throw new Error("The stream did not reach the snapshot.")
    } catch (error) {
      this.#options.log.error(
        { err: error },
        "could not read a row for a commit; its subscriptions start over",
      )
      snapshot?.release()
      snapshot = null
    }
    const taken = snapshot
    hub.between(() => {
      for (const { outbox, edit } of due) fill(hub, outbox, edit, taken)
      for (const { outbox } of due) outbox.release()
    })
    taken?.release()
  }

  /**
   * A snapshot that sees the given transactions: a commit can be streamed before snapshots see it.
   */
  async #takeSeeing<Value>(
    transactions: readonly Transaction[],
    work: (reader: SnapshotReader) => Promise<Value>,
  ): Promise<Snapshot<Value>> {
    const deadline = performance.now() + STREAM_TIMEOUT_MS
    for (;;) {
      try {
        const snapshot = await this.#options.snapshots.take(work)
        if (transactions.every((each) => sees(snapshot.visibility, each))) return snapshot
        snapshot.release()
      } catch (error) {
        if (performance.now() > deadline) throw error
        await sleep(100)
      }
      if (performance.now() > deadline) throw new Error("No snapshot sees the transaction.")
      await sleep(1)
    }
  }
}

function fill(
  hub: Hub,
  outbox: Outbox,
  edit: Edit,
  snapshot: Snapshot<Map<Edit, Tuple | null>> | null,
): void {
  const lost = new Set<number>()
  const stored = snapshot?.value.get(edit)
  for (const waiting of outbox.waitingEdits()) {
    const { op, table, key, since } = waiting.edit
    if (op !== "partial" || table !== edit.table || key !== edit.key) continue
    if (!snapshot || !stored) {
      lost.add(waiting.id)
      continue
    }
    // A later change made it partial again: the hold of that change completes it.
    if (since && !sees(snapshot.visibility, since)) continue
    const complete = completeEdit(waiting.edit, stored)
    if (isReadable(complete)) waiting.replace(complete)
    else lost.add(waiting.id)
  }
  if (lost.size === 0) return
  for (const client of hub.clients) {
    if (client.outbox !== outbox) continue
    hub.reset(
      [...client.subscriptions.values()].filter(({ id }) => lost.has(id)),
      "gap",
    )
  }
}
