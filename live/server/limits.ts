export interface RealtimeLimits {
  /** Prefix of the publication and the slots in PostgreSQL. */
  name: string
  /** How long a client may be disconnected and still continue. ms. */
  windowMs: number
  ringBytes: number
  /** A transaction beyond these limits is not sent row by row. */
  transactionChanges: number
  transactionBytes: number
  maxRows: number
  maxConnections: number
  maxConnectionsPerUser: number
  /** An office shares one address, and so do all users behind a proxy that is not configured. */
  maxConnectionsPerAddress: number
  /** For one connection, on average. */
  messagesPerSecond: number
  /** The interval of keepalives requested from PostgreSQL; three missing ones end the stream. */
  reportMs: number
  anchorMs: number
  positionMs: number
  /** The longest that a call waits for its response. */
  answerMs: number
  graceMs: number
  /** A followed standby that is further behind is passed over. ms. */
  followLagMs: number
  /** How long a standby must have been healthy before a stream returns to it. ms. */
  followSettleMs: number
  /** The longest that a page waits for a standby, before it reads from the primary. ms. */
  followWaitMs: number
  drainSpreadMs: number
}

export const LIMITS: RealtimeLimits = {
  name: "tideline",
  windowMs: 60_000,
  ringBytes: 64 * 1024 * 1024,
  transactionChanges: 20_000,
  transactionBytes: 16 * 1024 * 1024,
  maxRows: 2000,
  maxConnections: 20_000,
  maxConnectionsPerUser: 50,
  maxConnectionsPerAddress: 2000,
  messagesPerSecond: 50,
  reportMs: 5000,
  anchorMs: 15_000,
  positionMs: 10_000,
  answerMs: 9000,
  graceMs: 20_000,
  followLagMs: 2000,
  followSettleMs: 5000,
  followWaitMs: 1000,
  drainSpreadMs: 5000,
}

/** Of one connection: what it may send, hold open and leave unread. Not configurable. */
export const CONNECTION_LIMITS = {
  /** From the upgrade to the handshake. */
  handshakeMs: 10_000,
  pingIntervalMs: 25_000,
  pingTimeoutMs: 20_000,
  messageBytes: 64 * 1024,
  tokenLength: 16_384,
  clientNameLength: 200,
  shownNameLength: 60,
  mutationIdLength: { min: 8, max: 64 },
  subscriptionsPerMessage: 100,
  /** All tabs of a browser share a connection. */
  subscriptions: 1000,
  /** The burst that is allowed, in seconds' worth of messages. */
  burstSeconds: 4,
  /** In messages. */
  acknowledgeCost: 0.1,
  /**
   * Consecutive messages over the limit that each get a refusal. After that the connection is
   * closed.
   */
  floodMessages: 10_000,
  queriesRunning: 8,
  mutationsWaiting: 100,
  lsnsAwaited: 100,
  /** Without an acknowledgement while events wait: the client is reset, and then disconnected. */
  stallMs: 30_000,
  deadMs: 60_000,
  slowResets: { count: 3, withinMs: 5 * 60_000 },
  /** Beyond this, subscriptions are refused. */
  heldBytes: 16 * 1024 * 1024,
} as const

/** Of the channels, whose messages are not stored. Not configurable. */
export const CHANNEL_LIMITS = {
  /** Of a message as JSON in UTF-8. */
  messageBytes: 1024,
  /** Of a connection. */
  messagesPerSecond: 20,
  messagesAtOnce: 40,
  joined: 100,
  /** Of one range, in each process: every message is sent to all of its members. */
  topicMessagesPerSecond: 100,
  membersListed: 50,
  /** Those who come and go within this time are announced together. */
  membersMs: 250,
  /** Of a client, beside its commits: sent without an acknowledgement, and waiting. */
  inFlight: 32,
  waiting: 32,
} as const

/** Between processes. */
export const PEER_LIMITS = {
  /** Everything within this time is one message in the log. */
  publishMs: 50,
  messages: 64,
  topicsAtOnce: 50,
  /** Of all other processes together. */
  topics: 50_000,
  beatMs: 10_000,
  /** A process that has said nothing for this long is gone. */
  lostMs: 35_000,
  farewellMs: 1000,
} as const

export interface OutboxLimits {
  readonly eventsInFlight: number
  readonly bytesInFlight: number
  /** Size of the commits that are held back; beyond this the client must read again. */
  readonly backlogBytes: number
}

export const OUTBOX_LIMITS: OutboxLimits = {
  eventsInFlight: 256,
  bytesInFlight: 512 * 1024,
  backlogBytes: 4 * 1024 * 1024,
}
