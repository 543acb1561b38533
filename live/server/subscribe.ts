import { setImmediate as nextTurn } from "node:timers/promises"

import * as v from "valibot"

import { mayHaveLapsed } from "./access-changes.ts"
import type { Activity } from "./activity.ts"
import type { Catalogue, Question } from "./catalogue.ts"
import type { Client } from "./client.ts"
import type { SubscribeAnswer, SubscribeItem } from "../protocol/contract.ts"
import { openResumeToken, sealResumeToken } from "./resume-token.ts"
import type { Hub } from "./hub.ts"
import type { Watching } from "./layout.ts"
import type { Log } from "./log.ts"
import { CONNECTION_LIMITS } from "./limits.ts"
import { lsnFromWire, lsnToWire } from "./lsn.ts"
import { SubscribeItemMessage } from "./messages.ts"
import type { Metrics } from "./metrics.ts"
import { finishPage, PageUnsettled } from "./page.ts"
import { pinEnd, type Range } from "./range.ts"
import { isTemporary, refusalFor, createRefusal, Refused, tookTooLong } from "./refusal.ts"
import { changesSince, affects } from "./resume.ts"
import type { Ring } from "./ring.ts"
import type { Snapshot, SnapshotReader, Snapshots } from "./snapshot.ts"
import { renderSnapshot, sizeOf, type Part } from "./snapshot-event.ts"
import type { Tuple } from "./tables.ts"
import type { Transaction } from "./transactions.ts"
import { withUnknownField } from "./unknown-field.ts"

export interface SubscribeOptions {
  readonly hub: Hub
  readonly ring: Ring
  readonly snapshots: Snapshots
  readonly catalogue: Catalogue
  readonly watching: Pick<Watching, "knowsSince">
  readonly secret: string
  readonly log: Log
  readonly metrics: Metrics
  readonly activity: Activity
  /** Snapshots for subscriptions that run at the same time; the rest wait. */
  readonly concurrency: number
  /** Subscriptions that have not been served within this time are refused. ms. */
  readonly answerMs: number
}

interface Wanted extends Question {
  readonly id: number
  /**
   * Its value in `client.pending`: an id may be cancelled and reused before its first use is
   * served.
   */
  readonly claim: symbol
  readonly clientRows: ClientRows | null
}

/** The rows that a client has already. */
interface ClientRows {
  readonly epoch: string
  readonly since: bigint
  readonly through: bigint
  /** The requested range, with the end that was pinned when its rows were read. */
  readonly range: Range
}

interface Request {
  readonly client: Client
  /** Those that have no answer yet. */
  readonly wanted: Wanted[]
  /** Those of them that need another snapshot. */
  readonly again: Wanted[]
  readonly answer: SubscribeAnswer
  readonly attempts: number
  /**
   * When to stop waiting for the stream, in ms of `performance.now()`: earlier than the deadline,
   * whose refusal gives no reason.
   */
  readonly streamBy: number
  readonly resolve: (answer: SubscribeAnswer) => void
}

interface Reading {
  readonly allowed: Map<Wanted, boolean>
  readonly rows: Map<string, Tuple[]>
}

const BATCH = 100
/** The longest time for which sending rows blocks the event loop, in ms. */
const TURN_MS = 5
/** The part of the time for a response in which the stream may catch up. */
const STREAM_SHARE = 0.9
const ATTEMPTS = 50

/**
 * Starts subscriptions: reads their rows in as few snapshots as possible, and joins snapshot and
 * stream without a gap.
 */
export class Subscriber {
  readonly #options: SubscribeOptions
  readonly #hub: Hub
  readonly #ring: Ring
  readonly #secret: string
  readonly #log: Log
  readonly #metrics: Metrics
  readonly #activity: Activity
  #queue: Request[] = []
  #running = 0
  #scheduled = false

  constructor(options: SubscribeOptions) {
    this.#options = options
    this.#hub = options.hub
    this.#ring = options.ring
    this.#secret = options.secret
    this.#log = options.log
    this.#metrics = options.metrics
    this.#activity = options.activity
  }

