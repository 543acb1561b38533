import type {
  BroadcastAnswer,
  ClientEvents,
  JoinAnswer,
  Lsn,
  MutateAnswer,
  QueryAnswer,
  ServerEvents,
  SubscribeAnswer,
  SubscribeItem,
} from "../protocol/contract.ts"

/** An event from the server, by name. `goodbye` is handled inside the link. */
export type LinkEvent = {
  [Name in LinkEventName]: [name: Name, event: Parameters<ServerEvents[Name]>[0]]
}[LinkEventName]

type LinkEventName = Exclude<keyof ServerEvents, "goodbye">

/** Messages with a response, and what it is. `leave` has none, and is not waited for. */
export interface Calls {
  query: { message: Parameters<ClientEvents["query"]>[0]; answer: QueryAnswer }
  mutate: { message: Parameters<ClientEvents["mutate"]>[0]; answer: MutateAnswer }
  join: { message: Parameters<ClientEvents["join"]>[0]; answer: JoinAnswer }
  broadcast: { message: Parameters<ClientEvents["broadcast"]>[0]; answer: BroadcastAnswer }
  leave: { message: Parameters<ClientEvents["leave"]>[0]; answer: null }
}

export type Call = { [Name in keyof Calls]: [name: Name, message: Calls[Name]["message"]] }[keyof Calls]

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
  /**
   * Rejects if the connection is lost before the response. The same `mutate` may then be sent again.
   * `join`, `leave` and `broadcast` name a subscription.
   */
  call<Name extends keyof Calls>(name: Name, message: Calls[Name]["message"]): Promise<Calls[Name]["answer"]>
  await(lsn: Lsn): void
  /**
   * The page became visible or the network is back: checks immediately whether the connection is
   * still alive.
   */
  wake(): void
  close(): void
}
