import type {
  Lsn,
  MutateAnswer,
  QueryAnswer,
  ServerEvents,
  SubscribeAnswer,
  SubscribeItem,
} from "#server/realtime/contract.ts"

/** An event of the server, by name. `goodbye` is the connection's own affair. */
export type LinkEvent = {
  [Name in Exclude<keyof ServerEvents, "goodbye">]: [name: Name, event: Parameters<ServerEvents[Name]>[0]]
}[Exclude<keyof ServerEvents, "goodbye">]

export type LinkState = "connecting" | "up" | "down" | "signed-out" | "outdated"

export interface LinkListener {
  /** `up` begins a new connection: everything has to be subscribed again. */
  changed(state: LinkState): void
  received(event: LinkEvent): void
}

/**
 * A way to the server that reconnects automatically: a socket of this page's own, or one that the
 * browser's tabs share.
 */
export interface Link {
  listen(listener: LinkListener): void
  /** Rejects when the connection is lost before the answer. */
  subscribe(subscriptions: SubscribeItem[]): Promise<SubscribeAnswer>
  unsubscribe(ids: number[]): void
  query(message: { query: string; args: unknown }): Promise<QueryAnswer>
  /**
   * Rejects when the connection is lost before the answer; the same message may then be sent again.
   */
  mutate(message: { mutation: string; args: unknown; mutationId: string }): Promise<MutateAnswer>
  await(lsn: Lsn): void
  /**
   * The page is looked at again, or the network is back: find out immediately whether the
   * connection still lives.
   */
  wake(): void
  close(): void
}
