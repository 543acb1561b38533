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
import { createCollection, rowChange, type Collection } from "./collection.ts"
import type { Link, LinkEvent, LinkState } from "./link.ts"
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

export type LiveClient = ReturnType<typeof createLiveClient>

/**
 * Keeps collections equal to the database over one link, and shows mutations until the database has
 * applied them.
 */
export function createLiveClient(link: Link) {
  const collections = new Map<string, Collection>()
  const keys = new Map<number, string>()
  const ids = new Map<string, number>()
  const holders = new Map<string, number>()
  const channels = new Map<string, (news: ChannelNews) => void>()
  const lingering = new Map<string, ReturnType<typeof setTimeout>>()
  const freshnessReaders = new Set<() => void>()
  let freshness = CONNECTING
  let linkState: LinkState = "connecting"
  let lsn: Lsn | undefined
  let epoch: string | undefined
  let nextId = 1
  let held: SnapshotEvent[] = []
  let subscribing: SubscribeItem[] | undefined
  const mutations = createMutations({ link, collections, isUp: () => linkState === "up", place: () => lsn })

  // Subscriptions: sent as one message for everything a page subscribes to in one tick.

  function subscribe(key: string, have: Have | undefined) {
    const collection = collections.get(key)
    if (!collection || linkState !== "up") return
    const id = nextId++
    keys.set(id, key)
    ids.set(key, id)
    if (!subscribing) {
      subscribing = []
      queueMicrotask(() => void sendSubscriptions())
    }
    subscribing.push({ id, query: collection.query, args: collection.args, have })
  }

  async function sendSubscriptions() {
    // Subscriptions of a connection that was lost in the same tick have been sent again.
    const items = (subscribing ?? []).filter(({ id }) => keys.has(id))
    subscribing = undefined
    for (let at = 0; at < items.length; at += PER_MESSAGE) {
      const asked = items.slice(at, at + PER_MESSAGE)
      const answer = await link.subscribe(asked).catch(() => undefined)
      if (!answer) return
      if (answer.error) for (const { id } of asked) refuse(id, answer.error)
      for (const { id, error } of answer.refused) refuse(id, error)
      // Unknown ids belong to a connection that has been replaced in the meantime.
      const strays = answer.accepted.filter((id) => !keys.has(id))
      if (strays.length > 0) link.unsubscribe(strays)
    }
  }

  function refuse(id: number, error: Refusal) {
    const [key] = end([id])
    const collection = key === undefined ? undefined : collections.get(key)
    if (key === undefined || !collection) return
    if (error.retryAfter !== undefined || error.code === "unavailable" || error.code === "rate_limited") {
      setTimeout(() => resubscribe(key), (error.retryAfter ?? 1000) + Math.random() * 1000)
      return
    }
    if (error.code === "not_found" || error.code === "forbidden") {
      collection.clear()
      collection.announce()
    }
    console.error(`The live query ${collection.query} was refused: ${error.message}`)
  }

  function resubscribe(key: string) {
    if (ids.has(key)) return
    const collection = collections.get(key)
    if (collection?.isFollowed) subscribe(key, haveOf(collection))
  }

  function release(key: string) {
    const left = (holders.get(key) ?? 1) - 1
    holders.set(key, left)
    if (left > 0) return
    lingering.set(
      key,
      setTimeout(() => {
        lingering.delete(key)
        holders.delete(key)
        collections.delete(key)
        const id = ids.get(key)
        ids.delete(key)
        if (id === undefined) return
        keys.delete(id)
        link.unsubscribe([id])
      }, LINGER),
    )
  }

  // Events from the server.

  function tellChannel(key: string | undefined, news: ChannelNews) {
    channels.get(key ?? "")?.(news)
  }

  function received(from: LinkEvent) {
    const [name, event] = from
    switch (name) {
      case "message":
      case "members":
        return tellChannel(keys.get(event.id), from)
      case "snapshot":
        held.push(event)
        if (event.more) return
        applySnapshots(held)
        held = []
        break
      case "commit":
        applyCommit(event)
        break
      case "position":
        advance(event.lsn)
        break
      case "reset":
        for (const key of end(event.ids)) {
          collections.get(key)?.forget()
          subscribe(key, undefined)
        }
        break
      case "revoked":
        // A user who has signed out, here or on another device, is notified by the link; another
        // tab's rows must not flash.
        for (const key of end(event.ids)) if (event.reason === "denied") collections.get(key)?.clear()
        break
    }
    if (name === "commit" || name === "position" || name === "snapshot") {
      const late = name === "position" && event.lag > 0
      setFreshness({ state: late ? "stale" : "live", asOf: late ? event.at - event.lag : event.at })
    }
    for (const collection of collections.values()) collection.announce()
  }

  function applySnapshots(events: SnapshotEvent[]) {
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
      collections.get(keys.get(id) ?? "")?.applySnapshot(snapshot)
      tellChannel(keys.get(id), ["began", id])
      isRead ||= snapshot.kind === "rows"
    }
    const position = events.at(-1)?.position
    if (!position) return
    // LSNs of different epochs cannot be compared, except when the rows go on as they are. The rows
    // of another snapshot were read after every settled mutation.
    if (epoch !== position.epoch && isRead) mutations.settleCommitted()
    epoch = position.epoch
    advance(position.lsn)
  }

  function applyCommit(event: CommitEvent) {
    for (const [id, op, key, row] of event.changes) {
      collections.get(keys.get(id) ?? "")?.apply(rowChange(op, key, row))
    }
    for (const xid of event.xids) mutations.settleTransaction(xid)
    advance(event.lsn)
  }

  function advance(to: Lsn) {
    lsn = to
    mutations.settleUpTo(to)
  }

  /** Marks these subscriptions as ended. Returns the keys of those that are still in use. */
  function end(gone: number[]): string[] {
    return gone.flatMap((id) => {
      const key = keys.get(id)
      keys.delete(id)
      if (key === undefined || ids.get(key) !== id) return []
      tellChannel(key, ["ended"])
      ids.delete(key)
      if (lsn !== undefined && epoch !== undefined) collections.get(key)?.suspend({ epoch, lsn })
      return [key]
    })
  }

  link.listen({
    received,
    changed(state) {
      linkState = state
      end([...keys.keys()])
      held = []
      if (state === "up") {
        for (const key of collections.keys()) resubscribe(key)
        mutations.resend()
        if (collections.size === 0) setFreshness({ ...freshness, state: "live" })
        return
      }
      if (state === "signed-out") {
        for (const collection of collections.values()) {
          collection.clear()
          collection.announce()
        }
        mutations.giveUp({ code: "unauthorized", ...ownWords("signed-out") })
      }
      if (state === "outdated") {
        mutations.giveUp({
          code: "version",
          ...ownWords("page-replaced"),
        })
      }
      setFreshness({ ...freshness, state: state === "down" ? "stale" : state })
    },
  })

  function setFreshness(to: Freshness) {
    if (to.state === freshness.state && to.asOf === freshness.asOf) return
    freshness = to
    for (const reader of freshnessReaders) reader()
  }

  return {
    /** The live rows, or the loader's own if nothing holds them. */
    rows: (loaded: Loaded): readonly LiveRow[] => collections.get(keyOf(loaded))?.rows(loaded) ?? loaded.rows,
    /**
     * Keeps these rows live, starting from what a loader returned, until `release` is called.
     * Without `isFollowed` they are not subscribed, and only show mutations.
     */
    hold(loaded: Loaded, isFollowed = true): { collection: Collection; release(): void } {
      const key = keyOf(loaded)
      const collection = collections.get(key) ?? createCollection(loaded, isFollowed)
      collections.set(key, collection)
      holders.set(key, (holders.get(key) ?? 0) + 1)
      clearTimeout(lingering.get(key))
      lingering.delete(key)
      // A collection that was reset has no token to continue from.
      if (!ids.has(key) && collection.token === undefined && loaded.have) {
        collection.adopt(loaded)
        collection.announce()
      }
      resubscribe(key)
      return { collection, release: () => release(key) }
    },
    /**
     * Call it when a loader ran again. Subscribed rows receive its changes anyway; for others, it
     * brings them.
     */
    adopt(loaded: Loaded) {
      const key = keyOf(loaded)
      const collection = collections.get(key)
      if (!collection || ids.has(key)) return
      if (collection.isFollowed && (!loaded.have || collection.isPast(loaded.have.position))) return
      collection.adopt(loaded)
      collection.announce()
    },
    /**
     * Sends a named mutation and shows its effect immediately. Resolves to the server's value;
     * throws `Refused` after the effect has been reverted. If the connection is lost it is sent
     * again, and applied once.
     */
    mutate<Mutation extends MutationType>(
      mutation: Mutation,
      args: ArgsOf<Mutation>,
      shown: readonly Shown[] = [],
    ): Promise<ValueOf<Mutation>> {
      return mutations.begin(mutation, args, shown)
    },
    /** For a channel beside rows that are held, one at a time. Returns a function that ends it. */
    accompany(loaded: Pick<Loaded, "query" | "args">, channel: (news: ChannelNews) => void): () => void {
      const key = keyOf(loaded)
      channels.set(key, channel)
      const id = ids.get(key)
      if (id !== undefined && collections.get(key)?.live) channel(["began", id])
      return () => void channels.delete(key)
    },
    call: link.call,
    freshness: () => freshness,
    watchFreshness(reader: () => void) {
      freshnessReaders.add(reader)
      return () => void freshnessReaders.delete(reader)
    },
    wake: link.wake,
    close: link.close,
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
