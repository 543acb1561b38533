import type {
  Lsn,
  MutateAnswer,
  QueryAnswer,
  ServerEvents,
  SubscribeAnswer,
  SubscribeItem,
} from "#server/realtime/contract.ts"

/**
 * An event from the server, by name. `goodbye` is handled inside the link, and pages join no
 * channels.
 */
export type LinkEvent = {
  [Name in LinkEventName]: [name: Name, event: Parameters<ServerEvents[Name]>[0]]
}[LinkEventName]

type LinkEventName = Exclude<keyof ServerEvents, "goodbye" | "message" | "members">

export type LinkState = "connecting" | "up" | "down" | "signed-out" | "outdated"

export interface LinkListener {
  /** `up` begins a new connection: everything has to be subscribed again. */
  changed(state: LinkState): void
  received(event: LinkEvent): void
}

/**
 * A connection to the server that reconnects automatically: a socket of this page's own, or one
 * that the browser's tabs share.
 */
export interface Link {
  listen(listener: LinkListener): void
  /** Rejects if the connection is lost before the response. */
  subscribe(subscriptions: SubscribeItem[]): Promise<SubscribeAnswer>
  unsubscribe(ids: number[]): void
  query(message: { query: string; args: unknown }): Promise<QueryAnswer>
  /**
   * Rejects if the connection is lost before the response; the same message may then be sent again.
   */
  mutate(message: { mutation: string; args: unknown; mutationId: string }): Promise<MutateAnswer>
  await(lsn: Lsn): void
  /**
   * The page became visible or the network is back: checks immediately whether the connection is
   * still alive.
   */
  wake(): void
  close(): void
}
