import { eq, lte, or } from "drizzle-orm"
import type { Database, Transaction } from "#db/client.ts"
import { authAccount, authApiKey, authSession } from "#db/schema/auth.ts"
import { authAddressChange } from "#db/schema/security.ts"
import { removeFactors } from "./second-factor.ts"

/** Ends all that somebody who entered another person's address has set up in the account. */
export async function endEarlierHolder(transaction: Transaction, userId: string): Promise<void> {
  await endAccess(transaction, userId)
  await removeFactors(transaction, userId)
  await forgetAddressChange(transaction, userId)
  await transaction.delete(authAccount).where(eq(authAccount.userId, userId))
}

/** Ends every session and API key. */
export async function endAccess(transaction: Transaction, userId: string): Promise<void> {
  await transaction.delete(authSession).where(eq(authSession.userId, userId))
  await transaction.delete(authApiKey).where(eq(authApiKey.referenceId, userId))
}

/** Call it before anything that ends what somebody else may have started. */
export async function forgetAddressChange(db: Database | Transaction, userId: string): Promise<void> {
  await db
    .delete(authAddressChange)
    .where(or(eq(authAddressChange.userId, userId), lte(authAddressChange.expiresAt, Date.now())))
}
