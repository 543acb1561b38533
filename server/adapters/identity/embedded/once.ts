import { createHash } from "node:crypto"
import { and, eq, gt, like, lt } from "drizzle-orm"
import type { Database, Transaction } from "#db/client.ts"
import { authVerification } from "#db/schema/auth.ts"

type Kind = "sso-attempt" | "sso-logout"

export function hashOf(secret: string): string {
  return createHash("sha256").update(secret).digest("base64url")
}

/** Stores `value` for so many seconds. False if this secret is stored already. */
export async function storeOnce(
  db: Database | Transaction,
  kind: Kind,
  secret: string,
  { value, seconds }: { value: string; seconds: number },
): Promise<boolean> {
  const isOfKind = like(authVerification.identifier, `${kind}:%`)
  await db.delete(authVerification).where(and(isOfKind, lt(authVerification.expiresAt, new Date())))
  const id = nameOf(kind, secret)
  const stored = await db
    .insert(authVerification)
    .values({ id, identifier: id, value, expiresAt: new Date(Date.now() + seconds * 1000) })
    .onConflictDoNothing()
    .returning({ id: authVerification.id })
  return stored.length > 0
}

/** What was stored; null if it was taken already, or has expired. */
export async function takeOnce(db: Database, kind: Kind, secret: string): Promise<string | null> {
  const isIt = eq(authVerification.identifier, nameOf(kind, secret))
  const [taken] = await db
    .delete(authVerification)
    .where(and(isIt, gt(authVerification.expiresAt, new Date())))
    .returning({ value: authVerification.value })
  return taken?.value ?? null
}

function nameOf(kind: Kind, secret: string): string {
  return `${kind}:${hashOf(secret)}`
}
