import type { RouterContextProvider } from "react-router"

export type Plan = "free" | "pro"

/** What a request proved about its sender. `via` says how: only a cookie can be sent by a foreign page without asking. */
export interface Session {
  userId: string
  sessionId: string | null
  plan: Plan
  via: "cookie" | "session-bearer" | "api-key"
}

/** What the provider says of a person. `id` is opaque: each provider has its own form. */
export interface IdentityUser {
  id: string
  /** The primary address, or null where the provider knows none. */
  email: string | null
  emailVerified: boolean
  name: string | null
  imageUrl: string | null
  plan: Plan
}

export interface RealtimeToken {
  token: string
  /** Milliseconds since the epoch. */
  expiresAt: number
}

export interface RealtimeClaims {
  userId: string
  sessionId: string | null
  plan: Plan
  /** Milliseconds since the epoch. */
  expiresAt: number
}

export interface RequestContext {
  request: Request
  context: Readonly<RouterContextProvider>
}

/** Who is asking? Answered by the identity provider that the operator chose. */
export interface Identity {
  readonly kind: "clerk" | "embedded"
  /** What the provider must do around every request: Clerk's middleware, or nothing. */
  readonly middleware?: (args: RequestContext, next: () => Promise<Response>) => Promise<Response>
  /** Null for anybody who is not signed in, also when the credential is bad. Never throws for a bad credential. */
  getSession(args: RequestContext): Promise<Session | null>
  /**
   * The provider's own word, which no client can alter; null when it does not know the id. It may be up to a minute old
   * unless `fresh` is asked for.
   */
  getUser(id: string, options?: { fresh: boolean }): Promise<IdentityUser | null>
  /** Makes the provider say the new name from now on; `getUser` answers with it at once. Throws when it does not know the id. */
  updateUser(id: string, changes: { name: string }): Promise<void>
  /** Null when the caller's credential may not open a socket. */
  issueRealtimeToken(args: RequestContext): Promise<RealtimeToken | null>
  /** Throws when the token is not one that this service may accept. */
  verifyRealtimeToken(token: string): Promise<RealtimeClaims>
  /** What the document needs to start the provider's own browser code. */
  rootData(args: RequestContext): Promise<unknown>
  /** The provider's own HTTP endpoints under /api/auth, where it has any. */
  readonly handle?: (request: Request) => Promise<Response>
}
