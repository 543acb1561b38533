import { isIP } from "node:net"
import { passkey } from "@better-auth/passkey"
import type { BetterAuthPlugin, GenericEndpointContext } from "better-auth"
import { APIError, createAuthMiddleware, isAPIError } from "better-auth/api"
import { and, eq, ne } from "drizzle-orm"
import * as v from "valibot"
import type { Database } from "#db/client.ts"
import { authPasskey, authSession, authUser } from "#db/schema/auth.ts"
import { PasskeyAssertion } from "#server/ports/passkey-contract.ts"
import type { AuthSettings } from "./auth-settings.ts"
import { VERIFY_PASSKEY } from "./calls.ts"
import { mailConfirmation } from "./confirm-address.ts"

export const PASSKEY_OPTIONS = "/passkey/generate-authenticate-options"

/** Passkeys are only added on the account page, which requires more than a session. */
export const PASSKEY_ENDPOINTS = {
  [`GET ${PASSKEY_OPTIONS}`]: v.unknown(),
  [`POST ${VERIFY_PASSKEY}`]: v.strictObject({ response: PasskeyAssertion }),
}

/** By network address. The sign-in page requests options when it opens. */
export const PASSKEY_LIMITS = {
  [PASSKEY_OPTIONS]: { window: 60, max: 60 },
  [VERIFY_PASSKEY]: { window: 60, max: 30 },
}

/**
 * WebAuthn binds passkeys to the host name of APP_URL, so there are none on an IP address. Anyone who
 * signs in with one has shown two factors, because the authenticator has to verify the person (with
 * a fingerprint, a face or a PIN) each time.
 */
export function passkeys(settings: AuthSettings) {
  const { origin } = settings
  return passkey({
    rpName: "Tideline",
    rpID: new URL(origin).hostname,
    origin,
    authenticatorSelection: { residentKey: "required", userVerification: "required" },
    advanced: { webAuthnChallengeCookie: "passkey_challenge" },
    registration: {
      afterVerification: async ({ verification }) => {
        if (!verification.registrationInfo?.userVerified) throw notVerified()
      },
    },
    authentication: {
      afterVerification: async ({ ctx, verification, clientData }) => {
        if (!verification.authenticationInfo.userVerified) throw notVerified()
        await requireConfirmedAddress(ctx, settings, clientData.id)
      },
    },
  })
}

/** better-auth asks for "preferred", with which authenticators may leave the verification out. */
export function requireVerification() {
  const handler = createAuthMiddleware(async ({ context: { returned }, json }) => {
    if (typeof returned === "object" && returned !== null && !isAPIError(returned))
      return json({ ...returned, userVerification: "required" })
  })
  return {
    id: "require-verification",
    hooks: { after: [{ matcher: isOptions, handler }] },
  } satisfies BetterAuthPlugin
}

const isOptions = ({ path }: { path?: string }) => path === PASSKEY_OPTIONS

/** Whether browsers can use passkeys at this origin at all. */
export function hasPasskeys(origin: string): boolean {
  const { hostname } = new URL(origin)
  return isIP(hostname.replace(/^\[|\]$/g, "")) === 0
}

/** The passkey that a sign-in was made with, which is marked as used. */
export async function notePasskeyUse(db: Database, credentialId: string): Promise<string> {
  const [used] = await db
    .update(authPasskey)
    .set({ lastUsedAt: new Date() })
    .where(eq(authPasskey.credentialID, credentialId))
    .returning({ id: authPasskey.id })
  if (!used) throw new APIError("UNAUTHORIZED", { code: "PASSKEY_NOT_FOUND", message: "Passkey not found" })
  return used.id
}

/** The person that a credential belongs to; null for an unknown one. */
export async function ownerOfPasskey(db: Database, credentialId: string): Promise<string | null> {
  const [found] = await db
    .select({ userId: authPasskey.userId })
    .from(authPasskey)
    .where(eq(authPasskey.credentialID, credentialId))
  return found?.userId ?? null
}

/** A session that a sign-in with a passkey replaces in its browser ends. */
export async function endReplacedSession(call: GenericEndpointContext, db: Database): Promise<void> {
  const { authCookies, newSession, secret } = call.context
  const token = await call.getSignedCookie(authCookies.sessionToken.name, secret)
  if (!token || !newSession) return
  const isReplaced = and(eq(authSession.token, token), ne(authSession.id, newSession.session.id))
  await db.delete(authSession).where(isReplaced)
}

/** As with a password: another link is sent if the address has to be confirmed first. */
async function requireConfirmedAddress(
  { request }: GenericEndpointContext,
  settings: AuthSettings,
  credentialId: string,
) {
  if (settings.verification === "optional") return
  const [user] = await settings.db
    .select({ email: authUser.email, emailVerified: authUser.emailVerified, id: authUser.id })
    .from(authUser)
    .innerJoin(authPasskey, eq(authPasskey.userId, authUser.id))
    .where(eq(authPasskey.credentialID, credentialId))
  if (!user || user.emailVerified) return
  await mailConfirmation(settings, user, request)
  throw new APIError("FORBIDDEN", { code: "EMAIL_NOT_VERIFIED", message: "Email not verified" })
}

function notVerified() {
  const message = "The authenticator did not verify who used it. Turn on its screen lock or PIN."
  return new APIError("UNAUTHORIZED", { code: "USER_NOT_VERIFIED", message })
}
