import type {
  ArgsOf,
  CommitEvent,
  Have,
  Loaded,
  Lsn,
  MutationType,
  Refusal,
  SnapshotEvent,
  SubscribeItem,
  ValueOf,
} from "#server/realtime/contract.ts"
import { createCollection, rowChange, type Collection } from "./collection.ts"
import type { Link, LinkEvent, LinkState } from "./link.ts"
import type { RowChange } from "./rows.ts"

/** What the page may say of its freshness. `asOf`: the moment (ms) up to which it shows everything that was committed. */
export interface Freshness {
  state: "live" | "connecting" | "stale" | "signed-out" | "outdated"
  asOf: number
}

/**
 * A change shown at once. `merge` and `remove` apply wherever the query's rows hold the key; `put` to the rows with these `args`, and to
 * all rows of the query when `args` is absent.
 */
export type Shown = RowChange & { query: string; args?: unknown }

/** The server said no. `message` is written for the user. */
export class Refused extends Error {
  readonly code: Refusal["code"]
  readonly retryAfter: number | undefined

  constructor({ code, message, retryAfter }: Refusal) {
    super(message)
    this.name = "Refused"
    this.code = code
    this.retryAfter = retryAfter
  }
}

/** Rows that nobody looks at any more stay live for this long: whoever goes back finds them. */
const LINGER = 30_000

export type LiveClient = ReturnType<typeof createLiveClient>

