import type { GenericEndpointContext } from "better-auth"
import { APIError, getSessionFromCtx, isAPIError } from "better-auth/api"
import { symmetricDecrypt, symmetricEncrypt } from "better-auth/crypto"
import { twoFactor } from "better-auth/plugins/two-factor"
import { createOTP } from "@better-auth/utils/otp"
import { and, eq, isNull, like, ne } from "drizzle-orm"
import { randomInt } from "node:crypto"
import * as v from "valibot"
import type { Database, Transaction } from "#db/client.ts"
import { authPasskey, authSession, authTwoFactor, authUser, authVerification } from "#db/schema/auth.ts"
import type { AccountOutcome } from "#server/ports/account-forms.ts"
import { countAttempt, forgetAttempts } from "./attempts.ts"
import { VERIFY_RECOVERY, VERIFY_TOTP } from "./calls.ts"
import { findFactor, findPassword } from "./find-account.ts"

/** Seconds for which a browser is trusted, from each sign-in. */
const TRUST_LIFE = 30 * 24 * 60 * 60

/** Seconds between the password and the code. */
const CHALLENGE_LIFE = 10 * 60

const RECOVERY_CODES = 10

/** Without characters that look alike. */
const ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"

const Password = v.pipe(v.string(), v.maxLength(200))
const Totp = v.pipe(v.string(), v.regex(/^\d{6}$/, "A code has six digits."))
const Code = v.pipe(v.string(), v.nonEmpty(), v.maxLength(40))
const trustDevice = v.optional(v.boolean())

export const SECOND_FACTOR_ENDPOINTS = {
  "POST /two-factor/enable": v.strictObject({ password: v.optional(Password) }),
  "POST /two-factor/verify-totp": v.strictObject({ code: Totp, trustDevice }),
  "POST /two-factor/verify-backup-code": v.strictObject({ code: Code, trustDevice }),
  "POST /two-factor/disable": v.strictObject({ password: v.optional(Password), code: Code }),
  "POST /two-factor/generate-backup-codes": v.strictObject({ password: v.optional(Password), code: Code }),
}

/** By network address; each account has its own limit. */
export const SECOND_FACTOR_LIMITS = { "/two-factor/*": { window: 60, max: 30 } }

/** The ways to show a second factor. */
export const VERIFYING: ReadonlySet<string> = new Set([VERIFY_TOTP, VERIFY_RECOVERY])

/** The plugin only requires the password for these; we require a code too. */
const NEEDS_BOTH = new Set(["/two-factor/disable", "/two-factor/generate-backup-codes"])

export function secondFactor(origin: string) {
  return twoFactor({
    issuer: `Tideline (${new URL(origin).hostname})`,
    // For people who sign in with a provider. An account with a password still requires it.
    allowPasswordless: true,
    trustDeviceMaxAge: TRUST_LIFE,
    twoFactorCookieMaxAge: CHALLENGE_LIFE,
    backupCodeOptions: { customBackupCodesGenerate: makeRecoveryCodes },
    // Guesses are counted below, including those within a session.
    accountLockout: { enabled: false },
  })
}

function makeRecoveryCodes() {
  return Array.from({ length: RECOVERY_CODES }, () => `${makePart()}-${makePart()}`)
}

function makePart() {
  return Array.from({ length: 5 }, () => ALPHABET[randomInt(ALPHABET.length)]).join("")
}

/** In the form in which it was shown, however it was typed. */
export function normalizeCode(typed: string): string {
  const code = typed.toLowerCase().replace(/[\s-]/g, "")
  return code.length === 10 ? `${code.slice(0, 5)}-${code.slice(5)}` : code
}

export function isTotp(code: string): boolean {
  return v.is(Totp, code)
}

/**
 * Runs before a code is checked: guesses are counted per account, whichever challenge or session
 * they belong to, and an app's code is accepted once. Where the plugin only requires the password,
 * the code is checked here too.
 */
