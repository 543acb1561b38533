import { apiKey } from "@better-auth/api-key"
import { getCurrentAuthEndpointContext, tryGetCurrentAuthEndpointContext } from "@better-auth/core/context"
import type { GenericEndpointContext } from "better-auth"
import { APIError, createAuthMiddleware, getSessionFromCtx, isAPIError } from "better-auth/api"
import { drizzleAdapter } from "better-auth/adapters/drizzle"
import { betterAuth } from "better-auth/minimal"
import { bearer } from "better-auth/plugins/bearer"
import { jwt } from "better-auth/plugins/jwt"
import { count, eq } from "drizzle-orm"
import type { Database } from "#db/client.ts"
import { isOutage } from "#db/outage.ts"
import {
  authAccount,
  authApiKey,
  authJwks,
  authPasskey,
  authRateLimit,
  authSession,
  authTwoFactor,
  authUser,
  authVerification,
} from "#db/schema/auth.ts"
import { MOST_KEYS, PASSWORD_LENGTH } from "#server/accounts/contract.ts"
import { networkOf } from "#server/transport/client-address.ts"
import { readLanguage } from "#server/transport/language.ts"
import type { Language } from "#server/users/language-contract.ts"
import type { Log } from "#server/log.ts"
import { REALTIME_AUDIENCE } from "#server/adapters/identity/realtime-token.ts"
import { forgetAddressChange } from "./forget-address-change.ts"
import { logAccountEvent } from "./account-log.ts"
import { ACCOUNT_WINDOW, countAttempt, forgetAttempts } from "./attempts.ts"
import {
  CONFIRM_ADDRESS,
  confirmAddress,
  confirmationLink,
  rememberSignUp,
  VERIFICATION_LINK_LIFE,
} from "./confirm-address.ts"
import { parseBody } from "./endpoints.ts"
import { ENTER, enterByProvider } from "./sso/enter.ts"
import { refuseGuessable } from "./guessable.ts"
import { knownBrowser, rememberBrowser } from "./known-browser.ts"
import { recordCall, rememberKey, type RecordEvent } from "./security-events.ts"
import { ADDRESS_HEADER, senderOfCall } from "./sender.ts"
import {
  endReplacedSession,
  hasPasskey,
  notePasskeyUse,
  PASSKEY_LIMITS,
  passkeys,
  requireVerification,
  VERIFY_PASSKEY,
} from "./passkeys.ts"
import { hashPassword, verifyPassword } from "./password.ts"
import {
  checkAttempt,
  endSessionsWithout,
  forgetShownFactors,
  forgetTrustedBrowsers,
  markSecondFactor,
  removeFactors,
  SECOND_FACTOR_LIMITS,
  secondFactor,
  VERIFYING,
} from "./second-factor.ts"

export interface AuthSettings {
  origin: string
  issuer: string
  authSecret: string
  signup: "open" | "closed" | "sso"
  /**
   * Whether an account opens only when its address is confirmed. Then no answer tells which
   * accounts there are.
   */
  verification: "optional" | "required"
  /** Whether an account without a second factor has to get one before anything else. */
  secondFactor: "optional" | "required"
  db: Database
  log: Log
  /**
   * Begins an email. The answer does not wait for it, or the time would tell which accounts there
   * are.
   */
  mailResetLink: (email: AccountEmail) => void
  /** Queues an email, in the transaction that is open. */
  mailVerificationLink: (email: AccountEmail) => Promise<unknown>
  /** Queues the email to the owner of an account that somebody tried to make again. */
  mailSignUpAttempted: (email: Pick<AccountEmail, "userId" | "email" | "language">) => Promise<unknown>
  /** Invitations let somebody in where sign-up is closed, and show that the address is theirs. */
  invitations: {
    isFor(token: string, email: string): Promise<boolean>
    /** In the transaction that is open. Resolves to false where it is not theirs, or was used. */
    redeem(token: string, email: string): Promise<boolean>
  }
  /** Read in the transaction that is open. */
  isSuspended: (userId: string) => Promise<boolean>
  /** Adds to the security log. */
  record: RecordEvent
  /** Begins something that the response must not wait for. */
  afterResponse: (work: () => Promise<unknown>) => void
  /** Told what went wrong inside: better-auth itself answers only that something did. */
  noticeError?: (error: Error) => void
}

