import type { IncomingMessage } from "node:http"

import type { Announcements } from "./announce.ts"
import type { Channel } from "./channel.ts"
import type { ConnectionInfo, Verified } from "./connection.ts"
import type { RealtimeLimits } from "./limits.ts"
import type { LiveQuery, Mutation, Table } from "./live-query.ts"
import type { Log } from "./log.ts"
import type { RefuseArguments, Transact } from "./mutate.ts"

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
  /** The most connections besides the stream's. Default: 3. */
  connections?: number
  /**
   * Standbys of it to read the log and rows from, by the same kind of role; one that was promoted is
   * read on as the primary.
   */
  followUrls?: readonly string[]
  /**
   * Commits are shown once this many of `followUrls` have them on disk, so that no failover to the
   * most advanced of the others takes back what was shown. 0: at once.
   */
  confirmedBy?: number
  tables: readonly Table[]
  queries: readonly LiveQuery<Viewer>[]
  mutations: readonly Mutation<Scope>[]
  channels?: readonly Channel[]
  transact: Transact<Viewer, Scope>
  /** The token's viewer and its expiry (ms); null for an invalid token. */
  verify(token: string): Promise<Verified<Viewer> | null>
  /** The same for all tokens of a user. */
  userIdOf(viewer: Viewer): string
  /** Throws a refusal if the viewer may not call it at all, whatever the arguments. */
  permit?: (viewer: Viewer, call: NamedCall) => void
  /** Makes the refusal of a mutation's arguments, if its schema's messages are not for people. */
  refuseArguments?: RefuseArguments
  /**
   * Names of the credentials that opened a connection: it ends when one of them does
   * (`END_CREDENTIAL`).
   */
  credentialsOf?: (viewer: Viewer) => readonly string[]
  /**
   * Whether they are still valid according to the database. Called if their end may have been
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
  /** Notified when connections open and close, for a table of present users. */
  presence?: {
    opened(connection: ConnectionInfo<Viewer>): void
    closed(connection: ConnectionInfo<Viewer>): void
  }
  /** Handlers, by topic, for announcements of any process. */
  announcements?: Announcements
  limits?: Partial<RealtimeLimits>
}
