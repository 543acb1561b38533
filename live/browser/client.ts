import type {
  ArgsOf,
  CommitEvent,
  Have,
  LiveRow,
  Loaded,
  Lsn,
  MutationType,
  Refusal,
  SnapshotEvent,
  SubscribeItem,
  ValueOf,
} from "../protocol/contract.ts"
import { clientTexts } from "../protocol/refusal-text-contract.ts"
import { createCollection, type Collection, rowChange } from "./collection.ts"
import type { Calls, Link, LinkEvent, LinkState } from "./link.ts"
import { createMutations, type Shown } from "./mutations.ts"

/**
 * How fresh the page's data is. `asOf`: milliseconds since the epoch up to which it shows
 * everything that was committed.
 */
export interface Freshness {
  state: "live" | "connecting" | "stale" | "signed-out" | "outdated"
  asOf: number
}

export const CONNECTING: Freshness = { state: "connecting", asOf: 0 }

/**
 * Milliseconds. Rows without readers stay live for this long, so that returning to a page finds
 * them.
 */
const LINGER = 30_000
/**
 * A message may have 64 kB, and a subscription contains a sealed token of some hundred characters.
 */
const PER_MESSAGE = 50

/**
 * What a channel beside rows has to know: that they are followed by a subscription from now on, that
 * it has ended, and the events of its channels.
 */
export type ChannelNews =
  | [name: "began", id: number]
  | [name: "ended"]
  | Extract<LinkEvent, ["message" | "members", unknown]>

/**
 * Keeps collections equal to the database over one link, and shows mutations until the database has
 * applied them.
 */
export class LiveClient {
  readonly #link: Link
  readonly #collections = new Map<string, Collection>()
  readonly #keys = new Map<number, string>()
  readonly #ids = new Map<string, number>()
  readonly #holders = new Map<string, number>()
  readonly #channels = new Map<string, (news: ChannelNews) => void>()
  readonly #lingering = new Map<string, ReturnType<typeof setTimeout>>()
  readonly #freshnessReaders = new Set<() => void>()
  #freshness = CONNECTING
  #linkState: LinkState = "connecting"
  #lsn: Lsn | undefined
  #epoch: string | undefined
  #nextId = 1
  #held: SnapshotEvent[] = []
  #subscribing: SubscribeItem[] | undefined
  readonly #mutations: ReturnType<typeof createMutations>

