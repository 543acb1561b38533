export interface RealtimeLimits {
  /** Prefix of the publication and the slots in PostgreSQL. */
  name: string
  /** How long a client may be disconnected and still continue. ms. */
  windowMs: number
  ringBytes: number
  /** A transaction beyond these is not sent row by row. */
  transactionChanges: number
  transactionBytes: number
  maxRows: number
  maxConnections: number
  maxConnectionsPerUser: number
  /** An office shares one address, and so do all users behind a proxy that is not configured. */
  maxConnectionsPerAddress: number
  snapshotConcurrency: number
  /** Of one connection, in the long run. */
  messagesPerSecond: number
  /** The interval of keepalives requested from PostgreSQL; three missing ones end the stream. */
  reportMs: number
  anchorMs: number
  positionMs: number
  /** The longest that a call waits for its response. */
  answerMs: number
  graceMs: number
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
  snapshotConcurrency: 3,
  messagesPerSecond: 50,
  reportMs: 5000,
  anchorMs: 15_000,
  positionMs: 10_000,
  answerMs: 9000,
  graceMs: 20_000,
  drainSpreadMs: 5000,
}
