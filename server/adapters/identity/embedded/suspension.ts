import { and, asc, eq, inArray, isNotNull, isNull, sql } from "drizzle-orm"
import type { Database } from "#db/client.ts"
import { authUser } from "#db/schema/auth.ts"
import type { Suspension } from "#server/ports/identity.ts"

/** The rules `end_suspended` and `refuse_suspended` end the sessions and refuse new ones. */
export function openSuspension(db: Database): Suspension {
  return {
    async set(transaction, { userId, suspended }) {
      const [account] = await transaction
        .select({ email: authUser.email, suspendedAt: authUser.suspendedAt })
        .from(authUser)
        .where(eq(authUser.id, userId))
        .for("update")
      if (!account) return null
      const isChanged = (account.suspendedAt !== null) !== suspended
      if (isChanged) {
        await transaction
          .update(authUser)
          .set({ suspendedAt: suspended ? sql`now()` : null, updatedAt: new Date() })
          .where(eq(authUser.id, userId))
      }
      return { isChanged, email: account.email }
    },

    async lockHolders(transaction, emails) {
      if (emails.length === 0) return []
      const holders = await transaction
        .select({ id: authUser.id })
        .from(authUser)
        .where(
          and(
            inArray(authUser.email, emails),
            eq(authUser.emailVerified, true),
            eq(authUser.holderConfirmed, true),
            isNull(authUser.suspendedAt),
          ),
        )
        .orderBy(asc(authUser.id))
        .for("update")
      return holders.map(({ id }) => id)
    },

    async among(userIds) {
      if (userIds.length === 0) return []
      const suspended = await db
        .select({ id: authUser.id })
        .from(authUser)
        .where(and(inArray(authUser.id, userIds), isNotNull(authUser.suspendedAt)))
      return suspended.map(({ id }) => id)
    },
  }
}

export async function isSuspended(db: Database, userId: string): Promise<boolean> {
  const [user] = await db
    .select({ suspendedAt: authUser.suspendedAt })
    .from(authUser)
    .where(eq(authUser.id, userId))
  return Boolean(user?.suspendedAt)
}
