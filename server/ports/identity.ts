import type { IncomingHttpHeaders } from "node:http"
import type { AccountForms } from "./account-forms.ts"
import type { KeyScope } from "./identity-contract.ts"
import type { OwnAccount, OwnPictures } from "./own-account.ts"
import type { Plan, RequestContext, Session, Visit } from "./session.ts"
import type { SingleSignOn } from "./single-sign-on.ts"
import type { Transaction } from "#db/client.ts"

/** The provider's record of a person. `id` is opaque: each provider has its own format. */
export interface IdentityUser {
  id: string
  /** The primary address, or null if the provider knows none. */
  email: string | null
  emailVerified: boolean
  /**
   * Whether the provider knows more than that someone can read the mail of that address. Required
   * for operators.
   */
  holderConfirmed: boolean
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
  /** Null if the provider's token does not contain it. */
  sessionId: string | null
  /** Free if the provider's token contains no plan: the record has it. */
  plan: Plan
  /** How the person who requested the token is signed in. */
  via: "session-bearer" | "api-key"
  /** Milliseconds since the epoch. */
  expiresAt: number
  /** The key that the token was issued for, if it was one. */
  keyId?: string
  keyScopes?: readonly KeyScope[]
  /** When the session or the key expires, if the provider tells. Milliseconds since the epoch. */
  endsAt?: number
}

/** Suspends people without deleting their data, at a provider that leaves that to us. */
export interface Suspension {
  /**
   * In the given transaction. At its commit the sessions, live connections and running requests of
   * a person who is suspended end in every process; their keys open nothing until they are allowed
   * again. Null for an unknown id.
   */
  set(
    transaction: Transaction,
    change: { userId: string; suspended: boolean },
  ): Promise<{ isChanged: boolean; email: string } | null>
  /**
   * The ids of those with one of these addresses whom `holderConfirmed` makes operators, and who
   * are not suspended. They stay so until the transaction ends.
   */
  lockHolders(transaction: Transaction, emails: string[]): Promise<string[]>
  /** Which of these people are suspended. */
  among(userIds: string[]): Promise<string[]>
}

/** A notification from the provider about one of its users. */
export interface IdentityNotice {
  kind: "changed" | "deleted"
  userId: string
}

/**
 * Authenticates requests and manages accounts, through the identity provider that the operator
 * chose.
 */
export interface Identity {
  readonly kind: "clerk" | "embedded"
  /** What the provider must do around every request: Clerk's middleware, or nothing. */
  readonly middleware?: (args: RequestContext, next: () => Promise<Response>) => Promise<Response>
  /** Null for a visitor, and for an invalid credential. Never throws for an invalid credential. */
  getSession(args: RequestContext & Visit): Promise<Session | null>
  /**
   * Whether none of these headers could identify the sender, so that there is no session to look
   * up.
   */
  isAnonymous(headers: IncomingHttpHeaders): boolean
  /**
   * The provider's own data, which no client can alter; null if the id is unknown. It may be up to
   * a minute old unless `fresh` is set.
   */
  getUser(id: string, options?: { fresh: boolean }): Promise<IdentityUser | null>
  /**
   * Changes the name at the provider; `getUser` returns it immediately. Throws if the id is
   * unknown.
   */
  updateUser(id: string, changes: { name: string }): Promise<void>
  /**
   * Deletes the account with all its sessions and keys. Deleting a missing account is not an error.
   */
  deleteUser(id: string): Promise<void>
  /** Null if the caller's credential may not open a socket. */
  issueRealtimeToken(args: RequestContext & Visit): Promise<RealtimeToken | null>
  /** Throws if this service may not accept the token. */
  verifyRealtimeToken(token: string): Promise<RealtimeClaims>
  /**
   * Whether the session or the key, if either is known, is still valid. Absent if the provider
   * cannot be asked.
   */
  readonly isSessionValid?: (session: Pick<Session, "sessionId" | "keyId">) => Promise<boolean>
  /** Data that the document needs to start the provider's own browser code. */
  rootData(args: RequestContext): Promise<unknown>
  /** Ends the caller's session at the provider. The headers make the browser forget it. */
  signOut(args: RequestContext & Visit): Promise<Headers>
  /** The provider's own HTTP endpoints under /api/auth, if it has any. */
  readonly handle?: (visit: Visit) => Promise<Response>
  /** Absent if the provider brings its own sign-in and sign-up. */
  readonly forms?: AccountForms
  /**
   * Reads a notification that the provider sent; null if it concerns no user. Cached data that it
   * concerns is dropped, so that the next call requests it again. Throws `Unauthorized` unless the
   * provider signed it within the last five minutes. Absent if it sends none.
   */
  readonly readNotice?: (request: Request) => Promise<IdentityNotice | null>
  /**
   * Changes a person's plan in the given transaction. Returns what it found, or null for an unknown
   * id. Absent if people choose their plan at the provider.
   */
  readonly setPlan?: (
    transaction: Transaction,
    change: { userId: string; plan: Plan },
  ) => Promise<{ previous: Plan; email: string } | null>
  /** Absent if the provider brings its own. */
  readonly singleSignOn?: SingleSignOn
  /** Absent if people are suspended at the provider. */
  readonly suspension?: Suspension
  /**
   * Whether this browser was signed in to an account that is suspended now. Absent if the provider
   * explains that itself.
   */
  readonly isSuspended?: (request: Request) => Promise<boolean>
  /**
   * A link with which the person chooses a new password, valid for an hour, once. It makes nobody
   * an operator. Null for an unknown id. Absent if the provider keeps the passwords.
   */
  readonly makePasswordLink?: (userId: string) => Promise<string | null>
  /** How many sign-ins this process has seen, by their way. Absent if it sees none. */
  readonly countSignIns?: () => Record<string, number>
  /** Absent if the provider brings its own account page. */
  readonly ownAccount?: OwnAccount
  /** Absent if the provider keeps the pictures itself. */
  readonly pictures?: OwnPictures
}
