import type { User } from "#db/schema/users.ts"
import type { Database } from "#db/client.ts"
import type { Replies } from "./chat/replies.ts"
import type { RunningTurns } from "./chat/running-turns.ts"
import type { Config } from "./config.ts"
import type { Demo } from "./demo/demo.ts"
import type { Thumbnailer } from "./files/thumbnailer.ts"
import type { UploadLocks } from "./files/upload-lock.ts"
import type { RateLimiter } from "./transport/rate-limit.ts"
import type { RunningRequests } from "./http/running-requests.ts"
import type { SpendingLimiter } from "./http/spending-limiter.ts"
import type { Log } from "./log.ts"
import type { Blobs } from "./ports/blobs.ts"
import type { Identity } from "./ports/identity.ts"
import type { Session } from "./ports/session.ts"
import type { Mail } from "./ports/mail.ts"
import type { Model } from "./ports/model.ts"
import type { Tracing } from "./ports/tracing.ts"
import type { Realtime } from "./realtime/open.ts"

/** A signed-in person: what the request proved, and the record we keep of them. */
export interface Viewer {
  session: Session
  user: User
}

/** What lives as long as the process. */
export interface Services {
  config: Config
  log: Log
  db: Database
  /** The database for what one person asks for: of its connections they hold a few at most. */
  dbFor(person: string): Database
  /** The database for checks of the process: it never waits for a free connection. */
  probe: Database
  identity: Identity
  mail: Mail
  blobs: Blobs
  uploadLocks: UploadLocks
  /** The requests in progress, by user. */
  runningRequests: RunningRequests
  thumbnailer: Thumbnailer
  model: Model
  replies: Replies<Viewer>
  /** Null where nothing is traced. */
  tracing: Tracing | null
  /** The answers that this process is giving. */
  turns: RunningTurns
  /**
   * For what a verb does beyond its own rows: at once where the verb commits by itself, and after
   * the commit in a mutation by name, where `db` is a transaction. The effect gets the database as
   * it is then.
   */
  afterCommit(effect: (db: Database) => Promise<void>): Promise<void>
  /**
   * Sends a message to every process, at the commit of the transaction that the database is. For
   * what is not a record; a topic's handler may miss it or receive it twice.
   */
  announce(db: Database, topic: string, text: string): Promise<void>
  /** The realtime layer: rows for a page, kept up to date. */
  live: Realtime<Viewer>
  /** The demonstration on the start page; null where the operator wants none. */
  demo: Demo | null
  /** One for each thing that is limited, shared by all requests of this process. */
  limiters: Record<
    "health" | "email" | "chat" | "waitlist" | "singleSignOn" | "sharePassword" | "demo",
    RateLimiter
  > &
    Record<"emails" | "answers", SpendingLimiter>
}

/** Everything a request may use, with the user who sent it. */
export interface FullScope extends Services {
  viewer: Viewer
}

/** The first parameter of a function names what it needs, and a test provides only that. */
export type Scope<Needs extends keyof FullScope> = Pick<FullScope, Needs>
