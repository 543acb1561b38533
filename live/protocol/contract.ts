/**
 * The realtime wire protocol as types, described in docs/realtime-protocol.md. The only part of
 * live/server that a browser may import, so it holds no library.
 */

export const PROTOCOL_VERSION = 1
export const REALTIME_PATH = "/realtime"

/**
 * A place in the write-ahead log as 16 hexadecimal digits, so that two of them compare as strings.
 */
export type Lsn = string

/**
 * LSNs of two epochs cannot be compared: another cluster, a failover or another schema lies between
 * them.
 */
export interface Position {
  epoch: string
  lsn: Lsn
}

/** socket.io `auth` of the handshake. `client` is a label for the server's log. */
export interface Handshake {
  version: typeof PROTOCOL_VERSION
  token: string
  client?: string | undefined
}

export type ErrorCode =
  | "invalid"
  | "unknown"
  | "version"
  | "unauthorized"
  | "forbidden"
  | "not_found"
  | "conflict"
  | "too_large"
  | "rate_limited"
  | "unavailable"
  | "internal"

/**
 * `message` is written for the user, in English; `reason` and `values` say the same in a form that
 * can be translated. `retryAfter` is in milliseconds.
 */
export interface Refusal extends RefusalText {
  code: ErrorCode
  retryAfter?: number
}

export interface RefusalText {
  message: string
  reason?: string
  values?: Readonly<Record<string, RefusalValue>>
}

export type RefusalValue = string | number | { bytes: number }

// client -> server

export interface SubscribeItem {
  /** Chosen by the client, unique among the subscriptions of one connection. */
  id: number
  query: string
  args: unknown
  /**
   * Rows the client already holds: from a rendered page, or from before the connection was lost.
   */
  have?: Have | undefined
}

/**
 * `token` came with the rows. `lsn` is the position up to which the client has applied commits to
 * them since, if any.
 */
export interface Have {
  token: string
  lsn?: Lsn | undefined
}

export interface SubscribeAnswer {
  accepted: number[]
  refused: { id: number; error: Refusal }[]
  /** The message as a whole was refused. */
  error?: Refusal
}

/** Who is in a channel: at most 50 of them, and how many there are. */
export interface Members {
  members: string[]
  count: number
}

/** `member` is how the others see this membership. */
export interface Joined extends Members {
  member: string
}

export type JoinAnswer = { value: Joined } | { error: Refusal }
export type BroadcastAnswer = { value: null } | { error: Refusal }
export type QueryAnswer = { value: unknown } | { error: Refusal }
export type MutateAnswer = Committed | { error: Refusal }
export type AuthenticateAnswer = { expiresAt: number } | { error: Refusal }

/**
 * The effects are visible once a commit names `xid`, or once any server event carries a position at
 * or past `lsn`.
 */
export interface Committed<Value = unknown> {
  value: Value
  xid: string
  lsn: Lsn
}

export interface ClientEvents {
  subscribe(message: { subscriptions: SubscribeItem[] }, answer: (answer: SubscribeAnswer) => void): void
  unsubscribe(message: { ids: number[] }): void
  query(message: { query: string; args: unknown }, answer: (answer: QueryAnswer) => void): void
  mutate(
    message: { mutation: string; args: unknown; mutationId: string },
    answer: (answer: MutateAnswer) => void,
  ): void
  /** `id` is a subscription's; the membership ends with it. */
  join(message: { id: number; channel: string }, answer: (answer: JoinAnswer) => void): void
  leave(message: { id: number; channel: string }): void
  broadcast(
    message: { id: number; channel: string; message: unknown },
    answer: (answer: BroadcastAnswer) => void,
  ): void
  authenticate(message: { token: string }, answer: (answer: AuthenticateAnswer) => void): void
  /** `awaiting` requests a `position` event as soon as that LSN has been passed. */
  acknowledge(message: { sequence: number; awaiting?: Lsn }): void
}

// server -> client

/** A row as sent: `_id` identifies it within its subscription. */
export interface LiveRow {
  _id: string
}

/** The order of a subscription's rows, most significant field first. */
export type RowOrder = [field: string, direction: "asc" | "desc"][]

/**
 * Whether a text comes before another by its bytes in UTF-8. Comparing UTF-16 units, as `<` does,
 * would put what is outside the first plane before U+E000 and later.
 */