export interface AccountEmail {
  userId: string
  email: string
  language: Language
  /** Carries the token, which is good for `minutes`. */
  url: string
  minutes: number
}

/** Holds the token of an invitation, with a sign-up. */
export const INVITATION_HEADER = "x-tideline-invitation"

export const API_KEY_PREFIX = "tide_"

export const API_PATH = "/api/auth"

/** Seconds. */
export const RESET_LINK_LIFE = 60 * 60

/**
 * Begins the token of a reset that the server's command made. better-auth's own have letters and
 * digits alone.
 */
export const MADE_ON_SERVER = "server_"

/** Seconds. A session that is used lives on; one that is not ends after this. */
export const SESSION_LIFE = 7 * 24 * 60 * 60

/** Seconds. One that is used after this time is renewed, and its cookie with it. */
export const SESSION_RENEWAL = 24 * 60 * 60

export const REALTIME_TOKEN_LIFE = 60

/** By the names that better-auth has for them. */
export const TABLES = {
  user: authUser,
  session: authSession,
  account: authAccount,
  verification: authVerification,
  jwks: authJwks,
  rateLimit: authRateLimit,
  apikey: authApiKey,
  twoFactor: authTwoFactor,
  passkey: authPasskey,
}

export type Auth = ReturnType<typeof createAuth>

/** better-auth on our tables. Creates no connections. */
export function createAuth(settings: AuthSettings) {
  return betterAuth(authOptions(settings))
}

