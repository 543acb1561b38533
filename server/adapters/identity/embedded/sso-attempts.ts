import { createHash, randomBytes, randomUUID } from "node:crypto"
import { and, eq, gt, like, lt } from "drizzle-orm"
import * as v from "valibot"
import type { Database } from "#db/client.ts"
import { authVerification } from "#db/schema/auth.ts"

/** Seconds within which the person has to sign in at the provider. */
export const ATTEMPT_LIFE = 10 * 60

const PREFIX = "sso-attempt:"

const Attempt = v.object({
  provider: v.string(),
  /** The hash of the browser's cookie. */
  browser: v.string(),
  nonce: v.string(),
  verifier: v.string(),
  target: v.string(),
})
export type Attempt = v.InferOutput<typeof Attempt>

export function randomSecret(): string {
  return randomBytes(32).toString("base64url")
}

export function hashOf(secret: string): string {
  return createHash("sha256").update(secret).digest("base64url")
}

/** Stores what the provider's response will be compared with. `state` finds it once. */
export async function storeAttempt(db: Database, state: string, attempt: Attempt): Promise<void> {
  const isAttempt = like(authVerification.identifier, `${PREFIX}%`)
  await db.delete(authVerification).where(and(isAttempt, lt(authVerification.expiresAt, new Date())))
  await db.insert(authVerification).values({
    id: randomUUID(),
    identifier: PREFIX + hashOf(state),
    value: JSON.stringify(attempt),
    expiresAt: new Date(Date.now() + ATTEMPT_LIFE * 1000),
  })
}

/** Null if there is no such attempt, or it was used or has expired. */
export async function takeAttempt(db: Database, state: string): Promise<Attempt | null> {
  const [taken] = await db
    .delete(authVerification)
    .where(
      and(
        eq(authVerification.identifier, PREFIX + hashOf(state)),
        gt(authVerification.expiresAt, new Date()),
      ),
    )
    .returning({ value: authVerification.value })
  return taken ? v.parse(Attempt, JSON.parse(taken.value)) : null
}
