import type { IncomingHttpHeaders } from "node:http"
import type { PostgresJsDatabase } from "drizzle-orm/postgres-js"
import type { RouterContextProvider } from "react-router"
import type { KeyScope } from "./identity-contract.ts"
import type { PasskeyAssertion, PasskeyAttestation } from "./passkey-contract.ts"

export type Plan = "free" | "pro"

/** A transaction of the application's database, for providers that store accounts in it. */
type Transaction = Parameters<Parameters<PostgresJsDatabase["transaction"]>[0]>[0]

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

/** The provider's record of a person. `id` is opaque: each provider has its own format. */
export interface IdentityUser {
  id: string
  /** The primary address, or null where the provider knows none. */
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
  /** Null where the provider's token does not say it. */
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
  /**
   * When the session or the key ends by itself, at the latest; where the provider tells.
   * Milliseconds since the epoch.
   */
  endsAt?: number
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

/** Why an account form was refused. */
export type AccountProblem =
  | "wrong-credentials"
  | "address-unconfirmed"
  | "email-taken"
  | "email-unfit"
  | "password-unfit"
  | "password-guessable"
  | "link-spent"
  | "code-wrong"
  | "challenge-ended"
  | "factor-exists"
  | "passkey-unknown"
  | "passkey-refused"
  | "passkey-needed"
  | "too-many-passkeys"
  | "sign-in-again"
  | "signup-closed"
  | "signup-by-provider"
  | "too-many-attempts"
  | "another-site"
  | "account-suspended"
  | "address-at-provider"
  | "address-unchanged"

/** `headers` set the cookies of what was done. */
export type AccountOutcome =
  | { ok: true; headers: Headers }
  | { ok: false; problem: AccountProblem; status: number; retryAfter: number | null }

/**
 * The forms of a provider that leaves them to us. A wrong email and a wrong password are one
 * answer, in the same time.
 */
export interface AccountForms {
  /**
   * `invitation` is the token of one, which counts where sign-up is closed. Where an address has to
   * be confirmed first, nobody is signed in, and the outcome is the same whether there was such an
   * account or not.
   */
  signUp(
    visit: Visit,
    input: { name: string; email: string; password: string; invitation?: string | undefined },
  ): Promise<(AccountOutcome & { ok: false }) | { ok: true; headers: Headers; isSignedIn: boolean }>
  /** `needsCode` where the account has a second factor: nobody is signed in until it is shown. */
  signIn(
    visit: Visit,
    input: { email: string; password: string },
  ): Promise<(AccountOutcome & { ok: false }) | { ok: true; headers: Headers; needsCode: boolean }>
  /**
   * Signs in with a passkey alone, which shows two factors: the authenticator has verified the
   * person. Absent where browsers cannot use passkeys, because the origin is an IP address.
   */
  enterWithPasskey?(visit: Visit, assertion: PasskeyAssertion): Promise<AccountOutcome>
  /**
   * The second step, in the browser of the first, or in a session that has not shown its factor
   * yet. `code` is the app's or a recovery code, which works once. `trust` spares this browser the
   * second step for 30 days.
   */
  enterCode(visit: Visit, input: { code: string; trust: boolean }): Promise<AccountOutcome>
  /** Resolves the same way whether or not the account exists. */
  requestPasswordReset(visit: Visit, input: { email: string }): Promise<AccountOutcome>
  /**
   * `token` came by email, which confirms the address as well. Every session and API key of the
   * account ends.
   */
  resetPassword(visit: Visit, input: { token: string; password: string }): Promise<AccountOutcome>
  /**
   * Confirms the address that `token` was sent to. Anyone who holds the account already goes on
   * with it, signed in. Of anyone else a password is needed; with it they are signed in, and every
   * session, key and password from before ends.
   */
  confirmAddress(
    visit: Visit,
    input: { token: string; password?: string },
  ): Promise<
    | (AccountOutcome & { ok: false })
    | {
        ok: true
        headers: Headers
        state: "confirmed" | "confirmed-before" | "password-needed"
        email: string
      }
  >
}

/** A browser that is signed in. */
export interface AccountSession {
  id: string
  userAgent: string | null
  /** The network address that it signed in from. */
  address: string | null
  /** Milliseconds since the epoch. */
  createdAt: number
}

/** A key for programs. The key itself is known to its owner alone. */
export interface AccountKey {
  id: string
  name: string
  /** Its first characters, to tell keys apart. */
  start: string
  /** Milliseconds since the epoch, like the times below. */
  createdAt: number
  usedAt: number | null
  expiresAt: number | null
  /** The network address that it was used from last. */
  usedFrom: string | null
  /** Null for a key that may do whatever keys may. */
  scopes: readonly KeyScope[] | null
}

export interface NewKey {
  name: string
  scopes: readonly KeyScope[] | null
  /** Days from now; null for a key without an end. */
  days: number | null
}

/** A passkey of an account. What it signs with never leaves the person's devices. */
export interface AccountPasskey {
  id: string
  name: string
  /** Milliseconds since the epoch, like the time below. */
  createdAt: number
  usedAt: number | null
  /** Whether an app or a service keeps it on several devices. */
  isSynced: boolean
}

/** What a change of the second factor takes. */
export interface FactorProof {
  /** Null for an account that has none, because its owner signs in by a provider. */
  password: string | null
  code: string
}

/** The second factor of an account, and how many recovery codes are left. */
export interface SecondFactor {
  recoveryCodes: number
}

/** `headers` set the cookies; the codes cannot be read again. */
type RecoveryCodes = { ok: true; headers: Headers; recoveryCodes: string[] }

/** What a link of a change of address is for. */
export interface AddressChangeLink {
  /** Whether it was sent to the new address. */
  isNew: boolean
  previous: string
  next: string
  /** False for an address that was never confirmed, whose link can only stop the change. */
  canConfirm: boolean
}

/** `waiting` for the other address; `expired` too if the address was taken in the meantime. */
export type AddressChangeOutcome = "waiting" | "changed" | "expired"

/**
 * What people see and do of their own account, at a provider that leaves that to us. Other people's
 * sessions and keys are not there.
 */
export interface OwnAccount {
  /** The latest first. */
  listSessions(userId: string): Promise<AccountSession[]>
  /** False if there is none. */
  endSession(visit: Visit, userId: string, id: string): Promise<boolean>
  endOtherSessions(visit: Visit, userId: string, keep: string): Promise<void>
  /** All of them. For operators, in the given transaction. */
  endSessions(transaction: Transaction, userId: string): Promise<void>
  /** Every other session ends. */
  changePassword(visit: Visit, passwords: { current: string; next: string }): Promise<AccountOutcome>
  /**
   * Emails both addresses a link. The result is the same for an address that has another account.
   * `code` is asked for where there is a second factor.
   */
  requestAddressChange(
    visit: Visit,
    userId: string,
    input: { next: string; password: string; code: string },
  ): Promise<AccountOutcome>
  /** Null if none is waiting. */
  findAddressChange(
    userId: string,
  ): Promise<{ next: string; waitsForPrevious: boolean; waitsForNext: boolean } | null>
  /** Null for a link that has expired or was used. */
  readAddressLink(token: string): Promise<AddressChangeLink | null>
  /** `session` is the one of the browser that opened the link, whosever it is. */
  confirmAddressChange(visit: Visit, session: Session | null, token: string): Promise<AddressChangeOutcome>
  /** By a link of one of the addresses, or by the person. False if there is none. */
  stopAddressChange(visit: Visit, by: { token: string } | { userId: string }): Promise<boolean>
  /** False for people who sign in by a provider only. */
  hasPassword(userId: string): Promise<boolean>
  /** The providers of single sign-on that know the person, and what they call them. */
  listProviders(userId: string): Promise<{ issuer: string; subject: string }[]>
  /** Null when it is right. */
  checkPassword(userId: string, password: string): Promise<(AccountOutcome & { ok: false }) | null>
  /** Null where there is none, or its set-up was not finished. */
  findSecondFactor(userId: string): Promise<SecondFactor | null>
  /** Resolves to the address that an authenticator app reads. It counts once a code is confirmed. */
  beginSecondFactor(
    visit: Visit,
    password: string | null,
  ): Promise<(AccountOutcome & { ok: false }) | { ok: true; headers: Headers; uri: string }>
  /** Every other session ends. */
  confirmSecondFactor(
    visit: Visit,
    input: { userId: string; code: string },
  ): Promise<(AccountOutcome & { ok: false }) | RecoveryCodes>
  /** The ones from before stop working. */
  renewRecoveryCodes(
    visit: Visit,
    proof: FactorProof,
  ): Promise<(AccountOutcome & { ok: false }) | RecoveryCodes>
  removeSecondFactor(visit: Visit, proof: FactorProof): Promise<AccountOutcome>
  /**
   * The authenticator app and the passkeys. For operators, in the given transaction. Sessions that a
   * passkey opened end; others go on, and what they have shown counts no longer. `isChanged` is false where there was none. Null for an unknown id.
   */
  removeFactors(
    transaction: Transaction,
    userId: string,
  ): Promise<{ isChanged: boolean; email: string } | null>
  /** Those of the people with these ids who have a second factor or a passkey. */
  findFactorHolders(userIds: readonly string[]): Promise<string[]>
  /** The oldest first. */
  listPasskeys(userId: string): Promise<AccountPasskey[]>
  /**
   * `options` are WebAuthn's, in JSON, for the browser to make a passkey with; `headers` set the
   * cookie that belongs to them. Ask for proof of who it is before.
   */
  beginPasskey(
    visit: Visit,
    userId: string,
  ): Promise<(AccountOutcome & { ok: false }) | { ok: true; headers: Headers; options: string }>
  /** With what the browser made of the options, once and within five minutes. */
  addPasskey(
    visit: Visit,
    userId: string,
    passkey: { name: string; attestation: PasskeyAttestation },
  ): Promise<AccountOutcome>
  /** False if there is none. */
  renamePasskey(userId: string, passkey: { id: string; name: string }): Promise<boolean>
  /**
   * Ends the sessions that it opened, except for `sessionId`. What sessions have shown counts no
   * longer if it was the last factor of the account. False if there is none.
   */
  removePasskey(visit: Visit, passkey: { userId: string; sessionId: string; id: string }): Promise<boolean>
  listKeys(userId: string): Promise<AccountKey[]>
  /** `key` opens the application, and is not to be had again. Null for somebody who has fifty. */
  createKey(visit: Visit, userId: string, key: NewKey): Promise<(AccountKey & { key: string }) | null>
  deleteKey(visit: Visit, userId: string, id: string): Promise<boolean>
}

/** What people look like, at a provider that leaves that to us. */
export interface OwnPictures {
  /**
   * Takes the place of the one that was there. Resolves to its address. Throws when the provider
   * does not know the id.
   */
  save(userId: string, webp: Uint8Array): Promise<string>
  /** Removing a missing picture is not an error. */
  remove(userId: string): Promise<void>
  /**
   * WebP, by the last part of its address. Null for another person's, and for one that was
   * replaced.
   */
  find(userId: string, pictureId: string): Promise<Uint8Array | null>
}

/** A provider of single sign-on by OpenID Connect. */
export interface SsoProvider {
  /** Lower case, as in URLs. */
  name: string
  /** What its button says after "Continue with". */
  label: string
  issuer: string
  clientId: string
  clientSecret: string
  /** Whose email addresses may sign up and be linked; null for all that the provider verified. */
  domains: string[] | null
}

/** Why somebody could not sign in by a provider. */
export type SsoProblem =
  | "unknown-provider"
  | "provider-unreachable"
  | "cancelled"
  | "attempt-expired"
  | "response-refused"
  | "address-unverified"
  | "domain-refused"
  | "signup-closed"
  | "account-suspended"

/** Signing in by providers that the settings name. */
export interface SingleSignOn {
  readonly providers: readonly Pick<SsoProvider, "name" | "label">[]
  /** Where to send the browser, with a cookie that binds it. `target` is where it goes in the end. */
  begin(
    visit: Visit,
    provider: string,
    target: string,
  ): Promise<{ location: string; headers: Headers } | { problem: SsoProblem }>
  /** What the provider sent the browser back with. Each response counts once, in its own browser. */
  finish(
    visit: Visit,
    provider: string,
  ): Promise<{ target: string; headers: Headers } | { problem: SsoProblem }>
  /** Ends what a back-channel logout token names, in every process. False for one that is not good. */
  endByLogoutToken(provider: string, token: string): Promise<boolean>
  /** The provider that a session began with; null for none. */
  findProviderOf(session: Session): Promise<string | null>
  /** Where one signs out at the provider too; null where it has no such place. */
  signOutAddress(provider: string): Promise<string | null>
}

/** Keeping people out without deleting anything of theirs, at a provider that leaves that to us. */
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
   * The provider's own word, which no client can alter; null when it does not know the id. It may
   * be up to a minute old unless `fresh` is asked for.
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
  /** Null when the caller's credential may not open a socket. */
  issueRealtimeToken(args: RequestContext & Visit): Promise<RealtimeToken | null>
  /** Throws when the token is not one that this service may accept. */
  verifyRealtimeToken(token: string): Promise<RealtimeClaims>
  /**
   * Whether the session or the key, if either is known, still opens the application. Absent where
   * the provider cannot be asked.
   */
  readonly isSessionValid?: (session: Pick<Session, "sessionId" | "keyId">) => Promise<boolean>
  /** What the document needs to start the provider's own browser code. */
  rootData(args: RequestContext): Promise<unknown>
  /** Ends the caller's session at the provider. The headers make the browser forget it. */
  signOut(args: RequestContext & Visit): Promise<Headers>
  /** The provider's own HTTP endpoints under /api/auth, where it has any. */
  readonly handle?: (visit: Visit) => Promise<Response>
  /** Absent where the provider brings its own sign-in and sign-up. */
  readonly forms?: AccountForms
  /**
   * Reads what the provider sent by itself; null where it concerns no user. What it says of a
   * change is forgotten, so that a later call next hears it. Throws `Unauthorized` unless the
   * provider signed it within the last five minutes. Absent where it sends nothing.
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
  /** Absent where the provider brings its own. */
  readonly singleSignOn?: SingleSignOn
  /** Absent if people are suspended at the provider. */
  readonly suspension?: Suspension
  /**
   * Whether this browser was signed in to an account that is suspended now. Absent where the
   * provider explains that itself.
   */
  readonly isSuspended?: (request: Request) => Promise<boolean>
  /**
   * A link by which the person chooses a new password, good for an hour, once. It makes nobody an
   * operator. Null for an unknown id. Absent where the provider keeps the passwords.
   */
  readonly makePasswordLink?: (userId: string) => Promise<string | null>
  /** How many sign-ins this process has seen, by what they were made with. Absent where it sees none. */
  readonly countSignIns?: () => Record<string, number>
  /** Absent where the provider brings its own account page. */
  readonly ownAccount?: OwnAccount
  /** Absent where the provider keeps the pictures itself. */
  readonly pictures?: OwnPictures
}
