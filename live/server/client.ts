import type { Outbox } from "./outbox.ts"
import type { LiveQuery } from "./live-query.ts"
import type { Range } from "./range.ts"
import type { Shape } from "./shapes.ts"

/** One connection, as the hub sees it. */
export interface Client {
  readonly outbox: Outbox
  readonly userId: string
  /**
   * The product's viewer for the token. A refreshed token may replace it with a newer one of the
   * same user.
   */
  viewer: unknown
  /** What is sent in this turn of the event loop leaves in one write. */
  coalesce(): void
  readonly subscriptions: Map<number, Subscription>
  /** Ids of subscriptions being set up, each with its request. Removing one here cancels it. */
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
  /** The range as it was asked for: its end is not pinned. Tokens are sealed for it. */
  readonly asked: Range
  readonly dependencies: readonly DependencyPlace[]
}

/** A place whose change requires a subscription to be authorized again. */
export interface DependencyPlace {
  readonly shape: Shape
  readonly key: string
  readonly on: "change" | "leave"
}
