import type { RouterContextProvider } from "react-router"
import type { KeyScope } from "./identity-contract.ts"

export type Plan = "free" | "pro"

/**
 * What a request proved about its sender. `via` says how: only a cookie can be sent by another site
 * without the user's intent.
 */
export interface Session {
  userId: string
  sessionId: string | null
  /** Of an API key's request: which key, where the provider keeps keys of its own. */
  keyId?: string
  /** What that key is limited to; absent for one that may do whatever keys may. */
  keyScopes?: readonly KeyScope[]
  plan: Plan
  via: "cookie" | "session-bearer" | "api-key"
  /**
   * Whether more than a password opened the session: `missing` where the account has a second
   * factor that was not asked for, `none` where it has none. Absent for keys, and where the provider
   * itself sees to it.
   */
  secondFactor?: "shown" | "missing" | "none"
}

export interface RequestContext {
  request: Request
  context: Readonly<RouterContextProvider>
}

/** A request, and the network address that it came from, by which attempts are counted. */
export interface Visit {
  request: Request
  address: string
}
