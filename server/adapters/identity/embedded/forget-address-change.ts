import { eq, lte, or } from "drizzle-orm"
import type { Database, Transaction } from "#db/client.ts"
import { authAddressChange } from "#db/schema/security.ts"

/** Call it before anything that ends what somebody else may have started. */
export async function forgetAddressChange(db: Database | Transaction, userId: string): Promise<void> {
  await db
    .delete(authAddressChange)
    .where(or(eq(authAddressChange.userId, userId), lte(authAddressChange.expiresAt, Date.now())))
}