export function isTextBefore(one: string, other: string): boolean {
  const length = Math.min(one.length, other.length)
  for (let at = 0; at < length; at += 1) {
    const unit = one.charCodeAt(at)
    const against = other.charCodeAt(at)
    if (unit !== against) return byteRank(unit) < byteRank(against)
  }
  return one.length < other.length
}

function byteRank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x1_0000 : unit
}

/**
 * `put` replaces or adds the row, `merge` overwrites the fields it names, `remove` removes the row
 * if it exists.
 */
export type Change =
  | [id: number, op: "put" | "merge", key: string, row: Record<string, unknown>]
  | [id: number, op: "remove", key: string]

export type SubscriptionSnapshot =
  | {
      id: number
      kind: "rows"
      rows: LiveRow[]
      order: RowOrder
      /**
       * Where the next page begins (an argument of paginated queries), or null if these are all
       * rows.
       */
      end: string | null
      token: string
    }
  | { id: number; kind: "changes"; changes: Change[]; token: string }

/** While `more` is set, hold it: it is applied in one step with the snapshot events that follow. */
export interface SnapshotEvent {
  sequence: number
  position: Position
  at: number
  more?: true
  subscriptions: SubscriptionSnapshot[]
}

/**
 * One or more whole transactions, as far as this client's subscriptions see them. `at` is the last
 * commit's time in ms.
 */
export interface CommitEvent {
  sequence: number
  lsn: Lsn
  at: number
  xids: string[]
  changes: Change[]
}

/**
 * Everything up to `lsn` has been sent. `lag`: ms since the server last heard from PostgreSQL, 0
 * while all is well.
 */
export interface PositionEvent {
  sequence: number
  lsn: Lsn
  at: number
  lag: number
}

/**
 * The server has forgotten these subscriptions: keep their rows on screen and subscribe again,
 * without `have`.
 */
export interface ResetEvent {
  sequence: number
  ids: number[]
  reason: "truncate" | "schema" | "large" | "slow" | "gap"
}

/** These subscriptions have ended: remove their rows. */
export interface RevokedEvent {
  sequence: number
  ids: number[]
  reason: "denied" | "expired" | "signed_out"
}

/**
 * The server closes the connection next. Reconnect in `retryAfter` ms; null: do not reconnect with
 * this token.
 */
export interface GoodbyeEvent {
  sequence: number
  reason: "draining" | "slow" | "flooding" | "expired" | "signed_out"
  retryAfter: number | null
}

/** A message of a channel that the subscription `id` has joined; `from` is a member. */
export interface MessageEvent {
  sequence: number
  id: number
  channel: string
  from: string
  message: unknown
}

/** Who is in a channel now. */
export interface MembersEvent extends Members {
  sequence: number
  id: number
  channel: string
}

export interface ServerEvents {
  snapshot(event: SnapshotEvent): void
  commit(event: CommitEvent): void
  position(event: PositionEvent): void
  reset(event: ResetEvent): void
  revoked(event: RevokedEvent): void
  goodbye(event: GoodbyeEvent): void
  message(event: MessageEvent): void
  members(event: MembersEvent): void
}

// what a page is rendered from, and the source of the client's types

/**
 * The result of a live query in a loader: rows to render now, and what the browser needs to follow
 * them without reading again.
 */
export interface Loaded<Row extends LiveRow = LiveRow> {
  query: string
  args: unknown
  rows: Row[]
  order: RowOrder
  end: string | null
  /** Absent while the server has no stream: the browser then subscribes without it. */
  have?: { token: string; position: Position }
}

/** The browser's view of a declared live query: `types` exists for the type checker only. */
export interface QueryType<Name extends string = string, Args = unknown, Row extends LiveRow = LiveRow> {
  readonly name: Name
  readonly types?: { args: Args; row: Row }
}

/** The browser's view of a declared mutation. */
export interface MutationType<Name extends string = string, Args = unknown, Value = unknown> {
  readonly name: Name
  readonly types?: { args: Args; value: Value }
}

/** The browser's view of a declared channel. */
export interface ChannelType<Name extends string = string, Message = unknown> {
  readonly name: Name
  readonly types?: { message: Message }
}

export type ArgsOf<Declared> = Declared extends { readonly types?: { args: infer Args } } ? Args : never
export type RowOf<Query> = Query extends { readonly types?: { row: infer Row } } ? Row : never
export type ValueOf<Mutation> = Mutation extends { readonly types?: { value: infer Value } } ? Value : never
