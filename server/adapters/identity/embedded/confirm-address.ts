import { createHmac, timingSafeEqual } from "node:crypto"
import type { BetterAuthPlugin, GenericEndpointContext } from "better-auth"
import {
  APIError,
  createAuthEndpoint,
  createEmailVerificationToken,
  getSessionFromCtx,
} from "better-auth/api"
import { setSessionCookie } from "better-auth/cookies"
import { verifyJWT } from "better-auth/crypto"
import { and, eq } from "drizzle-orm"
import * as v from "valibot"
import type { Database } from "#db/client.ts"
import { authAccount, authUser } from "#db/schema/auth.ts"
import { PASSWORD_LENGTH } from "#server/accounts/contract.ts"
import { readLanguage } from "#server/transport/language.ts"
import type { AuthSettings } from "./auth-settings.ts"
import { CONFIRM_ADDRESS } from "./calls.ts"
import { endEarlierHolder } from "./earlier-holder.ts"
import { hashPassword } from "./password.ts"

/**
 * Seconds for which the email's link works, and for which the browser that signed up is remembered
 * for it.
 */
export const VERIFICATION_LINK_LIFE = 24 * 60 * 60

export const ConfirmAddress = v.strictObject({ token: v.string(), password: v.optional(v.string()) })

interface Settings {
  authSecret: string
  db: Database
}

/**
 * Confirms an address with the token in its email. Anyone who already has the account, by its
 * session or because this browser signed up for it, continues with it. For anyone else the account
 * may belong to somebody who entered their address: they have to choose a password, and every
 * earlier session, key, second factor and password ends.
 */
export function confirmAddress(settings: Settings) {
  const { authSecret, db } = settings
  const options = { method: "POST", body: ConfirmAddress } as const
  const endpoint = createAuthEndpoint(CONFIRM_ADDRESS, options, async (call) => {
    const { token, password } = call.body
    const user = await findUserToConfirm(settings, token)
    if (!user) throw new APIError("BAD_REQUEST", { code: "INVALID_TOKEN", message: "Invalid token" })
    const { email } = user
    if (user.emailVerified) return call.json({ state: "confirmed-before" as const, email })

    const session = await getSessionFromCtx(call)
    const hasSession = session?.user.id === user.id
    if (hasSession || signedUpHere(call, authSecret, user.id)) await confirmHolder(db, user.id)
    else if (password === undefined) return call.json({ state: "password-needed" as const, email })
    else await confirmNewHolder(db, user.id, await hashPassword(fit(password)))
    if (!hasSession) {
      const { internalAdapter } = call.context
      const fresh = await internalAdapter.createSession(user.id)
      await setSessionCookie(call, { session: fresh, user })
    }
    return call.json({ state: "confirmed" as const, email })
  })
  return { id: "confirm-address", endpoints: { confirmAddress: endpoint } } satisfies BetterAuthPlugin
}

/** Queues the email with the link that confirms the address of an account. */
export async function mailConfirmation(
  { authSecret, origin, mailVerificationLink }: AuthSettings,
  { id: userId, email }: { id: string; email: string },
  request: Request | undefined,
): Promise<void> {
  const token = await createEmailVerificationToken(authSecret, email, undefined, VERIFICATION_LINK_LIFE, {
    userId,
  })
  const url = `${origin}/sign-up/confirm?${new URLSearchParams({ token })}`
  const language = request ? readLanguage(request) : "en"
  const minutes = VERIFICATION_LINK_LIFE / 60
  await mailVerificationLink({ userId, email, language, url, minutes })
}

/**
 * The account that an email's token was made for, while it has the address. Another account may
 * have the address by now: its owner did not ask for this link. Undefined for a token that is
 * forged or expired.
 */
export async function findUserToConfirm({ authSecret, db }: Settings, token: string) {
  const { email, userId } = (await verifyJWT(token, authSecret)) ?? {}
  if (typeof email !== "string" || typeof userId !== "string") return undefined
  const isTheirs = and(eq(authUser.id, userId), eq(authUser.email, email))
  const [user] = await db.select().from(authUser).where(isTheirs)
  return user
}

async function confirmHolder(db: Database, id: string) {
  await db
    .update(authUser)
    .set({ emailVerified: true, holderConfirmed: true, updatedAt: new Date() })
    .where(eq(authUser.id, id))
}

/** If two confirm concurrently, the first one's password counts. */
async function confirmNewHolder(db: Database, id: string, password: string) {
  await db.transaction(async (transaction) => {
    const confirmed = await transaction
      .update(authUser)
      .set({ emailVerified: true, updatedAt: new Date() })
      .where(and(eq(authUser.id, id), eq(authUser.emailVerified, false)))
      .returning({ id: authUser.id })
    if (confirmed.length === 0)
      throw new APIError("BAD_REQUEST", { code: "INVALID_TOKEN", message: "Invalid token" })
    await endEarlierHolder(transaction, id)
    const account = { id: crypto.randomUUID(), userId: id, accountId: id, providerId: "credential", password }
    await transaction.insert(authAccount).values(account)
  })
}

function fit(password: string): string {
  if (password.length < PASSWORD_LENGTH.least)
    throw new APIError("BAD_REQUEST", { code: "PASSWORD_TOO_SHORT", message: "Password too short" })
  if (password.length > PASSWORD_LENGTH.most)
    throw new APIError("BAD_REQUEST", { code: "PASSWORD_TOO_LONG", message: "Password too long" })
  return password
}

/** Without cookies if the server called a function of the provider and there is no request. */
type Call = Pick<GenericEndpointContext, "context"> &
  Partial<Pick<GenericEndpointContext, "getCookie" | "setCookie">>

/**
 * Marks the browser that chose the password of a new account, which has no session until its
 * address is confirmed. A response for an address that already had an account contains an invented
 * id, so its mark looks the same and is useless.
 */
export function rememberSignUp(call: Call, authSecret: string, userId: string): void {
  const { name, attributes } = markCookie(call)
  call.setCookie?.(name, macOf(authSecret, userId), attributes)
}

function signedUpHere(call: Call, authSecret: string, userId: string): boolean {
  const mark = Buffer.from(call.getCookie?.(markCookie(call).name) ?? "")
  const expected = Buffer.from(macOf(authSecret, userId))
  return mark.length === expected.length && timingSafeEqual(mark, expected)
}

function markCookie(call: Call) {
  return call.context.createAuthCookie("sign_up", { maxAge: VERIFICATION_LINK_LIFE })
}

function macOf(authSecret: string, userId: string): string {
  return createHmac("sha256", authSecret).update(`signed up ${userId}`).digest("base64url")
}
