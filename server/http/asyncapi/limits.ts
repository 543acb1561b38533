import { PERSON_SHARE } from "#db/shares.ts"
import { TIME_LIMITS } from "#db/time-limits.ts"
import { CHANNEL_LIMITS, CONNECTION_LIMITS, LIMITS, OUTBOX_LIMITS } from "#live/check"

/** A limit of the socket, as the engine enforces it. */
export interface PublishedLimit {
  readonly name: string
  readonly value: number
  readonly unit: "bytes" | "milliseconds" | "count" | "characters"
  readonly description: string
  /** What happens beyond it. */
  readonly beyond: string
}

const limited = CONNECTION_LIMITS

/** Value, description, and what happens beyond it. */
const limits: Record<string, [value: number, description: string, beyond: string]> = {
  connectionsPerUser: [LIMITS.maxConnectionsPerUser, "Connections of a user.", "`rate_limited`"],
  connectionsPerAddress: [
    LIMITS.maxConnectionsPerAddress,
    "Connections of an IP address, or an IPv6 /64.",
    "HTTP 400",
  ],
  connections: [LIMITS.maxConnections, "Connections of a process.", "HTTP 400"],
  handshakeMs: [limited.handshakeMs, "From the upgrade to the handshake.", "The connection is closed."],
  pingIntervalMs: [limited.pingIntervalMs, "Between the server's pings.", "The server sends the next ping."],
  pingTimeoutMs: [
    limited.pingTimeoutMs,
    "For the pong. A client that receives no ping for the sum of both should reconnect.",
    "The connection is closed.",
  ],
  messageBytes: [limited.messageBytes, "A message from the client.", "The connection is closed."],
  messagesPerSecond: [
    LIMITS.messagesPerSecond,
    "Messages of a connection, on average.",
    "`rate_limited`, one answer for each message",
  ],
  messageBurst: [
    LIMITS.messagesPerSecond * limited.burstSeconds,
    "Messages of a connection at the same moment.",
    "`rate_limited`, one answer for each message",
  ],
  acknowledgeCost: [
    limited.acknowledgeCost,
    "What an `acknowledge` counts, in messages.",
    "See messagesPerSecond.",
  ],
  floodMessages: [
    limited.floodMessages,
    "Messages in a row that are over the limit.",
    "`goodbye` with the reason `flooding`",
  ],
  answerMs: [LIMITS.answerMs, "For the answer to a call.", "`unavailable`"],
  subscriptionsPerMessage: [
    limited.subscriptionsPerMessage,
    "Subscriptions in one message.",
    "The whole message is `invalid`.",
  ],
  subscriptions: [
    limited.subscriptions,
    "Subscriptions of a connection.",
    "The subscription is `rate_limited`.",
  ],
  queriesRunning: [limited.queriesRunning, "Calls of `query` at the same time.", "`rate_limited`"],
  mutationsWaiting: [
    limited.mutationsWaiting,
    "Calls of `mutate` that wait for their turn.",
    "`rate_limited`",
  ],
  authenticationsRunning: [1, "Calls of `authenticate` at the same time.", "`rate_limited`"],
  lsnsAwaited: [limited.lsnsAwaited, "LSNs that a connection waits for.", "They are ignored."],
  mutationsRunningPerUser: [
    PERSON_SHARE.connections,
    "Mutations of a user that run in a process.",
    "They wait.",
  ],
  mutationsWaitingPerUser: [
    PERSON_SHARE.waiting,
    "Mutations of a user that wait in a process.",
    "`unavailable`",
  ],
  mutationWaitMs: [
    PERSON_SHARE.waitMs,
    "That a mutation waits for its turn in a process without another of the user's succeeding.",
    "`unavailable`",
  ],
  lockWaitMs: [
    1000 * Number.parseInt(TIME_LIMITS.lock_timeout, 10),
    "That a mutation waits for a locked row.",
    "`unavailable`",
  ],
  rowsWithoutPages: [LIMITS.maxRows, "Rows of a query that has no pages.", "`too_large`"],
  eventsInFlight: [
    OUTBOX_LIMITS.eventsInFlight,
    "Events that the client has not acknowledged.",
    "The server holds back what follows, and merges it row by row.",
  ],
  bytesInFlight: [
    OUTBOX_LIMITS.bytesInFlight,
    "Of events that the client has not acknowledged.",
    "The server holds back what follows, and merges it row by row.",
  ],
  commitBytesHeld: [
    OUTBOX_LIMITS.backlogBytes,
    "Of commits held back for a client.",
    "`reset` with the reason `slow`",
  ],
  bytesHeld: [
    limited.heldBytes,
    "Of everything held back for a client.",
    "Further subscriptions are `unavailable`.",
  ],
  stallMs: [
    limited.stallMs,
    "Without an acknowledgement while commits wait.",
    "`reset` with the reason `slow`",
  ],
  deadMs: [
    limited.deadMs,
    "Without an acknowledgement while events wait.",
    "`goodbye` with the reason `slow`",
  ],
  slowResets: [
    limited.slowResets.count,
    `Resets with the reason \`slow\` within ${limited.slowResets.withinMs / 60_000} minutes.`,
    "`goodbye` with the reason `slow`",
  ],
  channelsJoined: [CHANNEL_LIMITS.joined, "Channels that a connection has joined.", "`rate_limited`"],
  channelMessageBytes: [
    CHANNEL_LIMITS.messageBytes,
    "A message of a channel, as JSON in UTF-8.",
    "`too_large`",
  ],
  channelMessagesPerSecond: [
    CHANNEL_LIMITS.messagesPerSecond,
    "Messages that a connection sends to channels, on average.",
    "`rate_limited`",
  ],
  channelMessageBurst: [
    CHANNEL_LIMITS.messagesAtOnce,
    "Messages that a connection sends to channels at the same moment.",
    "`rate_limited`",
  ],
  rangeMessagesPerSecond: [
    CHANNEL_LIMITS.topicMessagesPerSecond,
    "Messages to one channel of one range, from all members of a process.",
    "`rate_limited`",
  ],
  channelEventsInFlight: [
    CHANNEL_LIMITS.inFlight,
    "Events of channels that the client has not acknowledged.",
    "The server holds back what follows, and of each sender keeps the last message.",
  ],
  channelEventsHeld: [
    CHANNEL_LIMITS.waiting,
    "Messages of channels held back for a client, beside the last `members` of each channel.",
    "The oldest is dropped.",
  ],
  membersListed: [
    CHANNEL_LIMITS.membersListed,
    "Members that an event lists.",
    "`count` says how many there are.",
  ],
  positionMs: [LIMITS.positionMs, "Between positions on a quiet connection.", "The server sends `position`."],
  resumeMs: [
    LIMITS.windowMs,
    "That a client may be disconnected and still continue.",
    "The snapshot has all rows.",
  ],
  tokenGraceMs: [
    LIMITS.graceMs,
    "From the token's expiry until the server closes the connection.",
    "`revoked` and `goodbye` with the reason `expired`",
  ],
  tokenLength: [limited.tokenLength, "A realtime token.", "`invalid`"],
  clientNameLength: [limited.clientNameLength, "The handshake's `client`.", "`invalid`"],
  shownNameLength: [limited.shownNameLength, "Of `client`, as the user sees it.", "The rest is not shown."],
  mutationIdMin: [limited.mutationIdLength.min, "The shortest `mutationId`.", "`invalid`"],
  mutationIdMax: [limited.mutationIdLength.max, "The longest `mutationId`.", "`invalid`"],
}

export const PUBLISHED_LIMITS: readonly PublishedLimit[] = Object.entries(limits).map(
  ([name, [value, description, beyond]]) => ({ name, value, unit: unitOf(name), description, beyond }),
)

function unitOf(name: string): PublishedLimit["unit"] {
  if (name.endsWith("Ms")) return "milliseconds"
  if (/bytes/i.test(name)) return "bytes"
  return /(Length|Min|Max)$/.test(name) ? "characters" : "count"
}