  constructor(link: Link) {
    this.#link = link
    this.#mutations = createMutations({
      link,
      collections: this.#collections,
      isUp: () => this.#linkState === "up",
      place: () => this.#lsn,
    })
    link.listen({
      received: (event) => this.#received(event),
      changed: (state) => this.#changed(state),
    })
  }

  /** The live rows, or the loader's own if nothing holds them. */
  rows(loaded: Loaded): readonly LiveRow[] {
    return this.#collections.get(keyOf(loaded))?.rows(loaded) ?? loaded.rows
  }

  /**
   * Keeps these rows live, starting from what a loader returned, until `release` is called.
   * Without `isFollowed` they are not subscribed, and only show mutations.
   */
  hold(loaded: Loaded, isFollowed = true): { collection: Collection; release(): void } {
    const key = keyOf(loaded)
    const collection = this.#collections.get(key) ?? createCollection(loaded, isFollowed)
    this.#collections.set(key, collection)
    this.#holders.set(key, (this.#holders.get(key) ?? 0) + 1)
    clearTimeout(this.#lingering.get(key))
    this.#lingering.delete(key)
    // A collection that was reset has no token to continue from.
    if (!this.#ids.has(key) && collection.token === undefined && loaded.have) {
      collection.adopt(loaded)
      collection.announce()
    }
    this.#resubscribe(key)
    return { collection, release: () => this.#release(key) }
  }

  /**
   * Call it when a loader ran again. Subscribed rows receive its changes anyway; for others, it
   * brings them.
   */
  adopt(loaded: Loaded) {
    const key = keyOf(loaded)
    const collection = this.#collections.get(key)
    if (!collection || this.#ids.has(key)) return
    if (collection.isFollowed && (!loaded.have || collection.isPast(loaded.have.position))) return
    collection.adopt(loaded)
    collection.announce()
  }

  /**
   * Sends a named mutation and shows its effect immediately. Resolves to the server's value;
   * throws `Refused` after the effect has been reverted. If the connection is lost it is sent
   * again, and applied once.
   */
  readonly mutate = <Mutation extends MutationType>(
    mutation: Mutation,
    args: ArgsOf<Mutation>,
    shown: readonly Shown[] = [],
  ): Promise<ValueOf<Mutation>> => this.#mutations.begin(mutation, args, shown)

  /** For a channel beside rows that are held, one at a time. Returns a function that ends it. */
  accompany(loaded: Pick<Loaded, "query" | "args">, channel: (news: ChannelNews) => void): () => void {
    const key = keyOf(loaded)
    this.#channels.set(key, channel)
    const id = this.#ids.get(key)
    if (id !== undefined && this.#collections.get(key)?.live) channel(["began", id])
    return () => void this.#channels.delete(key)
  }

  call<Name extends keyof Calls>(
    name: Name,
    message: Calls[Name]["message"],
  ): Promise<Calls[Name]["answer"]> {
    return this.#link.call(name, message)
  }

  readonly freshness = (): Freshness => this.#freshness

  readonly watchFreshness = (reader: () => void) => {
    this.#freshnessReaders.add(reader)
    return () => void this.#freshnessReaders.delete(reader)
  }

  readonly wake = (): void => this.#link.wake()

  close(): void {
    this.#link.close()
  }

  /** Everything that a page subscribes to in one tick is one message. */
  #subscribe(key: string, have: Have | undefined) {
    const collection = this.#collections.get(key)
    if (!collection || this.#linkState !== "up") return
    const id = this.#nextId++
    this.#keys.set(id, key)
    this.#ids.set(key, id)
    if (!this.#subscribing) {
      this.#subscribing = []
      queueMicrotask(() => void this.#sendSubscriptions())
    }
    this.#subscribing.push({ id, query: collection.query, args: collection.args, have })
  }

  async #sendSubscriptions() {
    // Subscriptions of a connection that was lost in the same tick have been sent again.
    const items = (this.#subscribing ?? []).filter(({ id }) => this.#keys.has(id))
    this.#subscribing = undefined
    for (let at = 0; at < items.length; at += PER_MESSAGE) {
      const asked = items.slice(at, at + PER_MESSAGE)
      const answer = await this.#link.subscribe(asked).catch(() => undefined)
      if (!answer) return
      if (answer.error) for (const { id } of asked) this.#refuse(id, answer.error)
      for (const { id, error } of answer.refused) this.#refuse(id, error)
      // Unknown ids belong to a connection that has been replaced in the meantime.
      const strays = answer.accepted.filter((id) => !this.#keys.has(id))
      if (strays.length > 0) this.#link.unsubscribe(strays)
    }
  }

  #refuse(id: number, error: Refusal) {
    const [key] = this.#end([id])
    const collection = key === undefined ? undefined : this.#collections.get(key)
    if (key === undefined || !collection) return
    if (error.retryAfter !== undefined || error.code === "unavailable" || error.code === "rate_limited") {
      setTimeout(() => this.#resubscribe(key), (error.retryAfter ?? 1000) + Math.random() * 1000)
      return
    }
    if (error.code === "not_found" || error.code === "forbidden") {
      collection.clear()
      collection.announce()
    }
    console.error(`The live query ${collection.query} was refused: ${error.message}`)
  }

  #resubscribe(key: string) {
    if (this.#ids.has(key)) return
    const collection = this.#collections.get(key)
    if (collection?.isFollowed) this.#subscribe(key, haveOf(collection))
  }

  #release(key: string) {
    const left = (this.#holders.get(key) ?? 1) - 1
    this.#holders.set(key, left)
    if (left > 0) return
    this.#lingering.set(
      key,
      setTimeout(() => {
        this.#lingering.delete(key)
        this.#holders.delete(key)
        this.#collections.delete(key)
        const id = this.#ids.get(key)
        this.#ids.delete(key)
        if (id === undefined) return
        this.#keys.delete(id)
        this.#link.unsubscribe([id])
      }, LINGER),
    )
  }

  #changed(state: LinkState) {
    this.#linkState = state
    this.#end([...this.#keys.keys()])
    this.#held = []
    if (state === "up") {
      for (const key of this.#collections.keys()) this.#resubscribe(key)
      this.#mutations.resend()
      if (this.#collections.size === 0) this.#setFreshness({ ...this.#freshness, state: "live" })
      return
    }
    if (state === "signed-out") {
      for (const collection of this.#collections.values()) {
        collection.clear()
        collection.announce()
      }
      this.#mutations.giveUp({ code: "unauthorized", ...ownWords("signed-out") })
    }
    if (state === "outdated") this.#mutations.giveUp({ code: "version", ...ownWords("page-replaced") })
    this.#setFreshness({ ...this.#freshness, state: state === "down" ? "stale" : state })
  }

  #tellChannel(key: string | undefined, news: ChannelNews) {
    this.#channels.get(key ?? "")?.(news)
  }

  #received(from: LinkEvent) {
    const [name, event] = from
    switch (name) {
      case "message":
      case "members":
        return this.#tellChannel(this.#keys.get(event.id), from)
      case "snapshot":
        this.#held.push(event)
        if (event.more) return
        this.#applySnapshots(this.#held)
        this.#held = []
        break
      case "commit":
        this.#applyCommit(event)
        break
      case "position":
        this.#advance(event.lsn)
        break
      case "reset":
        for (const key of this.#end(event.ids)) {
          this.#collections.get(key)?.forget()
          this.#subscribe(key, undefined)
        }
        break
      case "revoked":
        // A user who has signed out, here or on another device, is notified by the link; another
        // tab's rows must not flash.
        for (const key of this.#end(event.ids))
          if (event.reason === "denied") this.#collections.get(key)?.clear()
        break
    }
    if (name === "commit" || name === "position" || name === "snapshot") {
      const late = name === "position" && event.lag > 0
      this.#setFreshness({ state: late ? "stale" : "live", asOf: late ? event.at - event.lag : event.at })
    }
    for (const collection of this.#collections.values()) collection.announce()
  }

  #applySnapshots(events: SnapshotEvent[]) {
    const joined = new Map<number, SnapshotEvent["subscriptions"][number]>()
    for (const part of events.flatMap(({ subscriptions }) => subscriptions)) {
      const begun = joined.get(part.id)
      if (begun?.kind === "rows" && part.kind === "rows") {
        joined.set(part.id, { ...part, rows: begun.rows.concat(part.rows) })
      } else if (begun?.kind === "changes" && part.kind === "changes") {
        joined.set(part.id, { ...part, changes: begun.changes.concat(part.changes) })
      } else joined.set(part.id, part)
    }
    let isRead = false
    for (const [id, snapshot] of joined) {
      this.#collections.get(this.#keys.get(id) ?? "")?.applySnapshot(snapshot)
      this.#tellChannel(this.#keys.get(id), ["began", id])
      isRead ||= snapshot.kind === "rows"
    }
    const position = events.at(-1)?.position
    if (!position) return
    // LSNs of different epochs cannot be compared, except when the rows go on as they are. The rows
    // of another snapshot were read after every settled mutation.
    if (this.#epoch !== position.epoch && isRead) this.#mutations.settleCommitted()
    this.#epoch = position.epoch
    this.#advance(position.lsn)
  }

  #applyCommit(event: CommitEvent) {
    for (const [id, op, key, row] of event.changes) {
      this.#collections.get(this.#keys.get(id) ?? "")?.apply(rowChange(op, key, row))
    }
    for (const xid of event.xids) this.#mutations.settleTransaction(xid)
    this.#advance(event.lsn)
  }

  #advance(to: Lsn) {
    this.#lsn = to
    this.#mutations.settleUpTo(to)
  }

  /** Marks these subscriptions as ended. Returns the keys of those that are still in use. */
  #end(gone: number[]): string[] {
    return gone.flatMap((id) => {
      const key = this.#keys.get(id)
      this.#keys.delete(id)
      if (key === undefined || this.#ids.get(key) !== id) return []
      this.#tellChannel(key, ["ended"])
      this.#ids.delete(key)
      if (this.#lsn !== undefined && this.#epoch !== undefined)
        this.#collections.get(key)?.suspend({ epoch: this.#epoch, lsn: this.#lsn })
      return [key]
    })
  }

  #setFreshness(to: Freshness) {
    if (to.state === this.#freshness.state && to.asOf === this.#freshness.asOf) return
    this.#freshness = to
    for (const reader of this.#freshnessReaders) reader()
  }
}

export const keyOf = ({ query, args }: Pick<Loaded, "query" | "args">) => `${query} ${JSON.stringify(args)}`

function haveOf({ token, upTo }: Collection): Have | undefined {
  if (token === undefined) return undefined
  return upTo === undefined ? { token } : { token, lsn: upTo.lsn }
}

function ownWords(reason: keyof typeof clientTexts) {
  return { reason, message: clientTexts[reason] }
}