export async function checkAttempt(
  call: GenericEndpointContext,
  db: Database,
  body: Record<string, unknown>,
): Promise<void> {
  if (NEEDS_BOTH.has(call.path)) return requireBoth(call, db, body["password"], String(body["code"]))
  if (!VERIFYING.has(call.path)) return
  const userId = await challengedUser(call)
  if (userId === null) return
  await countGuess(db, userId)
  const factor = await findFactor(db, userId)
  // The plugin would fail with an internal error.
  if (factor) await decrypt(call.context.secretConfig, factor.secret)
  if (call.path === VERIFY_TOTP) await claimCode(db, userId, String(body["code"]))
  // The codes are shown before the app is set up, to anyone who knows the password.
  else if (!factor?.verified) throw invalidCode()
}

async function decrypt(key: SecretConfig, data: string): Promise<string> {
  try {
    return await symmetricDecrypt({ key, data })
  } catch (error) {
    const message =
      "Your second factor can no longer be checked, because this server's secret has changed. Ask its operator."
    throw new APIError("UNAUTHORIZED", { code: "FACTOR_UNREADABLE", message, cause: error })
  }
}

/**
 * The person who has a session or has entered their password in this browser; null if there is
 * none.
 */
export async function challengedUser(call: GenericEndpointContext): Promise<string | null> {
  const session = await getSessionFromCtx(call)
  if (session) return session.user.id
  const { createAuthCookie, internalAdapter, secret } = call.context
  const challenge = await call.getSignedCookie(createAuthCookie("two_factor").name, secret)
  if (!challenge) return null
  return (await internalAdapter.findVerificationValue(challenge))?.value ?? null
}

async function requireBoth(call: GenericEndpointContext, db: Database, password: unknown, code: string) {
  const userId = (await getSessionFromCtx(call))?.user.id
  if (userId === undefined) return
  const hash = (await findPassword(db, userId))?.hash
  const isRight = !hash || (await call.context.password.verify({ hash, password: String(password) }))
  if (!isRight) throw new APIError("BAD_REQUEST", { code: "INVALID_PASSWORD", message: "Invalid password" })
  const factor = await findFactor(db, userId)
  await countGuess(db, userId)
  if (!factor?.verified) throw invalidCode()
  // Both endpoints invalidate all recovery codes, so none is consumed separately.
  await verifyCode(db, call.context.secretConfig, factor, code)
  await forgetAttempts(db, "second-factor", userId, null)
}

type Factor = typeof authTwoFactor.$inferSelect
type SecretConfig = GenericEndpointContext["context"]["secretConfig"]

/**
 * Checks a code of the app, or a recovery code, which is consumed. For calls that are not endpoints
 * of the provider. Null if the code is right.
 */
export async function checkCode(
  db: Database,
  key: SecretConfig,
  factor: Factor,
  typed: string,
): Promise<(AccountOutcome & { ok: false }) | null> {
  const { userId } = factor
  const wait = await countAttempt(db, "second-factor", userId, null)
  if (wait !== null) return { ok: false, problem: "too-many-attempts", status: 429, retryAfter: wait }
  const code = normalizeCode(typed)
  try {
    const left = await verifyCode(db, key, factor, code)
    if (left) await spendRecoveryCode(db, key, factor, left)
  } catch (error) {
    if (!isAPIError(error)) throw error
    return { ok: false, problem: "code-wrong", status: 401, retryAfter: null }
  }
  await forgetAttempts(db, "second-factor", userId, null)
  return null
}

/** Of two requests with the same recovery code, one is refused. */
async function spendRecoveryCode(
  db: Database,
  key: SecretConfig,
  { id, backupCodes }: Factor,
  left: string[],
) {
  const used = await db
    .update(authTwoFactor)
    .set({ backupCodes: await symmetricEncrypt({ key, data: JSON.stringify(left) }) })
    .where(and(eq(authTwoFactor.id, id), eq(authTwoFactor.backupCodes, backupCodes)))
    .returning({ id: authTwoFactor.id })
  if (used.length === 0) throw invalidCode()
}