/** Keeps collections equal to the database over one link, and mutations on the screen until the database has them. */
export function createLiveClient(link: Link) {
  const collections = new Map<string, Collection>()
  const keys = new Map<number, string>()
  const ids = new Map<string, number>()
  const holders = new Map<string, number>()
  const mutations = new Map<string, MutationInFlight>()
  const freshnessReaders = new Set<() => void>()
  let freshness: Freshness = { state: "connecting", asOf: 0 }
  let linkState: LinkState = "connecting"
  let lsn: Lsn | undefined
  let nextId = 1
  let held: SnapshotEvent[] = []
  let subscribing: SubscribeItem[] | undefined

  // Subscriptions: one message for all that a page asks for in one tick.

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
    const items = subscribing ?? []
    subscribing = undefined
    for (let at = 0; at < items.length; at += 100) {
      const answer = await link.subscribe(items.slice(at, at + 100)).catch(() => undefined)
      for (const { id, error } of answer?.refused ?? []) refuse(id, error)
    }
  }

  function refuse(id: number, error: Refusal) {
    const key = keys.get(id)
    if (key === undefined) return
    keys.delete(id)
    ids.delete(key)
    if (error.code === "unavailable" || error.code === "rate_limited") {
      setTimeout(() => resubscribe(key), (error.retryAfter ?? 1000) + Math.random() * 1000)
    } else {
      console.error(`The live query ${collections.get(key)?.query} was refused: ${error.message}`)
    }
  }

  function resubscribe(key: string) {
    if (ids.has(key)) return
    const collection = collections.get(key)
    if (collection) subscribe(key, haveOf(collection))
  }

  function haveOf(collection: Collection): Have | undefined {
    if (!collection.token) return undefined
    return collection.live && lsn ? { token: collection.token, lsn } : { token: collection.token }
  }

  function release(key: string) {
    const left = (holders.get(key) ?? 1) - 1
    holders.set(key, left)
    if (left > 0) return
    setTimeout(() => {
      if (holders.get(key) !== 0) return
      holders.delete(key)
      collections.delete(key)
      const id = ids.get(key)
      ids.delete(key)
      if (id === undefined) return
      keys.delete(id)
      link.unsubscribe([id])
    }, LINGER)
  }

  // What the server says.

  function received([name, event]: LinkEvent) {
    switch (name) {
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
        for (const key of forget(event.ids)) subscribe(key, undefined)
        break
      case "revoked":
        // Whoever has signed out, here or on another device, is told so by the link; another tab's rows must not flash.
        for (const key of forget(event.ids)) if (event.reason === "denied") collections.get(key)?.clear()
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
    for (const [id, snapshot] of joined) collections.get(keys.get(id) ?? "")?.applySnapshot(snapshot)
    const last = events.at(-1)
    if (last) advance(last.position.lsn)
  }

  function applyCommit(event: CommitEvent) {
    for (const [id, op, key, row] of event.changes) {
      collections.get(keys.get(id) ?? "")?.apply(rowChange(op, key, row))
    }
    for (const xid of event.xids) settle((mutation) => mutation.xid === xid)
    advance(event.lsn)
  }

  function advance(to: Lsn) {
    lsn = to
    settle((mutation) => mutation.lsn !== undefined && mutation.lsn <= to)
  }

  function forget(gone: number[]): string[] {
    return gone.flatMap((id) => {
      const key = keys.get(id)
      keys.delete(id)
      if (key === undefined || ids.get(key) !== id) return []
      ids.delete(key)
      return [key]
    })
  }

  link.listen({
    received,
    changed(state) {
      linkState = state
      if (state === "up") {
        held = []
        keys.clear()
        ids.clear()
        for (const key of collections.keys()) resubscribe(key)
        for (const mutation of mutations.values()) void send(mutation)
        if (collections.size === 0) setFreshness({ ...freshness, state: "live" })
        return
      }
      if (state === "signed-out") {
        for (const collection of collections.values()) {
          collection.clear()
          collection.announce()
        }
      }
      const shown = {
        connecting: "connecting",
        down: "stale",
        "signed-out": "signed-out",
        outdated: "outdated",
      } as const
      setFreshness({ ...freshness, state: shown[state] })
    },
  })

  // Mutations.

  async function send(mutation: MutationInFlight) {
    if (mutation.answered || mutation.sending || linkState !== "up") return
    mutation.sending = true
    try {
      const { name, args, mutationId } = mutation
      const answer = await link.mutate({ mutation: name, args, mutationId })
      mutation.answered = true
      if ("error" in answer) {
        drop((one) => one === mutation)
        mutation.reject(new Refused(answer.error))
        return
      }
      mutation.xid = answer.xid
      mutation.lsn = answer.lsn
      mutation.resolve(answer.value)
      if (lsn !== undefined && lsn >= answer.lsn) drop((one) => one === mutation)
      else link.await(answer.lsn)
    } catch {
      // The connection was lost: whether the server acted is not known, and it applies one id once. `up` sends it again.
    } finally {
      mutation.sending = false
    }
  }

  /** Takes settled mutations off the screen without announcing it: the event that settled them does. */
  function settle(isSettled: (mutation: MutationInFlight) => boolean) {
    if (mutations.size === 0) return
    const settled = new Set<string>()
    for (const [id, mutation] of mutations) if (isSettled(mutation)) settled.add(id)
    if (settled.size === 0) return
    for (const id of settled) mutations.delete(id)
    for (const collection of collections.values()) collection.settle((id) => settled.has(id))
  }

  function drop(which: (mutation: MutationInFlight) => boolean) {
    settle(which)
    for (const collection of collections.values()) collection.announce()
  }

  function show(mutationId: string, shown: readonly Shown[]) {
    for (const { query, args, ...change } of shown) {
      for (const collection of collections.values()) {
        if (collection.query !== query) continue
        if (
          change.op === "put"
            ? args !== undefined && !sameArgs(args, collection.args)
            : !collection.holds(change.key)
        )
          continue
        collection.show({ mutationId, change })
        collection.announce()
      }
    }
  }

  function setFreshness(to: Freshness) {
    if (to.state === freshness.state && to.asOf === freshness.asOf) return
    freshness = to
    for (const reader of freshnessReaders) reader()
  }

  return {
    /** The collection of these rows, made from what a loader returned if there is none yet. */
    collection(loaded: Loaded): Collection {
      const key = keyOf(loaded)
      const known = collections.get(key)
      if (known) return known
      const collection = createCollection(loaded)
      collections.set(key, collection)
      return collection
    },
    /** Keeps the collection live until the answer is called. */
    hold(loaded: Loaded): () => void {
      const key = keyOf(loaded)
      this.collection(loaded)
      holders.set(key, (holders.get(key) ?? 0) + 1)
      resubscribe(key)
      return () => release(key)
    },
    /** A loader ran again. While the connection is up its rows are on their way here anyway; while it is not, they are news. */
    adopt(loaded: Loaded) {
      const collection = collections.get(keyOf(loaded))
      if (!collection || !loaded.have || collection.token === loaded.have.token) return
      if (linkState === "up" || (lsn !== undefined && loaded.have.position.lsn <= lsn)) return
      collection.adopt(loaded)
      collection.announce()
    },
    /**
     * Sends a named mutation, showing its effect at once. Resolves with the server's answer; throws `Refused`, after the effect has been taken back.
     * Over a lost connection it waits, and is applied once.
     */
    mutate<Mutation extends MutationType>(
      mutation: Mutation,
      args: ArgsOf<Mutation>,
      shown: readonly Shown[] = [],
    ): Promise<ValueOf<Mutation>> {
      const { promise, resolve, reject } = Promise.withResolvers<ValueOf<Mutation>>()
      const mutationId = crypto.randomUUID()
      const begun: MutationInFlight = {
        mutationId,
        name: mutation.name,
        args,
        resolve: (value) => resolve(value as ValueOf<Mutation>),
        reject,
      }
      mutations.set(mutationId, begun)
      show(mutationId, shown)
      void send(begun)
      return promise
    },
    freshness: () => freshness,
    watchFreshness(reader: () => void) {
      freshnessReaders.add(reader)
      return () => void freshnessReaders.delete(reader)
    },
    wake: link.wake,
    close: link.close,
  }
}

interface MutationInFlight {
  mutationId: string
  name: string
  args: unknown
  resolve(value: unknown): void
  reject(error: Error): void
  sending?: boolean
  answered?: boolean
  xid?: string
  lsn?: Lsn
}

const keyOf = ({ query, args }: Pick<Loaded, "query" | "args">) => `${query} ${JSON.stringify(args)}`

const sameArgs = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other)
