import type { User } from "#db/schema/users.ts"
import type { Database } from "#db/client.ts"
import type { Config } from "./config.ts"
import type { RateLimiter } from "./transport/rate-limit.ts"
import type { RunningRequests } from "./running-requests.ts"
import type { SpendingLimiter } from "./transport/spending-limiter.ts"
import type { Log } from "./log.ts"
import type { Blobs } from "./ports/blobs.ts"
import type { Identity } from "./ports/identity.ts"
import type { Session } from "./ports/session.ts"
import type { Mail } from "./ports/mail.ts"
import type { Model } from "./ports/model.ts"
import type { Tracing } from "./ports/tracing.ts"
import type { Realtime } from "#live/open"

/** A signed-in person: the session that the request proved, and their record. */
export interface Viewer {
  session: Session
  user: User
}

/**
 * Services that live as long as the process. A domain adds its own where it defines them, so that
 * this module imports no domain.
 */
export interface Services {
  config: Config
  log: Log
  /** The number of this process's lock, by which others know whether it is alive. */
  process: number
  db: Database
  /**
   * The database for work at one person's request: it uses few connections at a time per person.
   */
  dbFor(person: string): Database
  /** The database for health checks: it never waits for a free connection. */
  probe: Database
  identity: Identity
  mail: Mail
  blobs: Blobs
  /** The requests in progress, by user. */
  runningRequests: RunningRequests
  model: Model
  /** Null without tracing. */
  tracing: Tracing | null
  /**
   * For effects beyond the function's own rows: they run immediately if it commits by itself, and
   * after the commit in a named mutation, where `db` is a transaction. The effect receives the
   * database to use.
   */
  afterCommit(effect: (db: Database) => Promise<void>): Promise<void>
  /**
   * Sends a message to every process when the transaction `db` commits. For events that are not
   * records; a topic's handler may miss one or receive it twice.
   */
  announce(db: Database, topic: string, text: string): Promise<void>
  /** The realtime layer: rows for a page, kept up to date. */
  live: Realtime<Viewer>
  /** One for each limited action, shared by all requests of this process. */
  limiters: Record<
    "health" | "email" | "chat" | "waitlist" | "singleSignOn" | "sharePassword" | "demo",
    RateLimiter
  > &
    Record<"emails" | "answers" | "notes", SpendingLimiter>
}

/** Everything a request may use, with the user who sent it. */
export interface FullScope extends Services {
  viewer: Viewer
}

/** The services that are there before the realtime layer. */
export type EarlyServices = Omit<Services, "live" | "demo" | "uploadProgress">

/**
 * Named mutations run without a realtime layer in their scope: they commit, and the log announces
 * the changes.
 */
export type MutationScope = EarlyServices & Pick<FullScope, "viewer">

/** A function's first parameter names what it needs, and a test provides only that. */
export type Scope<Needs extends keyof FullScope> = Pick<FullScope, Needs>
