import { createHash, randomUUID } from "node:crypto"
import { sql } from "drizzle-orm"
import type { Database } from "#db/client.ts"
import { authRateLimit } from "#db/schema/auth.ts"

/** Seconds, and how many attempts each account gets in them, wherever they come from. */
export const ACCOUNT_WINDOW = 15 * 60
const ATTEMPTS = { "sign-in": 10, reset: 5, verify: 5 }

/**
 * Counts an attempt on an account, whether there is such an account or not. Null when it may go on, else the seconds until the next
 * may. It stands beside the limit by network address, which somebody with many addresses escapes.
 */
export async function countAttempt(
  db: Database,
  kind: keyof typeof ATTEMPTS,
  email: string,
): Promise<number | null> {
  const now = Date.now()
  const begun = now - ACCOUNT_WINDOW * 1000
  const key = `${kind}:${createHash("sha256").update(email.trim().toLowerCase()).digest("base64url")}`
  const { count, lastRequest } = authRateLimit
  const [row] = await db
    .insert(authRateLimit)
    .values({ id: randomUUID(), key, count: 1, lastRequest: now })
    .onConflictDoUpdate({
      target: authRateLimit.key,
      set: {
        count: sql`case when ${lastRequest} <= ${begun} then 1 else ${count} + 1 end`,
        lastRequest: sql`case when ${lastRequest} <= ${begun} then ${now} else ${lastRequest} end`,
      },
    })
    .returning({ count, since: lastRequest })
  if (!row || row.count <= ATTEMPTS[kind]) return null
  return Math.max(1, Math.ceil((row.since - begun) / 1000))
}

/** After a sign-in that succeeded: what came before was its owner mistyping. */
export async function forgetAttempts(db: Database, email: string): Promise<void> {
  const key = `sign-in:${createHash("sha256").update(email.trim().toLowerCase()).digest("base64url")}`
  await db.delete(authRateLimit).where(sql`${authRateLimit.key} = ${key}`)
}
