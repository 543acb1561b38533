import type { Outbox } from "./outbox.ts"
import type { Subscription } from "./topics.ts"

/** One connection, as the hub sees it. */
export interface Client {
  readonly outbox: Outbox
  readonly userId: string
  /** Whoever the token named, in the product's words; a refreshed token may bring a newer one of the same user. */
  viewer: unknown
  readonly subscriptions: Map<number, Subscription>
  /** Ids whose subscribing is under way. Removing one here cancels it. */
  readonly pending: Set<number>
  closed: boolean
}
