import type { IncomingMessage } from "node:http"

import type { Announcements } from "./announce.ts"
import type { ConnectionInfo, Verified } from "./connection.ts"
import type { LiveQuery, Mutation, Table } from "./live-query.ts"
import type { Log } from "./log.ts"
import type { Transact } from "./mutate.ts"

/** A declared query or mutation that is requested. */
export interface NamedCall {
  readonly kind: "query" | "mutation"
  readonly name: string
}

export interface RealtimeOptions<Viewer, Scope> {
  /** PostgreSQL itself, not a pooler, by a role with REPLICATION: for the stream. */
  databaseUrl: string
  /** A pooler in front of it that gives each transaction another session, for everything else. */
  poolerUrl?: string | undefined
  tables: readonly Table[]
  queries: readonly LiveQuery<Viewer>[]
  mutations: readonly Mutation<Scope>[]
  transact: Transact<Viewer, Scope>
  /** The token's viewer and its expiry (ms); null for an invalid token. */
  verify(token: string): Promise<Verified<Viewer> | null>
  /** The same for all tokens of a user. */
  userIdOf(viewer: Viewer): string
  /** Throws a refusal if the viewer may not call it at all, whatever the arguments. */
  permit?: (viewer: Viewer, call: NamedCall) => void
  /**
   * Names of the credentials a connection was opened with: it ends when one of them does
   * (`END_CREDENTIAL`).
   */
  credentialsOf?: (viewer: Viewer) => readonly string[]
  /**
   * Whether those are still valid according to the database. Called where their end may have been
   * missed.
   */
  isSessionValid?: (viewer: Viewer) => Promise<boolean>
  /** The origins whose pages may connect, as browsers write them. */
  origins: readonly string[]
  /**
   * The network address of a connection, which the client must not be able to choose. Without it,
   * connections are not limited by address.
   */
  addressOf?: (request: IncomingMessage) => string
  /** Seals the tokens that clients send back. The same in all processes. */
  secret: string
  log: Log
  /** Is notified of connections as they come and go, for a table of who is present. */
  presence?: {
    opened(connection: ConnectionInfo<Viewer>): void
    closed(connection: ConnectionInfo<Viewer>): void
  }
  /** Handlers, by topic, of what any process announced. */
  announcements?: Announcements
  limits?: Partial<RealtimeLimits>
}

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