/** Resolves to the remaining recovery codes if it was one. Throws for a wrong code. */
async function verifyCode(db: Database, key: SecretConfig, factor: Factor, code: string) {
  if (isTotp(code)) {
    await claimCode(db, factor.userId, code)
    if (!(await createOTP(await decrypt(key, factor.secret)).verify(code))) throw invalidCode()
    return null
  }
  const codes = v.parse(v.array(v.string()), JSON.parse(await decrypt(key, factor.backupCodes)))
  if (!codes.includes(code)) throw invalidCode()
  return codes.filter((each) => each !== code)
}

async function countGuess(db: Database, userId: string) {
  const wait = await countAttempt(db, "second-factor", userId, null)
  if (wait !== null) throw tooManyCodes(wait)
}

/** Recorded before the check, so that of two requests with the same code one is refused. */
async function claimCode(db: Database, userId: string, code: string) {
  if ((await countAttempt(db, "code", `${userId} ${code}`, null)) !== null) throw invalidCode()
}

function invalidCode() {
  const message = "This code is wrong, or it has been used. Wait for the next one."
  return new APIError("UNAUTHORIZED", { code: "INVALID_CODE", message })
}

function tooManyCodes(wait: number) {
  const message = `Too many codes for this account. Try again in ${Math.ceil(wait / 60)} minutes.`
  const headers = { "Retry-After": String(wait) }
  return new APIError("TOO_MANY_REQUESTS", { message, code: "TOO_MANY_ATTEMPTS" }, headers)
}

/** A session opened with a code, or in a trusted browser, has shown more than a password. */
export async function markSecondFactor(db: Database, sessionId: string): Promise<void> {
  await db.update(authSession).set({ secondFactor: true }).where(eq(authSession.id, sessionId))
}

/**
 * Runs after the factor was set up in the session that stays: no session remains that never showed
 * it.
 */
export async function endSessionsWithout(db: Database, userId: string, keep: string): Promise<void> {
  await db.delete(authSession).where(and(eq(authSession.userId, userId), ne(authSession.id, keep)))
}

export async function forgetTrustedBrowsers(db: Database | Transaction, userId: string): Promise<void> {
  await db
    .delete(authVerification)
    .where(and(eq(authVerification.value, userId), like(authVerification.identifier, "trust-device-%")))
}

/** A removed factor no longer counts for sessions that showed it; a passkey still does. */
export async function forgetShownFactors(db: Database | Transaction, userId: string): Promise<void> {
  const isWithoutPasskey = and(eq(authSession.userId, userId), isNull(authSession.passkeyId))
  await db.update(authSession).set({ secondFactor: false }).where(isWithoutPasskey)
  await forgetTrustedBrowsers(db, userId)
}

/**
 * Removes the authenticator app and the passkeys without requiring any of them: for operators, and
 * for the new owner of an address. Ends sessions that a passkey opened. False if there was nothing
 * to remove.
 */
export async function removeFactors(db: Database | Transaction, userId: string): Promise<boolean> {
  const removed = await db
    .delete(authTwoFactor)
    .where(eq(authTwoFactor.userId, userId))
    .returning({ verified: authTwoFactor.verified })
  await db.update(authUser).set({ twoFactorEnabled: false }).where(eq(authUser.id, userId))
  const passkeys = await db
    .delete(authPasskey)
    .where(eq(authPasskey.userId, userId))
    .returning({ id: authPasskey.id })
  await forgetShownFactors(db, userId)
  return passkeys.length > 0 || removed.some(({ verified }) => verified)
}

/** The same, and returns the person's address; null for an unknown id. */
export async function removeFactorsOf(
  transaction: Transaction,
  userId: string,
): Promise<{ isChanged: boolean; email: string } | null> {
  const [user] = await transaction
    .select({ email: authUser.email })
    .from(authUser)
    .where(eq(authUser.id, userId))
  return user ? { isChanged: await removeFactors(transaction, userId), email: user.email } : null
}
