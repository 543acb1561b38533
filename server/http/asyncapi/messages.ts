import * as v from "valibot"
import type {
  AuthenticateAnswer,
  BroadcastAnswer,
  CommitEvent,
  ErrorCode,
  GoodbyeEvent,
  JoinAnswer,
  MembersEvent,
  MessageEvent,
  MutateAnswer,
  PositionEvent,
  QueryAnswer,
  Refusal,
  ResetEvent,
  RevokedEvent,
  ServerEvents,
  SnapshotEvent,
  SubscribeAnswer,
} from "#live/contract"
import { CHANNEL_LIMITS, CONNECTION_LIMITS } from "#live/check"
import {
  AcknowledgeMessage,
  AuthenticateMessage,
  BroadcastMessage,
  HandshakeMessage,
  JoinMessage,
  LeaveMessage,
  MutateMessage,
  QueryMessage,
  SubscribeItemMessage,
  UnsubscribeMessage,
} from "#live/open"

/** The messages of docs/realtime-protocol.md as schemas; their types are those of the contract. */

/** By code. */
export const ERROR_MEANINGS: Readonly<Record<ErrorCode, string>> = {
  invalid: "The message or its arguments are malformed.",
  unknown: "No query, mutation or channel has this name.",
  version: "The server does not support this version of the protocol.",
  unauthorized: "The token is missing, expired, or not for this application.",
  forbidden: "The user, or their API key, is not allowed to do this.",
  not_found: "It does not exist, or it is not the user's.",
  conflict: "It contradicts stored data, or the mutationId was used for another change.",
  too_large:
    "The query has more rows than can be sent without pages, or the message of a channel is too long.",
  rate_limited: "Too many messages, connections or requests of this kind.",
  unavailable: "The server cannot answer now. Try again after retryAfter.",
  internal: "An error in the server, which has logged it.",
}

const id = SubscribeItemMessage.entries.id
const ids = v.array(id)
const moment = v.pipe(v.number(), v.integer(), v.description("Milliseconds since the epoch."))
const lsn = v.pipe(
  v.string(),
  v.regex(/^[0-9A-F]{16}$/),
  v.description("A position in the database's log. LSNs of one epoch compare as strings."),
)
const sequence = v.pipe(
  v.number(),
  v.integer(),
  v.minValue(1),
  v.description("1, 2, 3 and so on, without gaps on one connection."),
)
const key = v.pipe(v.string(), v.description("The row's `_id`."))
const fields = v.record(v.string(), v.unknown())
const resumeToken = v.pipe(v.string(), v.description("For `have` after a reconnect."))

const refusal = v.looseObject({
  code: v.pipe(v.string(), v.description("One of `x-errors`; treat an unknown one as `internal`.")),
  message: v.pipe(v.string(), v.description("A sentence that can be shown to the user.")),
  retryAfter: v.exactOptional(v.pipe(v.number(), v.description("Milliseconds."))),
}) satisfies v.GenericSchema<unknown, Omit<Refusal, "code">>

const change = v.union([
  v.tuple([id, v.picklist(["put", "merge"]), key, fields]),
  v.tuple([id, v.literal("remove"), key]),
])

const snapshot = v.strictObject({
  sequence,
  position: v.strictObject({
    epoch: v.pipe(v.string(), v.description("LSNs of two epochs cannot be compared.")),
    lsn,
  }),
  at: moment,
  more: v.exactOptional(
    v.pipe(
      v.literal(true),
      v.description("Keep this event and apply it in one step with those up to the first without `more`."),
    ),
  ),
  subscriptions: v.array(
    v.variant("kind", [
      v.strictObject({
        id,
        kind: v.literal("rows"),
        rows: v.array(v.looseObject({ _id: v.string() })),
        order: v.pipe(
          v.array(v.tuple([v.string(), v.picklist(["asc", "desc"])])),
          v.description("The most significant field first; numbers by value, texts by their bytes in UTF-8."),
        ),
        end: v.pipe(
          v.nullable(v.string()),
          v.description("Where the next page begins, for the page argument; null for the last page."),
        ),
        token: resumeToken,
      }),
      v.strictObject({
        id,
        kind: v.literal("changes"),
        changes: v.array(change),
        token: resumeToken,
      }),
    ]),
  ),
}) satisfies v.GenericSchema<unknown, SnapshotEvent>

const commit = v.strictObject({
  sequence,
  lsn,
  at: moment,
  xids: v.array(v.string()),
  changes: v.pipe(
    v.array(change),
    v.description("Apply all of them in one step, in this order. A row can occur several times."),
  ),
}) satisfies v.GenericSchema<unknown, CommitEvent>

const position = v.strictObject({
  sequence,
  lsn,
  at: moment,
  lag: v.pipe(
    v.number(),
    v.description("Milliseconds since the server last heard from its database; 0 while all is well."),
  ),
}) satisfies v.GenericSchema<unknown, PositionEvent>

const reset = v.strictObject({
  sequence,
  ids,
  reason: v.picklist(["truncate", "schema", "large", "slow", "gap"]),
}) satisfies v.GenericSchema<unknown, ResetEvent>

const revoked = v.strictObject({
  sequence,
  ids,
  reason: v.picklist(["denied", "expired", "signed_out"]),
}) satisfies v.GenericSchema<unknown, RevokedEvent>

