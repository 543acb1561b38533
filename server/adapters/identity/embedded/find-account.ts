import { and, eq } from "drizzle-orm"
import type { Database, Transaction } from "#db/client.ts"
import { authAccount, authPasskey, authTwoFactor } from "#db/schema/auth.ts"

/** Undefined for somebody who signs in without a password. */
export async function findPassword(db: Database | Transaction, userId: string) {
  const isPassword = eq(authAccount.providerId, "credential")
  const [account] = await db
    .select({ hash: authAccount.password })
    .from(authAccount)
    .where(and(eq(authAccount.userId, userId), isPassword))
  return account
}

/** Also one that is not set up yet: `verified` says that. */
export async function findFactor(db: Database | Transaction, userId: string) {
  const [factor] = await db.select().from(authTwoFactor).where(eq(authTwoFactor.userId, userId))
  return factor
}

export async function countPasskeys(db: Database | Transaction, userId: string): Promise<number> {
  return db.$count(authPasskey, eq(authPasskey.userId, userId))
}
