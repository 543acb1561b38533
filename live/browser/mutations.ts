import type { ArgsOf, Lsn, MutationType, Refusal, ValueOf } from "../protocol/contract.ts"
import type { Collection } from "./collection.ts"
import type { Link } from "./link.ts"
import type { RowChange } from "./rows.ts"

/**
 * An optimistic change. `merge` and `remove` apply wherever the query's rows hold the key; `put` to
 * the rows with these `args`, or to all rows of the query if `args` is absent.
 */
export type Shown = RowChange & { query: string; args?: unknown }

/** The server refused the mutation. `message` is written for the user. */
export class Refused extends Error {
  readonly code: Refusal["code"]
  readonly reason: Refusal["reason"] | undefined
  readonly values: Refusal["values"] | undefined
  readonly retryAfter: number | undefined

  constructor({ code, message, reason, values, retryAfter }: Refusal) {
    super(message)
    this.name = "Refused"
    this.code = code
    this.reason = reason
    this.values = values
    this.retryAfter = retryAfter
  }
}

interface InFlight {
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

interface MutationsOptions {
  link: Link
  collections: ReadonlyMap<string, Collection>
  isUp(): boolean
  /** The position up to which the connection's events have been applied. */
  place(): Lsn | undefined
}

/**
 * The user's unsettled mutations: shown immediately, and removed once the commit itself has
 * arrived.
 */
export function createMutations({ link, collections, isUp, place }: MutationsOptions) {
  const inFlight = new Map<string, InFlight>()

  async function send(mutation: InFlight) {
    if (mutation.answered || mutation.sending || !isUp()) return
    mutation.sending = true
    try {
      const { name, args, mutationId } = mutation
      const answer = await link.call("mutate", { mutation: name, args, mutationId })
      mutation.answered = true
      if ("error" in answer) {
        drop((one) => one === mutation, false)
        mutation.reject(new Refused(answer.error))
        return
      }
      mutation.xid = answer.xid
      mutation.lsn = answer.lsn
      mutation.resolve(answer.value)
      const reached = place()
      if (reached !== undefined && reached >= answer.lsn) drop((one) => one === mutation, true)
      else link.await(answer.lsn)
    } catch {
      // The connection was lost: whether the server acted is unknown. `resend` sends it again, and
      // the server applies one id only once.
    } finally {
      mutation.sending = false
    }
  }

  /**
   * Removes the optimistic changes of settled mutations without notifying readers: the handler of
   * the event that settled them does.
   */
  function settle(isSettled: (mutation: InFlight) => boolean, isDone = true) {
    if (inFlight.size === 0) return
    const settled = new Set<string>()
    for (const [id, mutation] of inFlight) if (isSettled(mutation)) settled.add(id)
    if (settled.size === 0) return
    for (const id of settled) inFlight.delete(id)
    for (const collection of collections.values()) collection.settle((id) => settled.has(id), isDone)
  }

  function drop(which: (mutation: InFlight) => boolean, isDone: boolean) {
    settle(which, isDone)
    for (const collection of collections.values()) collection.announce()
  }

  function show(mutationId: string, shown: readonly Shown[]) {
    for (const collection of collections.values()) {
      const changes = shown.filter((change) => concerns(collection, change))
      collection.show(changes.map((change) => ({ mutationId, change })))
      collection.announce()
    }
  }

  return {
    begin<Mutation extends MutationType>(
      { name }: Mutation,
      args: ArgsOf<Mutation>,
      shown: readonly Shown[],
    ): Promise<ValueOf<Mutation>> {
      const { promise, resolve, reject } = Promise.withResolvers<ValueOf<Mutation>>()
      const mutationId = crypto.randomUUID()
      const begun: InFlight = {
        mutationId,
        name,
        args,
        resolve: (value) => resolve(value as ValueOf<Mutation>),
        reject,
      }
      inFlight.set(mutationId, begun)
      show(mutationId, shown)
      void send(begun)
      return promise
    },
    resend() {
      for (const mutation of inFlight.values()) void send(mutation)
    },
    settleTransaction: (xid: string) => settle((mutation) => mutation.xid === xid),
    settleUpTo: (lsn: Lsn) => settle((mutation) => mutation.lsn !== undefined && mutation.lsn <= lsn),
    /** For a new epoch, whose positions cannot be compared. */
    settleCommitted: () => settle((mutation) => mutation.lsn !== undefined),
    /** Mutations that were not sent will not be. */
    giveUp(error: Refusal) {
      const unsent = [...inFlight.values()].filter(({ answered }) => !answered)
      drop((mutation) => unsent.includes(mutation), false)
      for (const mutation of unsent) mutation.reject(new Refused(error))
    },
  }
}

function concerns(collection: Collection, { query, args, op, key }: Shown): boolean {
  if (collection.query !== query) return false
  return op === "put" ? args === undefined || sameArgs(args, collection.args) : collection.holds(key)
}

const sameArgs = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other)
