import type { User } from "#db/schema/users.ts"
import type { Database } from "#db/client.ts"
import type { RunningTurns } from "./chat/running-turns.ts"
import type { Config } from "./config.ts"
import type { RateLimiter } from "./http/rate-limit.ts"
import type { Log } from "./log.ts"
import type { Blobs } from "./ports/blobs.ts"
import type { Identity, Session } from "./ports/identity.ts"
import type { Mail } from "./ports/mail.ts"
import type { Model } from "./ports/model.ts"

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
  identity: Identity
  mail: Mail
  blobs: Blobs
  model: Model
  /** The answers that this process is giving. */
  turns: RunningTurns
  /** One for each thing that is limited, shared by all requests of this process. */
  limiters: Record<"health" | "email" | "chat" | "waitlist", RateLimiter>
}

/** What one request may use, and who is asking. */
export interface FullScope extends Services {
  viewer: Viewer
}

/** A function's first parameter names what it needs, and a test gives just that. */
export type Scope<Needs extends keyof FullScope> = Pick<FullScope, Needs>
