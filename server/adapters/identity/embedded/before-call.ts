import { createAuthMiddleware, APIError, getSessionFromCtx } from "better-auth/api"
import type { GenericEndpointContext } from "better-auth"
import type { Database } from "#db/client.ts"
import type { AuthSettings } from "./auth-settings.ts"
import { countAttempt, tooManyAttempts } from "./attempts.ts"
import { callOf } from "./calls.ts"
import { parseBody } from "./endpoints.ts"
import { refuseGuessable } from "./guessable.ts"
import { knownBrowser } from "./known-browser.ts"
import { countPasskeys } from "./find-account.ts"
import { checkAttempt } from "./second-factor.ts"
import { rememberKey } from "./security-events.ts"
import { networkOfCall } from "./sender.ts"
import { INVITATION_HEADER, signupClosed } from "./signup.ts"
import { rememberProviderSession } from "./provider-sessions.ts"

/**
 * Checks for which better-auth has no setting: our schema for every body, an explained refusal of
 * sign-ups, and the limit for each account.
 */
export function refuseEarly(settings: AuthSettings) {
  const { db, signup, invitations } = settings
  return createAuthMiddleware(async (call) => {
    const { path, request, headers } = call
    // Functions that the server itself calls receive parsed values.
    const body = request ? parseBody(request.method, path, call.body) : call.body
    const email: unknown = body?.email
    if (path === "/sign-up/email" && signup !== "open") {
      const token = headers?.get(INVITATION_HEADER)
      const isInvited = token && typeof email === "string" && (await invitations.isFor(token, email))
      if (!isInvited) throw signupClosed(settings)
    }
    const kind = callOf(path).attempts
    if (kind && typeof email === "string" && email.length <= 320) {
      const from = kind === "sign-in" ? await knownBrowser(call, settings, email) : networkOfCall(call)
      const wait = await countAttempt(db, kind, email, from)
      if (wait !== null) {
        settings.log.info({ event: kind, user: null, from: networkOfCall(call), refused: 429 }, "account")
        throw tooManyAttempts(wait)
      }
    }
    if (body) await refuseGuessable(call, settings, body)
    if (body) await checkAttempt(call, db, body)
    await rememberProviderSession(call, db)
    if (path === "/two-factor/enable") await keepPasskeyNeeded(call, db)
    if (path === "/api-key/create" && request) await refuseWithoutFactor(call, settings)
    if (path === "/api-key/delete" && body) await rememberKey(call, db, String(body.keyId))
    return { context: { body } }
  })
}

/**
 * Someone who only knows the password cannot add a factor to an account with a passkey: they have
 * to sign in with the passkey first.
 */
async function keepPasskeyNeeded(call: GenericEndpointContext, db: Database) {
  const session = await getSessionFromCtx<object, { secondFactor: boolean }>(call)
  if (!session || session.session.secondFactor || (await countPasskeys(db, session.user.id)) === 0) return
  throw new APIError("FORBIDDEN", { code: "PASSKEY_NEEDED", message: "Sign in with your passkey first." })
}

/**
 * The endpoints are open to every session, but one without its second factor may do nothing else
 * yet.
 */
async function refuseWithoutFactor(call: GenericEndpointContext, settings: AuthSettings) {
  const session = await getSessionFromCtx<{ twoFactorEnabled?: boolean | null }, { secondFactor: boolean }>(
    call,
  )
  if (!session || session.session.secondFactor) return
  if (settings.secondFactor === "optional" && !session.user.twoFactorEnabled) return
  const message = `This needs a second factor. Open ${settings.origin}/second-factor in your browser.`
  throw new APIError("FORBIDDEN", { message, code: "SECOND_FACTOR_NEEDED" })
}