export function authOptions(settings: AuthSettings) {
  const { origin, issuer, authSecret, db } = settings
  const confirmsFirst = settings.verification === "required"
  return {
    appName: "Tideline",
    baseURL: origin,
    basePath: API_PATH,
    secret: authSecret,
    trustedOrigins: [origin],
    database: drizzleAdapter(db, { provider: "pg", schema: TABLES, transaction: true }),
    // Both have writers of their own: a client that sends one is refused.
    user: {
      additionalFields: {
        plan: { type: "string", required: true, defaultValue: "free", input: false },
        holderConfirmed: {
          type: "boolean",
          required: true,
          defaultValue: false,
          input: false,
          returned: false,
        },
        suspendedAt: { type: "date", required: false, input: false, returned: false },
      },
    },
    // No cache in the cookie: a plan that changed and a session that ended count from the next
    // request on.
    session: {
      expiresIn: SESSION_LIFE,
      updateAge: SESSION_RENEWAL,
      // Nothing that is offered depends on it. What is sensitive asks for the password, whatever the
      // age of the session.
      freshAge: 0,
      additionalFields: {
        secondFactor: { type: "boolean", required: true, defaultValue: false, input: false },
        passkeyId: { type: "string", required: false, input: false },
      },
    },
    emailAndPassword: {
      enabled: true,
      minPasswordLength: PASSWORD_LENGTH.least,
      maxPasswordLength: PASSWORD_LENGTH.most,
      password: { hash: hashPassword, verify: verifyCounted(settings) },
      requireEmailVerification: confirmsFirst,
      onExistingUserSignUp: async ({ user }, request) => {
        const { id: userId, email } = user
        await settings.mailSignUpAttempted({ userId, email, language: languageOf(request) })
      },
      resetPasswordTokenExpiresIn: RESET_LINK_LIFE,
      revokeSessionsOnPasswordReset: true,
      sendResetPassword: async ({ user, token }, request) => {
        const { id: userId, email } = user
        const language = languageOf(request)
        const minutes = RESET_LINK_LIFE / 60
        settings.mailResetLink({ userId, email, language, url: resetLink(origin, token), minutes })
      },
      // Anyone who took the account over may have made keys too. The link came by email, or from
      // the server itself.
      onPasswordReset: async ({ user }) => {
        const call = getCurrentAuthEndpointContext()
        const holderConfirmed = String(call.body?.token).startsWith(MADE_ON_SERVER)
        await db.transaction(async (transaction) => {
          await transaction.delete(authApiKey).where(eq(authApiKey.referenceId, user.id))
          await forgetAddressChange(transaction, user.id)
          // Somebody who signed up with an address that is not theirs may have set one up.
          if (!user.emailVerified) await removeFactors(transaction, user.id)
          await forgetTrustedBrowsers(transaction, user.id)
          await transaction
            .update(authUser)
            .set({ emailVerified: true, holderConfirmed, updatedAt: new Date() })
            .where(eq(authUser.id, user.id))
          const event = { userId: user.id, event: "password-reset", from: senderOfCall(call) } as const
          await settings.record(event, transaction)
        })
        await rememberBrowser(call, settings, user.email)
      },
    },
    emailVerification: {
      sendOnSignUp: true,
      sendOnSignIn: confirmsFirst,
      expiresIn: VERIFICATION_LINK_LIFE,
      sendVerificationEmail: async ({ user, token }, request) => {
        const { id: userId, email, emailVerified } = user
        if (emailVerified) return
        const url = confirmationLink(origin, token)
        const language = languageOf(request)
        const minutes = VERIFICATION_LINK_LIFE / 60
        await settings.mailVerificationLink({ userId, email, language, url, minutes })
      },
    },
    rateLimit: {
      enabled: true,
      storage: "database",
      // By network address; an account has a limit of its own, in `limitAttempts`.
      customRules: {
        "/sign-in/email": { window: 60, max: 30 },
        "/sign-up/email": { window: 60, max: 30 },
        "/request-password-reset": { window: ACCOUNT_WINDOW, max: 20 },
        "/change-password": { window: 60, max: 30 },
        [CONFIRM_ADDRESS]: { window: 60, max: 30 },
        ...SECOND_FACTOR_LIMITS,
        ...PASSKEY_LIMITS,
        "/get-session": false,
      },
    },
    hooks: { before: refuseEarly(settings) },
    databaseHooks: {
      user: { create: { before: admitInvited(settings) } },
      session: { create: { before: beginSession(settings) } },
    },
    plugins: [
      jwt({
        jwks: { keyPairConfig: { alg: "ES256" } },
        jwt: { issuer, audience: REALTIME_AUDIENCE, expirationTime: `${REALTIME_TOKEN_LIFE}s` },
        disableSettingJwtHeader: true,
      }),
      bearer({ requireSignature: true }),
      confirmAddress(settings),
      enterByProvider(settings),
      apiKey({
        defaultPrefix: API_KEY_PREFIX,
        requireName: true,
        startingCharactersConfig: { charactersLength: API_KEY_PREFIX.length + 4 },
        rateLimit: { enabled: false },
        // A key opens the application, not the account: it cannot change the password or make more
        // keys.
        enableSessionForAPIKeys: false,
      }),
      secondFactor(origin),
      passkeys(settings),
      requireVerification(),
      // After the second factor's own hooks, which take back a session that a password alone opened.
      { id: "afterwards", hooks: { after: [{ matcher: () => true, handler: afterwards(settings) }] } },
    ],
    // Realtime tokens come from /api/realtime/token alone.
    disabledPaths: ["/token"],
    advanced: {
      cookiePrefix: "tideline",
      useSecureCookies: origin.startsWith("https:"),
      ipAddress: { ipAddressHeaders: [ADDRESS_HEADER] },
    },
    logger: {
      level: "warn",
      log: (level, message, ...details) => {
        const error = details.find((detail) => detail instanceof Error)
        const isOurs = error && !(REFUSED_PASSKEY.has(message) && !isOutage(error))
        if (isOurs) reportError(settings, error, message)
        // What it calls an error without a cause is a request that it refused.
        else settings.log.debug({ source: "better-auth", level }, message)
      },
    },
    // Without this a refusal goes to a log of its own, as an error.
    onAPIError: { onError: (error) => reportError(settings, error, "better-auth failed") },
    telemetry: { enabled: false },
  } satisfies Parameters<typeof betterAuth>[0]
}

