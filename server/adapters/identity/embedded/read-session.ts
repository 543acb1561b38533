import { createHmac, timingSafeEqual } from "node:crypto"
import { parseCookies } from "better-call"
import { and, eq, gt, sql } from "drizzle-orm"
import type { Database } from "#db/client.ts"
import { authSession, authUser } from "#db/schema/auth.ts"
import { SESSION_LIFE, SESSION_RENEWAL, type Auth } from "./auth.ts"

/**
 * Reads the session of a cookie header in one statement, where reading is all there is to do: its
 * signature is ours, it has not ended, and is not due to be renewed. Null for every other, which
 * better-auth judges: it takes ten times as long, and may write.
 */
export async function openSessionReader(auth: Auth, db: Database) {
  const { authCookies, secret } = await auth.$context
  const find = db
    .select({ sessionId: authSession.id, userId: authUser.id, plan: authUser.plan })
    .from(authSession)
    .innerJoin(authUser, eq(authUser.id, authSession.userId))
    .where(
      and(
        eq(authSession.token, sql.placeholder("token")),
        gt(authSession.expiresAt, sql.placeholder("settled")),
      ),
    )
    .prepare("session_by_token")

  return async (cookieHeader: string) => {
    const cookies = parseCookies(cookieHeader)
    if (cookies.has(authCookies.dontRememberToken.name)) return null
    const token = readSigned(cookies.get(authCookies.sessionToken.name) ?? "", secret)
    if (token === null) return null
    const settled = new Date(Date.now() + (SESSION_LIFE - SESSION_RENEWAL) * 1000).toISOString()
    const [session] = await find.execute({ token, settled })
    return session ?? null
  }
}

/**
 * The value that was signed, as better-auth signs its cookies: `value.signature`, an HMAC with
 * SHA-256 in Base64.
 */
function readSigned(cookie: string, secret: string): string | null {
  const end = cookie.lastIndexOf(".")
  if (end < 1) return null
  const value = cookie.slice(0, end)
  const signature = Buffer.from(cookie.slice(end + 1))
  const expected = Buffer.from(createHmac("sha256", secret).update(value).digest("base64"))
  return signature.length === expected.length && timingSafeEqual(signature, expected) ? value : null
}
