import { PERSON_SHARE } from "#db/shares.ts"
import { TIME_LIMITS } from "#db/time-limits.ts"
import { CHANNEL_LIMITS, CONNECTION_LIMITS, LIMITS, OUTBOX_LIMITS } from "#server/realtime/limits.ts"

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

export const PUBLISHED_LIMITS: readonly PublishedLimit[] = [
  count("connectionsPerUser", LIMITS.maxConnectionsPerUser, "Connections of a user.", "`rate_limited`"),
  count(
    "connectionsPerAddress",
    LIMITS.maxConnectionsPerAddress,
    "Connections of an IP address, or an IPv6 /64.",
    "HTTP 400",
  ),
  count("connections", LIMITS.maxConnections, "Connections of a process.", "HTTP 400"),
  ms("handshakeMs", limited.handshakeMs, "From the upgrade to the handshake.", "The connection is closed."),
  ms(
    "pingIntervalMs",
    limited.pingIntervalMs,
    "Between the server's pings.",
    "The server sends the next ping.",
  ),
  ms(
    "pingTimeoutMs",
    limited.pingTimeoutMs,
    "For the pong. A client that receives no ping for the sum of both should reconnect.",
    "The connection is closed.",
  ),
  bytes("messageBytes", limited.messageBytes, "A message from the client.", "The connection is closed."),
  count(
    "messagesPerSecond",
    LIMITS.messagesPerSecond,
    "Messages of a connection, on average.",
    "`rate_limited`, one answer for each message",
  ),
  count(
    "messageBurst",
    LIMITS.messagesPerSecond * limited.burstSeconds,
    "Messages of a connection at the same moment.",
    "`rate_limited`, one answer for each message",
  ),
  count(
    "acknowledgeCost",
    limited.acknowledgeCost,
    "What an `acknowledge` counts, in messages.",
    "See messagesPerSecond.",
  ),
  count(
    "floodMessages",
    limited.floodMessages,
    "Messages in a row that are over the limit.",
    "`goodbye` with the reason `flooding`",
  ),
  ms("answerMs", LIMITS.answerMs, "For the answer to a call.", "`unavailable`"),
  count(
    "subscriptionsPerMessage",
    limited.subscriptionsPerMessage,
    "Subscriptions in one message.",
    "The whole message is `invalid`.",
  ),
  count(
    "subscriptions",
    limited.subscriptions,
    "Subscriptions of a connection.",
    "The subscription is `rate_limited`.",
  ),
  count("queriesRunning", limited.queriesRunning, "Calls of `query` at the same time.", "`rate_limited`"),
  count(
    "mutationsWaiting",
    limited.mutationsWaiting,
    "Calls of `mutate` that wait for their turn.",
    "`rate_limited`",
  ),
  count("authenticationsRunning", 1, "Calls of `authenticate` at the same time.", "`rate_limited`"),
  count("lsnsAwaited", limited.lsnsAwaited, "LSNs that a connection waits for.", "They are ignored."),
  count(
    "mutationsRunningPerUser",
    PERSON_SHARE.connections,
    "Mutations of a user that run in a process.",
    "They wait.",
  ),
  count(
    "mutationsWaitingPerUser",
    PERSON_SHARE.waiting,
    "Mutations of a user that wait in a process.",
    "`unavailable`",
  ),
  ms(
    "mutationWaitMs",
    PERSON_SHARE.waitMs,
    "That a mutation waits for its turn in a process without another of the user's succeeding.",
    "`unavailable`",
  ),
  ms(
    "lockWaitMs",
    1000 * Number.parseInt(TIME_LIMITS.lock_timeout, 10),
    "That a mutation waits for a locked row.",
    "`unavailable`",
  ),
  count("rowsWithoutPages", LIMITS.maxRows, "Rows of a query that has no pages.", "`too_large`"),
  count(
    "eventsInFlight",
    OUTBOX_LIMITS.eventsInFlight,
    "Events that the client has not acknowledged.",
    "The server holds back what follows, and merges it row by row.",
  ),
  bytes(
    "bytesInFlight",
    OUTBOX_LIMITS.bytesInFlight,
    "Of events that the client has not acknowledged.",
    "The server holds back what follows, and merges it row by row.",
  ),
  bytes(
    "commitBytesHeld",
    OUTBOX_LIMITS.backlogBytes,
    "Of commits held back for a client.",
    "`reset` with the reason `slow`",
  ),
  bytes(
    "bytesHeld",
    limited.heldBytes,
    "Of everything held back for a client.",
    "Further subscriptions are `unavailable`.",
  ),
  ms(
    "stallMs",
    limited.stallMs,
    "Without an acknowledgement while commits wait.",
    "`reset` with the reason `slow`",
  ),
  ms(
    "deadMs",
    limited.deadMs,
    "Without an acknowledgement while events wait.",
    "`goodbye` with the reason `slow`",
  ),
  count(
    "slowResets",
    limited.slowResets.count,
    `Resets with the reason \`slow\` within ${limited.slowResets.withinMs / 60_000} minutes.`,
    "`goodbye` with the reason `slow`",
  ),
  count("channelsJoined", CHANNEL_LIMITS.joined, "Channels that a connection has joined.", "`rate_limited`"),
  bytes(
    "channelMessageBytes",
    CHANNEL_LIMITS.messageBytes,
    "A message of a channel, as JSON in UTF-8.",
    "`too_large`",
  ),
  count(
    "channelMessagesPerSecond",
    CHANNEL_LIMITS.messagesPerSecond,
    "Messages that a connection sends to channels, on average.",
    "`rate_limited`",
  ),
  count(
    "channelMessageBurst",
    CHANNEL_LIMITS.messagesAtOnce,
    "Messages that a connection sends to channels at the same moment.",
    "`rate_limited`",
  ),
  count(
    "rangeMessagesPerSecond",
    CHANNEL_LIMITS.topicMessagesPerSecond,
    "Messages to one channel of one range, from all members of a process.",
    "`rate_limited`",
  ),
  count(
    "channelEventsInFlight",
    CHANNEL_LIMITS.inFlight,
    "Events of channels that the client has not acknowledged.",
    "The server holds back what follows, and of each sender keeps the last message.",
  ),
  count(
    "channelEventsHeld",
    CHANNEL_LIMITS.waiting,
    "Messages of channels held back for a client, beside the last `members` of each channel.",
    "The oldest is dropped.",
  ),
  count(
    "membersListed",
    CHANNEL_LIMITS.membersListed,
    "Members that an event lists.",
    "`count` says how many there are.",
  ),
  ms(
    "positionMs",
    LIMITS.positionMs,
    "Between positions on a quiet connection.",
    "The server sends `position`.",
  ),
  ms(
    "resumeMs",
    LIMITS.windowMs,
    "That a client may be disconnected and still continue.",
    "The snapshot has all rows.",
  ),
  ms(
    "tokenGraceMs",
    LIMITS.graceMs,
    "From the token's expiry until the server closes the connection.",
    "`revoked` and `goodbye` with the reason `expired`",
  ),
  characters("tokenLength", limited.tokenLength, "A realtime token.", "`invalid`"),
  characters("clientNameLength", limited.clientNameLength, "The handshake's `client`.", "`invalid`"),
  characters(
    "shownNameLength",
    limited.shownNameLength,
    "Of `client`, as the user sees it.",
    "The rest is not shown.",
  ),
  characters("mutationIdMin", limited.mutationIdLength.min, "The shortest `mutationId`.", "`invalid`"),
  characters("mutationIdMax", limited.mutationIdLength.max, "The longest `mutationId`.", "`invalid`"),
]

function count(name: string, value: number, description: string, beyond: string): PublishedLimit {
  return { name, value, unit: "count", description, beyond }
}

function bytes(name: string, value: number, description: string, beyond: string): PublishedLimit {
  return { name, value, unit: "bytes", description, beyond }
}

function ms(name: string, value: number, description: string, beyond: string): PublishedLimit {
  return { name, value, unit: "milliseconds", description, beyond }
}

function characters(name: string, value: number, description: string, beyond: string): PublishedLimit {
  return { name, value, unit: "characters", description, beyond }
}
