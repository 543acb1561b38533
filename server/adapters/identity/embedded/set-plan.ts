import { eq, sql } from "drizzle-orm"
import type { Transaction } from "#db/client.ts"
import { authUser } from "#db/schema/auth.ts"
import type { Identity } from "#server/ports/identity.ts"
import type { Plan } from "#server/ports/session.ts"

export const setPlan: NonNullable<Identity["setPlan"]> = async (
  transaction: Transaction,
  { userId, plan },
) => {
  const [changed] = await transaction
    .update(authUser)
    .set({ plan, updatedAt: new Date() })
    .where(eq(authUser.id, userId))
    .returning({ previous: sql<Plan>`old.plan`, email: authUser.email })
  return changed ?? null
}
