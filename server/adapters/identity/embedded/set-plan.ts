import { eq } from "drizzle-orm"
import type { Transaction } from "#db/client.ts"
import { authUser } from "#db/schema/auth.ts"
import type { Identity } from "#server/ports/identity.ts"

export const setPlan: NonNullable<Identity["setPlan"]> = async (
  transaction: Transaction,
  { userId, plan },
) => {
  const own = eq(authUser.id, userId)
  // Locked, so that it is the plan that the update replaces.
  const [previous] = await transaction
    .select({ plan: authUser.plan, email: authUser.email })
    .from(authUser)
    .where(own)
    .for("update")
  if (!previous) return null
  await transaction.update(authUser).set({ plan, updatedAt: new Date() }).where(own)
  return { previous: previous.plan, email: previous.email }
}