function languageOf(request: Request | undefined): Language {
  return request ? readLanguage(request) : "en"
}

/**
 * A link by which a person chooses a new password, good for an hour, once. `mark` begins its token.
 */
export async function makeResetLink(auth: Auth, origin: string, userId: string, mark = ""): Promise<string> {
  const { internalAdapter } = await auth.$context
  const token = mark + crypto.randomUUID().replaceAll("-", "")
  await internalAdapter.createVerificationValue({
    identifier: `reset-password:${token}`,
    value: userId,
    expiresAt: new Date(Date.now() + RESET_LINK_LIFE * 1000),
  })
  return resetLink(origin, token)
}

/** The page where the holder of `token` chooses a new password. */
export function resetLink(origin: string, token: string): string {
  return `${origin}/sign-in/new-password?${new URLSearchParams({ token })}`
}

/**
 * What better-auth has no setting for: our rules for every body, an explained refusal of sign-ups,
 * and the limit for each account.
 */
function refuseEarly(settings: AuthSettings) {
  const { db, signup, invitations } = settings
  return createAuthMiddleware(async (call) => {
    const { path, request, headers } = call
    // Functions of the provider that the server itself calls have been given what it parsed.
    const body = request ? parseBody(request.method, path, call.body) : call.body
    const email: unknown = body?.email
    if (path === "/sign-up/email" && signup !== "open") {
      const token = headers?.get(INVITATION_HEADER)
      const isInvited = token && typeof email === "string" && (await invitations.isFor(token, email))
      if (!isInvited) throw signupClosed(settings)
    }
    const kind = ATTEMPTS_BY_PATH.get(path)
    if (kind && typeof email === "string" && email.length <= 320) {
      const from = kind === "sign-in" ? await knownBrowser(call, settings, email) : senderOf(headers)
      const wait = await countAttempt(db, kind, email, from)
      if (wait !== null) {
        settings.log.info({ event: kind, user: null, from: senderOf(headers), refused: 429 }, "account")
        throw tooManyAttempts(wait)
      }
    }
    if (body) await refuseGuessable(call, settings, body)
    if (body) await checkAttempt(call, db, body)
    if (path === "/two-factor/enable") await keepPasskeyNeeded(call, db)
    if (path === "/api-key/create" && request) await refuseWithoutFactor(call, settings)
    if (path === "/api-key/delete" && body) await rememberKey(call, db, String(body.keyId))
    return { context: { body } }
  })
}

/**
 * Someone who knows the password alone adds no factor to an account that has one: they have to sign
 * in with the passkey first.
 */
async function keepPasskeyNeeded(call: GenericEndpointContext, db: Database) {
  const session = await getSessionFromCtx<object, { secondFactor: boolean }>(call)
  if (!session || session.session.secondFactor || !(await hasPasskey(db, session.user.id))) return
  throw new APIError("FORBIDDEN", { code: "PASSKEY_NEEDED", message: "Sign in with your passkey first." })
}

/** The endpoints are open to every session, and without its factor it may do nothing else yet. */
async function refuseWithoutFactor(call: GenericEndpointContext, settings: AuthSettings) {
  const session = await getSessionFromCtx<{ twoFactorEnabled?: boolean | null }, { secondFactor: boolean }>(
    call,
  )
  if (!session || session.session.secondFactor) return
  if (settings.secondFactor === "optional" && !session.user.twoFactorEnabled) return
  const message = `This needs a second factor. Open ${settings.origin}/second-factor in your browser.`
  throw new APIError("FORBIDDEN", { message, code: "SECOND_FACTOR_NEEDED" })
}

