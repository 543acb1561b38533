import { createAuthMiddleware, APIError, isAPIError } from "better-auth/api"
import type { GenericEndpointContext } from "better-auth"
import { eq } from "drizzle-orm"
import type { Database } from "#db/client.ts"
import { authApiKey } from "#db/schema/auth.ts"
import { MOST_KEYS } from "#server/accounts/contract.ts"
import type { Log } from "#server/log.ts"
import { forgetAttempts } from "./attempts.ts"
import type { AuthSettings } from "./auth-settings.ts"
import { callOf, VERIFY_PASSKEY } from "./calls.ts"
import { rememberSignUp } from "./confirm-address.ts"
import { forgetAddressChange } from "./earlier-holder.ts"
import { knownBrowser, rememberBrowser } from "./known-browser.ts"
import { endReplacedSession } from "./passkeys.ts"
import {
  endSessionsWithout,
  forgetShownFactors,
  forgetTrustedBrowsers,
  markSecondFactor,
  VERIFYING,
} from "./second-factor.ts"
import { recordCall } from "./security-events.ts"
import { networkOfCall } from "./sender.ts"
import { keepProviderSession } from "./provider-sessions.ts"

/** Logs the call, and cleans up after it. */
export function afterwards(settings: AuthSettings) {
  const { db, authSecret, log } = settings
  return createAuthMiddleware(async (call) => {
    const { path, context } = call
    const { newSession, returned } = context
    // The account page and the server's command log their own keys.
    if (path !== "/api-key/create" || call.request) logCall(log, call, returned)
    if (path === "/api-key/create") await keepLimitOfKeys(db, returned)
    const opened = newSession && callOf(path).way !== undefined ? newSession.user.email : null
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
    await keepProviderSession(call, db)
    if (path === VERIFY_PASSKEY && newSession) await endReplacedSession(call, db)
    await recordCall(call, settings, { isKnown: known !== null, returned })
    if (path === "/sign-up/email" && !newSession && isSignUp(returned))
      rememberSignUp(call, authSecret, returned.user.id)
  })
}

/**
 * Who did what to an account, from where, and the status of a refusal. People who did not prove who
 * they are are not named: an entered address may be somebody else's.
 */
function logCall(log: Log, call: GenericEndpointContext, returned: unknown): void {
  const { log: event } = callOf(call.path)
  const { newSession, session } = call.context
  if (event === undefined || isQuestion(returned)) return
  const refused = isAPIError(returned) ? returned.statusCode : null
  const user = newSession?.user.id ?? session?.user.id ?? null
  log.info({ event, user, from: networkOfCall(call), refused }, "account")
}

/** The confirmation link was opened, and nothing has been done yet. */
function isQuestion(returned: unknown) {
  return (
    typeof returned === "object" && returned !== null && "state" in returned && returned.state !== "confirmed"
  )
}

/** Records that the session has shown a second factor, by a code or a trusted browser. */
async function noteFactors({ path, context }: GenericEndpointContext, db: Database) {
  const { newSession, session } = context
  const user = newSession?.user ?? session?.user
  if (!user) return
  if (VERIFYING.has(path)) {
    await forgetAttempts(db, "second-factor", user.id, null)
    if (!newSession && session) await markSecondFactor(db, session.session.id)
    // If another session replaces the present one, the factor was set up just now.
    if (newSession && session) await endSessionsWithout(db, user.id, newSession.session.id)
  }
  // For an account with a factor, the plugin keeps the session only if the browser is trusted.
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
  if ((await db.$count(authApiKey, isTheirs)) <= MOST_KEYS) return
  await db.delete(authApiKey).where(eq(authApiKey.id, String(made.id)))
  const message = `You have ${MOST_KEYS} keys. Delete one you don't use, then create the new one.`
  throw new APIError("FORBIDDEN", { message, code: "TOO_MANY_KEYS" })
}
