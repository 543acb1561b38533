import type { Outbox } from "./outbox.ts"
import type { LiveQuery } from "./live-query.ts"
import type { Range } from "./range.ts"
import type { Shape } from "./shapes.ts"

/** One connection, as the hub sees it. */
export interface Client {
  readonly outbox: Outbox
  readonly userId: string
  /**
   * The person the token names, in the product's words; a refreshed token may bring a newer one of
   * the same user.
   */
  viewer: unknown
  readonly subscriptions: Map<number, Subscription>
  /**
   * Ids whose subscribing is under way, each with what asked for it. Removing one here cancels it.
   */
  readonly pending: Map<number, symbol>
  closed: boolean
}

/** A range that a client follows. */
export interface Subscription {
  readonly id: number
  readonly client: Client
  readonly query: LiveQuery
  readonly args: unknown
  readonly range: Range
  readonly dependencies: readonly DependencyPlace[]
}

/** A place whose change puts a subscription's right in question. */
export interface DependencyPlace {
  readonly shape: Shape
  readonly key: string
  readonly on: "change" | "leave"
}
