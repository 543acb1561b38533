import { eq } from "drizzle-orm"
import { users } from "#db/schema/users.ts"
import type { Scope } from "#server/scope.ts"

/** Applies to what is sent from now on. An email that is due for an earlier mention is not sent. */
export async function saveNotificationSettings(
  { db, viewer }: Scope<"db" | "viewer">,
  { inApp, byEmail }: { inApp: boolean; byEmail: boolean },
): Promise<void> {
  await db
    .update(users)
    .set({ notifiesInApp: inApp, notifiesByEmail: byEmail })
    .where(eq(users._id, viewer.user._id))
}
