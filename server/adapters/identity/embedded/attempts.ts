import { createHash, randomUUID } from "node:crypto"
import { tryGetCurrentAuthEndpointContext } from "@better-auth/core/context"
import { APIError } from "better-auth/api"
import { eq, sql } from "drizzle-orm"
import type { Database } from "#db/client.ts"
import { authRateLimit } from "#db/schema/auth.ts"
import { verifyPassword } from "./password.ts"

/** Seconds. */
export const ACCOUNT_WINDOW = 15 * 60

/**
 * Seconds. A code of an authenticator app is valid for half a minute, and so are the ones before
 * and after it.
 */
const CODE_WINDOW = 2 * 60

/** How many attempts are allowed in how many seconds. */
const LIMITS = {
  "sign-in": { most: 10, window: ACCOUNT_WINDOW },
  password: { most: 10, window: ACCOUNT_WINDOW },
  reset: { most: 5, window: ACCOUNT_WINDOW },
  "second-factor": { most: 10, window: ACCOUNT_WINDOW },
  "address-change": { most: 5, window: 60 * 60 },
  /** One code of one account. */
  code: { most: 1, window: CODE_WINDOW },
}

type Kind = keyof typeof LIMITS

/**
 * Counts an attempt on an account, whether or not the account exists. Null if it may proceed, else
 * the seconds until the next may. `from` has its own count; null stands for all other places
 * together. It complements the limit by network address, which does not stop somebody with many
 * addresses.
 */
export async function countAttempt(
  db: Database,
  kind: Kind,
  account: string,
  from: string | null,
): Promise<number | null> {
  const { most, window } = LIMITS[kind]
  const now = Date.now()
  const begun = now - window * 1000
  const { count, lastRequest } = authRateLimit
  const [row] = await db
    .insert(authRateLimit)
    .values({ id: randomUUID(), key: keyOf(kind, account, from), count: 1, lastRequest: now })
    .onConflictDoUpdate({
      target: authRateLimit.key,
      set: {
        count: sql`case when ${lastRequest} <= ${begun} then 1 else ${count} + 1 end`,
        lastRequest: sql`case when ${lastRequest} <= ${begun} then ${now} else ${lastRequest} end`,
      },
    })
    .returning({ count, since: lastRequest })
  if (!row || row.count <= most) return null
  return Math.max(1, Math.ceil((row.since - begun) / 1000))
}

/** After a successful attempt: earlier failures from there were the owner's typing errors. */
export async function forgetAttempts(
  db: Database,
  kind: Kind,
  account: string,
  from: string | null,
): Promise<void> {
  await db.delete(authRateLimit).where(eq(authRateLimit.key, keyOf(kind, account, from)))
}

/**
 * Guesses at the current password of a signed-in person are counted per account, at every endpoint
 * and from any address. Sign-in has its own count.
 */
export function verifyCounted({ db }: { db: Database }) {
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

function keyOf(kind: Kind, account: string, from: string | null): string {
  const of = JSON.stringify([account.trim().toLowerCase(), from])
  return `${kind}:${createHash("sha256").update(of).digest("base64url")}`
}

/** `wait` is what `countAttempt` returned, in seconds. */
export function tooManyAttempts(wait: number) {
  const message = `Too many attempts on this account. Try again in ${Math.ceil(wait / 60)} minutes.`
  const headers = { "Retry-After": String(wait) }
  return new APIError("TOO_MANY_REQUESTS", { message, code: "TOO_MANY_ATTEMPTS" }, headers)
}
