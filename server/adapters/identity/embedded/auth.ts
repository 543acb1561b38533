import { apiKey } from "@better-auth/api-key"
import { getCurrentAuthEndpointContext } from "@better-auth/core/context"
import { isAPIError } from "better-auth/api"
import { drizzleAdapter } from "better-auth/adapters/drizzle"
import { betterAuth } from "better-auth/minimal"
import { jwt } from "better-auth/plugins/jwt"
import { eq } from "drizzle-orm"
import { isOutage } from "#live/check"
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
import { PASSWORD_LENGTH } from "#server/accounts/contract.ts"
import { REALTIME_AUDIENCE } from "#server/ports/identity-contract.ts"
import { readLanguage } from "#server/transport/language.ts"
import type { Language } from "#server/language-contract.ts"
import { afterwards } from "./after-call.ts"
import { ACCOUNT_WINDOW, verifyCounted } from "./attempts.ts"
import type { AuthSettings } from "./auth-settings.ts"
import { beginSession } from "./begin-session.ts"
import { refuseEarly } from "./before-call.ts"
import { CONFIRM_ADDRESS } from "./calls.ts"
import { confirmAddress, mailConfirmation, VERIFICATION_LINK_LIFE } from "./confirm-address.ts"
import { forgetAddressChange } from "./earlier-holder.ts"
import { rememberBrowser } from "./known-browser.ts"
import { PASSKEY_LIMITS, passkeys, requireVerification } from "./passkeys.ts"
import { hashPassword } from "./password.ts"
import { MADE_ON_SERVER, RESET_LINK_LIFE, resetLink } from "./reset-link.ts"
import { forgetTrustedBrowsers, removeFactors, SECOND_FACTOR_LIMITS, secondFactor } from "./second-factor.ts"
import { senderOfCall, ADDRESS_HEADER } from "./sender.ts"
import { admitInvited } from "./signup.ts"
import { enterByProvider } from "./provider-sessions.ts"

export const API_KEY_PREFIX = "tide_"

export const API_PATH = "/api/auth"

/** Seconds. A session in use is renewed; an unused one ends after this. */
export const SESSION_LIFE = 7 * 24 * 60 * 60

/** Seconds. A session that is used after this time is renewed, with its cookie. */
export const SESSION_RENEWAL = 24 * 60 * 60

export const REALTIME_TOKEN_LIFE = 60

/** By better-auth's names for them. */
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
    // Only our own code writes these: a request that sends one is refused.
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
    // No cache in the cookie: a changed plan and an ended session take effect with the next request,
    // and a session that was ended adds no passkey (CVE-2026-134321).
    session: {
      expiresIn: SESSION_LIFE,
      updateAge: SESSION_RENEWAL,
      // Nothing depends on it. Sensitive changes require the password, whatever the age of the
      // session.
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
      // Anyone who took over the account may have created keys too. The link came by email, or from
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
      // `admitInvited` queues it in the transaction that creates the account.
      sendOnSignUp: false,
      sendOnSignIn: confirmsFirst,
      expiresIn: VERIFICATION_LINK_LIFE,
      sendVerificationEmail: async ({ user }, request) => {
        if (!user.emailVerified) await mailConfirmation(settings, user, request)
      },
    },
    rateLimit: {
      enabled: true,
      storage: "database",
      // By network address; an account has its own limit, in `limitAttempts`.
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
      confirmAddress(settings),
      enterByProvider(settings),
      apiKey({
        defaultPrefix: API_KEY_PREFIX,
        requireName: true,
        startingCharactersConfig: { charactersLength: API_KEY_PREFIX.length + 4 },
        rateLimit: { enabled: false },
        // A key opens the application, not the account: it cannot change the password or create
        // keys.
        enableSessionForAPIKeys: false,
      }),
      secondFactor(origin),
      passkeys(settings),
      requireVerification(),
      // After the second factor's own hooks, which end a session that only a password opened.
      { id: "afterwards", hooks: { after: [{ matcher: () => true, handler: afterwards(settings) }] } },
    ],
    // Realtime tokens are only issued by /api/realtime/token.
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
        // An error without a cause is a request that better-auth refused.
        else settings.log.debug({ source: "better-auth", level }, message)
      },
    },
    // Without this, refusals are logged separately, as errors.
    onAPIError: { onError: (error) => reportError(settings, error, "better-auth failed") },
    telemetry: { enabled: false },
  } satisfies Parameters<typeof betterAuth>[0]
}

function languageOf(request: Request | undefined): Language {
  return request ? readLanguage(request) : "en"
}

/** The plugin's messages for a refused response, whose reason it logs as an error. */
const REFUSED_PASSKEY = new Set(["Failed to verify registration", "Failed to verify authentication"])

/** A refusal is not our fault: anybody can send an invalid request. */
function reportError({ log, noticeError }: AuthSettings, error: unknown, message: string) {
  if (error instanceof Error) noticeError?.(error)
  // Not by `instanceof`: better-auth's inner library has a class of the same name.
  const isRefusal = isAPIError(error) && error.statusCode < 500
  if (isRefusal) log.debug({ source: "better-auth", refused: error.statusCode }, error.message)
  else log.error({ source: "better-auth", err: error }, message)
}