function tooManyAttempts(wait: number) {
  const message = `Too many attempts on this account. Try again in ${Math.ceil(wait / 60)} minutes.`
  const headers = { "Retry-After": String(wait) }
  return new APIError("TOO_MANY_REQUESTS", { message, code: "TOO_MANY_ATTEMPTS" }, headers)
}

/**
 * Guesses at the current password of a signed-in person are counted per account, at every endpoint
 * and from any address. Sign-in has its own count.
 */
function verifyCounted({ db }: AuthSettings) {
  return async (attempt: { hash: string; password: string }): Promise<boolean> => {
    const call = tryGetCurrentAuthEndpointContext()
    const userId = call?.path === "/sign-in/email" ? undefined : call?.context.session?.user.id
    if (userId === undefined) return verifyPassword(attempt)
    const wait = await countAttempt(db, "password", userId, null)
    if (wait !== null) throw tooManyAttempts(wait)
    const isRight = await verifyPassword(attempt)
    if (isRight) await forgetAttempts(db, "password", userId, null)
    return isRight
  }
}

function senderOf(headers: Headers | undefined): string {
  return networkOf(headers?.get(ADDRESS_HEADER) ?? "unknown")
}

function signupClosed({ origin, signup }: AuthSettings) {
  if (signup === "sso") {
    const message = `Accounts are created by single sign-on here: open ${origin}/sign-up.`
    return new APIError("FORBIDDEN", { message, code: "SIGNUP_BY_PROVIDER" })
  }
  const message = `Sign-up is closed here. Leave your address at ${origin}/waitlist, and you can be told when it opens.`
  return new APIError("FORBIDDEN", { message, code: "SIGNUP_CLOSED" })
}

/**
 * Uses an invitation up with the account that it makes. It came by mail, so the address is proven.
 */
function admitInvited(settings: AuthSettings) {
  return async (
    user: { email: string },
    context: { path?: string; headers?: Headers | undefined } | null,
  ) => {
    if (context?.path !== "/sign-up/email") return
    const token = context.headers?.get(INVITATION_HEADER)
    if (token && (await settings.invitations.redeem(token, user.email)))
      return { data: { emailVerified: true, holderConfirmed: true } }
    if (settings.signup !== "open") throw signupClosed(settings)
  }
}

/** Every way to sign in makes a session. */
function beginSession({ db, isSuspended }: AuthSettings) {
  return async ({ userId }: { userId: string }, call: GenericEndpointContext | null) => {
    if (await isSuspended(userId)) {
      const message = "This account is suspended. Ask the administrator of this server to allow it again."
      throw new APIError("FORBIDDEN", { message, code: "ACCOUNT_SUSPENDED" })
    }
    if (call?.path === VERIFY_PASSKEY) {
      const passkeyId = await notePasskeyUse(db, String(call.body?.response?.id))
      return { data: { secondFactor: true, passkeyId } }
    }
    if (!hasShownFactor(call)) return
    // A session that replaces the one of a passkey ends with it too.
    const passkeyId = call?.context.session?.session["passkeyId"] ?? null
    return { data: { secondFactor: true, passkeyId } }
  }
}

/** Of a session that begins with a code, or replaces one that did when the password is changed. */
function hasShownFactor(call: GenericEndpointContext | null): boolean {
  const path = call?.path ?? ""
  const replaces = path === "/change-password" && call?.context.session?.session["secondFactor"] === true
  return VERIFYING.has(path) || replaces
}

const ATTEMPTS_BY_PATH = new Map<string, "sign-in" | "reset">([
  ["/sign-in/email", "sign-in"],
  ["/request-password-reset", "reset"],
])

