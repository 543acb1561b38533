import type { IncomingMessage, Server as HttpServer } from "node:http"

import type { ActivityReport } from "./activity.ts"
import type { Representation } from "./channels.ts"
import type { ConnectionInfo } from "./connection.ts"
import type { LiveRow, Loaded, RefusalText } from "../protocol/contract.ts"
import type { FollowOptions } from "./follow.ts"
import type { Question } from "./load.ts"
import type { Distribution, Measured } from "./metrics.ts"

export interface Realtime<Viewer> {
  attach(server: HttpServer): void
  /**
   * Rows to render a page from, all of one snapshot, with what the browser needs to continue from
   * them. Throws an error with a `refusal`.
   */
  snapshotOf(questions: readonly Question[], viewer: Viewer): Promise<Loaded[]>
  /** Runs a declared query once: its rows, or its one row or null. */
  runQuery(query: string, args: unknown, viewer: Viewer): Promise<unknown>
  /**
   * Ends all connections of a user, in every process. A person who is still signed in reconnects
   * immediately with a new token.
   */
  revokeUser(userId: string): Promise<void>
  /**
   * Follows a query inside the process: `onRows` receives all its rows, unordered, at first and
   * after every commit that touched them. Returns a function that stops it.
   */
  follow(
    question: Question,
    onRows: (rows: readonly LiveRow[]) => void,
    options?: FollowOptions<Viewer>,
  ): () => void
  /**
   * Counts people whom the process serves without a socket among the members of a channel.
   * `changed` receives the number of all members, in every process.
   */
  represent(channel: { name: string; args: unknown }, changed: (count: number) => void): Representation
  /**
   * Sends a message to the members of a channel that only the server sends to, in every process.
   * `from` names what the message is about: of several, a slow client receives the last. Returns
   * whether anybody listens: if nobody does, nothing is sent.
   */
  sendToMembers(channel: { name: string; args: unknown; from: string }, message: unknown): boolean
  /** The user's connections to this process. */
  connectionsOf(userId: string): readonly ConnectionInfo<Viewer>[]
  metrics(): Record<string, number | Distribution>
  /** The same with the kind of each, for exporters. */
  measured(): Measured[]
  /** What each query does in this process now, and did in the last hour. */
  activity(): ActivityReport
  /**
   * Whether the data being sent is current; if not, why, and whether every process of this version
   * has the same problem.
   */
  ready(): { ready: true } | { ready: false; problem: RefusalText; everywhere: boolean }
  /**
   * Disconnects everybody and accepts only connections whose request is admitted; null accepts
   * everybody again.
   */
  admitOnly(isAdmitted: ((request: IncomingMessage) => boolean) | null): void
  /** Resolves when the stream has started for the first time. */
  whenLive(): Promise<void>
  close(): Promise<void>
}

/**
 * SQL that ends all connections of a user, in every process, at the commit of the transaction that
 * runs it: `$1` is the user's id.
 */
export const REVOKE_USER = "select pg_logical_emit_message(true, 'realtime.revoke', $1)"

/**
 * The same for connections opened with a credential: `$1` is its name, as `credentialsOf` gives it.
 */
export const END_CREDENTIAL = "select pg_logical_emit_message(true, 'realtime.end', $1)"
