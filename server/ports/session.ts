import type { RouterContextProvider } from "react-router"
import type { KeyScope } from "./identity-contract.ts"

export type Plan = "free" | "pro"

/**
 * The verified sender of a request. `via` says how: only a cookie can be sent by another site
 * without the user's intent.
 */
export interface Session {
  userId: string
  sessionId: string | null
  /** The API key of the request, if the provider has its own keys. */
  keyId?: string
  /** The key's scopes; absent for one without limits. */
  keyScopes?: readonly KeyScope[]
  plan: Plan
  via: "cookie" | "session-bearer" | "api-key"
  /**
   * Whether more than a password opened the session: `missing` if the account has a second factor
   * that was not shown, `none` if it has none. Absent for keys, and if the provider itself requires
   * it.
   */
  secondFactor?: "shown" | "missing" | "none"
}

export interface RequestContext {
  request: Request
  context: Readonly<RouterContextProvider>
}

/** A request and its network address, by which attempts are counted. */
export interface Visit {
  request: Request
  address: string
}