  /** Each item is handled separately: a refused one does not affect the others. */
  subscribe(client: Client, items: readonly { readonly id: number }[]): Promise<SubscribeAnswer> {
    const answer: SubscribeAnswer = { accepted: [], refused: [] }
    const wanted: Wanted[] = []
    for (const item of items) {
      try {
        const each = this.#want(client, readItem(item))
        wanted.push(each)
        client.pending.set(each.id, each.claim)
      } catch (error) {
        answer.refused.push({ id: item.id, error: refusalFor(error, this.#log, "preparing a subscription") })
      }
    }
    if (wanted.length === 0) return Promise.resolve(answer)
    return new Promise((resolve) => {
      const streamBy = performance.now() + STREAM_SHARE * this.#options.answerMs
      const given = { client, wanted: [...wanted], again: [], answer, attempts: 0 }
      const request = { ...given, streamBy, resolve: settle }
      const deadline = setTimeout(
        () => this.#refuse({ ...request, wanted }, tookTooLong()),
        this.#options.answerMs,
      )
      this.#enqueue(request)

      function settle(settled: SubscribeAnswer): void {
        clearTimeout(deadline)
        resolve(settled)
      }
    })
  }

  waiting(): number {
    return this.#queue.length
  }

  #want(client: Client, item: SubscribeItem): Wanted {
    const { id } = item
    if (client.subscriptions.has(id) || client.pending.has(id)) {
      throw new Refused("invalid", `The subscription id ${id} is in use.`)
    }
    if (client.subscriptions.size + client.pending.size >= CONNECTION_LIMITS.subscriptions) {
      throw new Refused(
        "rate_limited",
        `One connection may have ${CONNECTION_LIMITS.subscriptions} subscriptions. Close a page that is not needed.`,
        10_000,
      )
    }
    if (client.outbox.overflowing || client.outbox.backlogBytes > CONNECTION_LIMITS.heldBytes) {
      throw tooSlow()
    }
    const question = this.#options.catalogue.ask(item, client.viewer)
    const point = item.have && openResumeToken(this.#secret, client.userId, question.range, item.have.token)
    const claim = Symbol(item.query)
    if (!point) return { ...question, id, claim, clientRows: null }
    const { epoch, end } = point
    const range = end ? pinEnd(question.range, end) : question.range
    const applied = item.have?.lsn === undefined ? 0n : lsnFromWire(item.have.lsn)
    const since = applied > point.lsn ? applied : point.lsn
    const through = point.through > since ? point.through : since
    return { ...question, id, claim, clientRows: { epoch, since, through, range } }
  }

  #enqueue(request: Request): void {
    // A request that needs nothing from the database does not wait in the queue for it.
    if (request.wanted.every((each) => this.#canContinue(each.clientRows) && !each.authorize)) {
      void this.#serve([request])
      return
    }
    this.#queue.push(request)
    this.#schedule()
  }

  #schedule(): void {
    if (this.#scheduled || this.#running >= this.#options.concurrency || this.#queue.length === 0) return
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      const batch: Request[] = []
      for (let size = 0; size < BATCH && this.#queue.length > 0;) {
        const request = this.#queue.shift()
        if (!request) break
        batch.push(request)
        size += request.wanted.length
      }
      if (batch.length > 0) {
        this.#running += 1
        void this.#serve(batch).finally(() => {
          this.#running -= 1
          this.#schedule()
        })
      }
      this.#schedule()
    })
  }

  async #serve(batch: readonly Request[]): Promise<void> {
    const live = batch.filter((request) => this.#dropCancelled(request))
    if (live.length === 0) return
    let snapshot: Snapshot<Reading> | null = null
    try {
      if (
        live.some((request) =>
          request.wanted.some((each) => !this.#canContinue(each.clientRows) || each.authorize),
        )
      ) {
        snapshot = await this.#options.snapshots.take((reader) => this.#read(reader, live))
      }
      let gate = snapshot?.lsn ?? 0n
      for (const request of live) {
        for (const { clientRows } of request.wanted) {
          if (this.#canContinue(clientRows) && clientRows.through > gate) gate = clientRows.through
        }
      }
      const streamBy = Math.min(...live.map((request) => request.streamBy))
      if (!(await this.#hub.reached(gate, Math.max(0, streamBy - performance.now())))) {
        throw createRefusal("unavailable", "server-behind", 1000)
      }
      for (let left = live; left.length > 0;) {
        left = await this.#finishSome(left, snapshot)
        if (left.length > 0) await nextTurn()
      }
    } catch (error) {
      // A query that fails in SQL fails its transaction, so each request of the batch is retried
      // alone.
      if (isTemporary(error)) for (const request of live) this.#refuse(request, error)
      else if (live.length > 1) for (const request of live) await this.#serve([request])
      else if (live[0] && live[0].wanted.length > 1) await this.#serveOneByOne(live[0])
      else for (const request of live) this.#refuse(request, error)
    } finally {
      snapshot?.release()
    }
  }

  /** As many as one turn of the event loop has time for. Resolves to the requests with the rest. */
  #finishSome(live: readonly Request[], snapshot: Snapshot<Reading> | null): Promise<Request[]> {
    return new Promise((resolve, reject) => {
      this.#hub.between(() => {
        try {
          const hasTime = limitTime()
          // The rows may be others in the next turn.
          const texts = new Map<string, readonly string[]>()
          resolve(live.filter((request) => !this.#finish(request, snapshot, texts, hasTime)))
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)))
        }
      })
    })
  }

  async #serveOneByOne(request: Request): Promise<void> {
    for (const each of request.wanted) {
      await new Promise((resolve) => void this.#serve([{ ...request, wanted: [each], again: [], resolve }]))
    }
    request.resolve(request.answer)
  }

  async #read(reader: SnapshotReader, batch: readonly Request[]): Promise<Reading> {
    const allowed = new Map<Wanted, boolean>()
    const rows = new Map<string, Tuple[]>()
    const reads: Promise<void>[] = []
    const begun = new Set<string>()
    for (const { client, wanted } of batch) {
      for (const each of wanted) {
        const { query, range, args } = each
        if (query.authorize) {
          const asked = query.authorize(client.viewer, args, reader.sql)
          reads.push(asked.then((verdict) => void allowed.set(each, verdict)))
        }
        if (this.#canContinue(each.clientRows) || begun.has(range.identity)) continue
        begun.add(range.identity)
        reads.push(reader.rows(range).then((found) => void rows.set(range.identity, found)))
      }
    }
    await Promise.all(reads)
    return { allowed, rows }
  }

  /**
   * Runs between two transactions: brings the rows up to the hub's position, sends them, and
   * follows from there. False if the time is up before all of them are sent.
   */
  #finish(
    request: Request,
    snapshot: Snapshot<Reading> | null,
    texts: Map<string, readonly string[]>,
    hasTime: () => boolean,
  ): boolean {
    if (!this.#dropCancelled(request)) return true
    const { client, wanted, again, answer } = request
    const missing = snapshot ? snapshot.missing() : []
    const position = this.#hub.position()
    const parts: Part[] = []
    let size = 0
    while (wanted.length > 0 && hasTime()) {
      const each = wanted.shift()
      if (!each) break
      try {
        if (client.outbox.backlogBytes + size > CONNECTION_LIMITS.heldBytes) throw tooSlow()
        if (missing === null) throw new PageUnsettled()
        this.#options.catalogue.confirm(each)
        // Before the verdict: the snapshot may not show a right that the stream has delivered.
        const late = missing.filter((transaction) => transaction.end <= position)
        if (late.some((transaction) => each.dependencies.some((place) => affects(transaction, place)))) {
          throw new PageUnsettled()
        }
        if (each.authorize && snapshot?.value.allowed.get(each) !== true) {
          throw createRefusal("not_found", "not-there")
        }
        const { part, range } = this.#answerOf(client, each, snapshot, late, texts)
        parts.push(part)
        size += sizeOf(part)
        this.#hub.follow({
          id: each.id,
          client,
          query: each.query,
          args: each.args,
          range,
          asked: each.range,
          dependencies: each.dependencies,
        })
        client.pending.delete(each.id)
        this.#activity.subscribed(each.query.name, part.kind === "rows" ? "read" : "resumed")
        answer.accepted.push(each.id)
      } catch (error) {
        if (error instanceof PageUnsettled && request.attempts < ATTEMPTS) {
          again.push({ ...each, clientRows: missing !== null && !error.reread ? each.clientRows : null })
          continue
        }
        client.pending.delete(each.id)
        this.#activity.subscribed(each.query.name, "refused")
        answer.refused.push({
          id: each.id,
          error: refusalFor(error, this.#log, `subscribing to ${each.query.name}`),
        })
      }
    }
    client.coalesce()
    for (const text of renderSnapshot({ epoch: this.#hub.epoch(), lsn: lsnToWire(position) }, parts)) {
      client.outbox.snapshot(text, position)
    }
    if (wanted.length > 0) return false
    if (again.length > 0) this.#repeat(request)
    else request.resolve(answer)
    return true
  }

  #repeat(request: Request): void {
    this.#metrics.count("snapshots_repeated")
    setTimeout(
      () => {
        this.#queue.push({ ...request, wanted: request.again, again: [], attempts: request.attempts + 1 })
        this.#schedule()
      },
      5 * (request.attempts + 1),
    )
  }

  #answerOf(
    client: Client,
    wanted: Wanted,
    snapshot: Snapshot<Reading> | null,
    late: readonly Transaction[],
    texts: Map<string, readonly string[]>,
  ): { part: Part; range: Range } {
    const { id, range, clientRows } = wanted
    const position = this.#hub.position()
    const point = { epoch: this.#hub.epoch(), lsn: position, through: position }
    const found = snapshot?.value.rows.get(range.identity)
    // A token is sealed for the requested page; the pinned end is inside it.
    if (this.#canContinue(clientRows)) {
      // The changes in between may be of a time without access.
      if (mayHaveLapsed(this.#ring, wanted.dependencies, clientRows.since, position))
        throw new PageUnsettled({ reread: true })
      const changes = changesSince(this.#ring, clientRows.range, clientRows.since, position)
      this.#metrics.count("resumed")
      const token = sealResumeToken(this.#secret, client.userId, range, {
        ...point,
        end: clientRows.range.end,
      })
      return { part: { id, kind: "changes", changes, token }, range: clientRows.range }
    }
    if (!found) throw new PageUnsettled({ reread: true })
    this.#metrics.count("read_whole")
    const page = finishPage(range, found, late, texts)
    const token = sealResumeToken(this.#secret, client.userId, range, { ...point, end: page.range.end })
    return { part: { id, kind: "rows", page, token }, range: page.range }
  }

  /**
   * Whether all changes since are available. A position far ahead of this server's belongs to
   * another history, such as a restored backup.
   */
  #canContinue(rows: ClientRows | null): rows is ClientRows {
    if (!rows || !this.#hub.includes(rows.epoch, rows.through)) return false
    if (rows.since < this.#ring.start || rows.since > this.#ring.end + 1_000_000n) return false
    return this.#options.watching.knowsSince(rows.range.table, rows.since)
  }

  /** Whether anything of the request is still wanted. */
  #dropCancelled(request: Request): boolean {
    const { client, wanted } = request
    const kept = client.closed ? [] : wanted.filter((each) => client.pending.get(each.id) === each.claim)
    wanted.splice(0, wanted.length, ...kept)
    if (kept.length > 0 || request.again.length > 0) return true
    request.resolve(request.answer)
    return false
  }

  #refuse(request: Request, error: unknown): void {
    const refusal = refusalFor(error, this.#log, "subscribing")
    for (const { id, claim, query } of request.wanted) {
      // Subscriptions that were served or cancelled in the meantime already have their response.
      if (request.client.pending.get(id) !== claim) continue
      request.client.pending.delete(id)
      this.#activity.subscribed(query.name, "refused")
      request.answer.refused.push({ id, error: refusal })
    }
    request.resolve(request.answer)
  }
}

/** For one at least, so that there is progress on a busy machine. */
function limitTime(): () => boolean {
  const until = performance.now() + TURN_MS
  let isFirst = true
  return () => {
    const has = isFirst || performance.now() < until
    isFirst = false
    return has
  }
}

function tooSlow(): Refused {
  return new Refused("unavailable", "The connection is too slow for more.", 2000)
}

function readItem(item: { readonly id: number }): SubscribeItem {
  const parsed = v.safeParse(SubscribeItemMessage, item)
  if (!parsed.success)
    throw new Refused(
      "invalid",
      withUnknownField(`The subscription ${item.id} has the wrong form.`, SubscribeItemMessage, item),
    )
  return parsed.output
}