const goodbye = v.strictObject({
  sequence,
  reason: v.picklist(["draining", "slow", "flooding", "expired", "signed_out"]),
  retryAfter: v.pipe(
    v.nullable(v.number()),
    v.description("Milliseconds; null: reconnect only with a new token."),
  ),
}) satisfies v.GenericSchema<unknown, GoodbyeEvent>

const channel = v.pipe(v.string(), v.description("Its declared name."))
const member = v.pipe(
  v.string(),
  v.description("A random name that lasts as long as the membership, and tells nothing about the user."),
)
const present = {
  members: v.pipe(v.array(member), v.maxLength(CHANNEL_LIMITS.membersListed)),
  count: v.pipe(v.number(), v.integer(), v.description("How many there are, listed or not.")),
}

const message = v.strictObject({
  sequence,
  id,
  channel,
  from: member,
  message: v.unknown(),
}) satisfies v.GenericSchema<unknown, MessageEvent>

const members = v.strictObject({ sequence, id, channel, ...present }) satisfies v.GenericSchema<
  unknown,
  MembersEvent
>

export interface MessageDescription {
  readonly summary: string
  readonly schema: v.GenericSchema
}

/** By name. */
export const SERVER_EVENTS: Readonly<Record<keyof ServerEvents, MessageDescription>> = {
  snapshot: {
    summary: "The rows of subscriptions, or the changes since the client's rows.",
    schema: snapshot,
  },
  commit: { summary: "One or more whole transactions.", schema: commit },
  position: { summary: "Everything up to this position has been sent.", schema: position },
  reset: {
    summary: "These subscriptions have been dropped: keep their rows, and subscribe again without `have`.",
    schema: reset,
  },
  revoked: { summary: "These subscriptions have ended: remove their rows.", schema: revoked },
  goodbye: { summary: "The server closes the connection next.", schema: goodbye },
  message: { summary: "A message of a channel that the subscription has joined.", schema: message },
  members: { summary: "Who is in a channel now: replace what the client knew.", schema: members },
}

const failed = v.strictObject({ error: refusal })

/** By name; `answer` is what the acknowledgement of the message carries, if it has one. */
export const CLIENT_MESSAGES: Readonly<Record<string, MessageDescription & { answer?: v.GenericSchema }>> = {
  subscribe: {
    summary: "Follow live queries.",
    schema: v.strictObject({
      // The engine reads the items one by one, to refuse them one by one.
      subscriptions: v.pipe(
        v.array(SubscribeItemMessage),
        v.minLength(1),
        v.maxLength(CONNECTION_LIMITS.subscriptionsPerMessage),
      ),
    }),
    answer: v.strictObject({
      accepted: ids,
      refused: v.array(v.strictObject({ id, error: refusal })),
      error: v.exactOptional(v.pipe(refusal, v.description("The message as a whole was refused."))),
    }) satisfies v.GenericSchema<unknown, Loose<SubscribeAnswer>>,
  },
  unsubscribe: { summary: "Stop following.", schema: UnsubscribeMessage },
  query: {
    summary: "Run a live query once.",
    schema: QueryMessage,
    answer: v.union([v.strictObject({ value: v.unknown() }), failed]) satisfies v.GenericSchema<
      unknown,
      Loose<QueryAnswer>
    >,
  },
  mutate: {
    summary: "Call a mutation. Sent again with the same `mutationId`, it is applied once.",
    schema: MutateMessage,
    answer: v.union([
      v.strictObject({ value: v.unknown(), xid: v.string(), lsn }),
      failed,
    ]) satisfies v.GenericSchema<unknown, Loose<MutateAnswer>>,
  },
  join: {
    summary: "Listen to a channel, beside a subscription to its query. Ends with the subscription.",
    schema: JoinMessage,
    answer: v.union([
      v.strictObject({ value: v.strictObject({ member, ...present }) }),
      failed,
    ]) satisfies v.GenericSchema<unknown, Loose<JoinAnswer>>,
  },
  leave: { summary: "Stop listening to a channel.", schema: LeaveMessage },
  broadcast: {
    summary: "Send a message to the other members of a channel. It is not stored.",
    schema: BroadcastMessage,
    answer: v.union([v.strictObject({ value: v.null() }), failed]) satisfies v.GenericSchema<
      unknown,
      Loose<BroadcastAnswer>
    >,
  },
  authenticate: {
    summary: "Replace the token; subscriptions stay.",
    schema: AuthenticateMessage,
    answer: v.union([v.strictObject({ expiresAt: moment }), failed]) satisfies v.GenericSchema<
      unknown,
      Loose<AuthenticateAnswer>
    >,
  },
  acknowledge: { summary: "The highest sequence number applied.", schema: AcknowledgeMessage },
}

/** socket.io's `auth` payload. */
export const HANDSHAKE: MessageDescription = {
  summary: "The `auth` payload of socket.io's CONNECT packet.",
  schema: HandshakeMessage,
}

/** New error codes may be added, so the published schema accepts any. */
type Loose<Answer> = Answer extends { error: Refusal }
  ? { error: Omit<Refusal, "code"> }
  : Answer extends { error?: Refusal; refused: unknown }
    ? {
        accepted: number[]
        refused: { id: number; error: Omit<Refusal, "code"> }[]
        error?: Omit<Refusal, "code">
      }
    : Answer