function afterwards(settings: AuthSettings) {
  const { db, authSecret, log } = settings
  return createAuthMiddleware(async (call) => {
    const { path, context } = call
    const { newSession, returned } = context
    // The account page and the server's command tell of their own keys.
    if (path !== "/api-key/create" || call.request) logAccountEvent(log, call, senderOf(call.headers))
    if (path === "/api-key/create") await keepLimitOfKeys(db, returned)
    const opened = newSession && OPENING.has(path) ? newSession.user.email : null
    const known = opened === null ? null : await knownBrowser(call, settings, opened)
    if (opened !== null) {
      await forgetAttempts(db, "sign-in", opened, known)
      await rememberBrowser(call, settings, opened)
    }
    if (path === "/change-password" && context.session && !isAPIError(returned)) {
      await rememberBrowser(call, settings, context.session.user.email)
      await forgetTrustedBrowsers(db, context.session.user.id)
      await forgetAddressChange(db, context.session.user.id)
    }
    if (!isAPIError(returned)) await noteFactors(call, db)
    if (path === VERIFY_PASSKEY && newSession) await endReplacedSession(call, db)
    await recordCall(call, settings, { isKnown: known !== null, returned })
    if (path === "/sign-up/email" && !newSession && isSignUp(returned))
      rememberSignUp(call, authSecret, returned.user.id)
  })
}

/** What opens an account in a browser. */
const OPENING = new Set([
  "/sign-in/email",
  "/sign-up/email",
  CONFIRM_ADDRESS,
  ENTER,
  VERIFY_PASSKEY,
  ...VERIFYING,
])

/** What a code, or a trusted browser, has shown. */
async function noteFactors({ path, context }: GenericEndpointContext, db: Database) {
  const { newSession, session } = context
  const user = newSession?.user ?? session?.user
  if (!user) return
  if (VERIFYING.has(path)) {
    await forgetAttempts(db, "second-factor", user.id, null)
    if (!newSession && session) await markSecondFactor(db, session.session.id)
    // Where another session replaces the present one, it was set up just now.
    if (newSession && session) await endSessionsWithout(db, user.id, newSession.session.id)
  }
  // Of an account with a factor the plugin leaves a session only where the browser is trusted.
  const isTrusted = path === "/sign-in/email" && newSession?.user["twoFactorEnabled"] === true
  if (isTrusted && newSession) await markSecondFactor(db, newSession.session.id)
  if (path === "/two-factor/disable") await forgetShownFactors(db, user.id)
}

function isSignUp(returned: unknown): returned is { user: { id: string } } {
  return typeof returned === "object" && returned !== null && "user" in returned
}

/**
 * Checked after the key is created: of many created concurrently, none remains beyond the limit.
 */
async function keepLimitOfKeys(db: Database, made: unknown) {
  if (typeof made !== "object" || made === null || !("referenceId" in made) || !("id" in made)) return
  const isTheirs = eq(authApiKey.referenceId, String(made.referenceId))
  const [keys] = await db.select({ number: count() }).from(authApiKey).where(isTheirs)
  if (!keys || keys.number <= MOST_KEYS) return
  await db.delete(authApiKey).where(eq(authApiKey.id, String(made.id)))
  const message = `You have ${MOST_KEYS} keys. Delete one you don't use, then create the new one.`
  throw new APIError("FORBIDDEN", { message, code: "TOO_MANY_KEYS" })
}

/** What the plugin logs of an answer that it refuses, with the reason as an error. */
const REFUSED_PASSKEY = new Set(["Failed to verify registration", "Failed to verify authentication"])

/** What was refused is no fault of ours: anybody can send what has to be. */
function reportError({ log, noticeError }: AuthSettings, error: unknown, message: string) {
  if (error instanceof Error) noticeError?.(error)
  // Not by `instanceof`: what better-auth calls by itself has a class of the same name.
  const isRefusal = isAPIError(error) && error.statusCode < 500
  if (isRefusal) log.debug({ source: "better-auth", refused: error.statusCode }, error.message)
  else log.error({ source: "better-auth", err: error }, message)
}
