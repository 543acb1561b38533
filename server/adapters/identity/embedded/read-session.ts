import { createHmac, timingSafeEqual } from "node:crypto"
import { parseCookies } from "better-call"
import { eq, sql } from "drizzle-orm"
import type { Database } from "#db/client.ts"
import { authSession, authUser } from "#db/schema/auth.ts"
import type { Session } from "#server/ports/session.ts"
import { SESSION_LIFE, SESSION_RENEWAL, type Auth } from "./auth.ts"

/** Below this many milliseconds of remaining validity, better-auth would renew the session. */
const SETTLED = (SESSION_LIFE - SESSION_RENEWAL) * 1000

/**
 * Reads the session of a cookie header in one statement if reading is all there is to do: the
 * signature is ours, and the session is neither expired nor due for renewal. Returns null for all
 * others, which better-auth checks; that takes ten times as long, and may write. A suspended
 * person's session is an exception: it is returned, so that the page can tell them.
 */
export async function openSessionReader(auth: Auth, db: Database) {
  const { authCookies, secret } = await auth.$context
  const find = db
    .select({
      sessionId: authSession.id,
      userId: authUser.id,
      plan: authUser.plan,
      expiresAt: authSession.expiresAt,
      suspendedAt: authUser.suspendedAt,
      hasShown: authSession.secondFactor,
      hasFactor: authUser.twoFactorEnabled,
    })
    .from(authSession)
    .innerJoin(authUser, eq(authUser.id, authSession.userId))
    .where(eq(authSession.token, sql.placeholder("token")))
    .prepare("session_by_token")

  /** `due` also returns a session that is due for renewal. */
  return async (cookieHeader: string, { due = false } = {}) => {
    const cookies = parseCookies(cookieHeader)
    if (cookies.has(authCookies.dontRememberToken.name)) return null
    const token = readSigned(cookies.get(authCookies.sessionToken.name) ?? "", secret)
    if (token === null) return null
    const [found] = await find.execute({ token })
    if (!found) return null
    const { expiresAt, suspendedAt, hasShown, hasFactor, ...session } = found
    if (suspendedAt) return "suspended" as const
    if (expiresAt.getTime() <= Date.now() + (due ? 0 : SETTLED)) return null
    return { ...session, secondFactor: secondFactorOf(hasShown, hasFactor) }
  }
}

/** The factors that the session has shown, and those that the account has. */
export function secondFactorOf(
  hasShown: boolean,
  hasFactor: boolean | null | undefined,
): NonNullable<Session["secondFactor"]> {
  return hasShown ? "shown" : hasFactor ? "missing" : "none"
}

/**
 * The signed value. better-auth signs its cookies as `value.signature`, an HMAC with SHA-256 in
 * Base64.
 */
function readSigned(cookie: string, secret: string): string | null {
  const end = cookie.lastIndexOf(".")
  if (end < 1) return null
  const value = cookie.slice(0, end)
  const signature = Buffer.from(cookie.slice(end + 1))
  const expected = Buffer.from(createHmac("sha256", secret).update(value).digest("base64"))
  return signature.length === expected.length && timingSafeEqual(signature, expected) ? value : null
}
