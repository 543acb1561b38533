import { and, eq, exists, sql, type SQL } from "drizzle-orm"
import { notifications } from "#db/schema/notifications.ts"
import { spaceMembers } from "#db/schema/spaces.ts"
import type { Scope } from "#server/scope.ts"
import { ownMemberships } from "#server/spaces/access.ts"

/** The viewer's notifications about what they may see. */
export function ownNotifications({ db, viewer }: Scope<"db" | "viewer">): SQL | undefined {
  const membership = db
    .select({ one: sql`1` })
    .from(spaceMembers)
    .where(and(ownMemberships({ viewer }), eq(spaceMembers.spaceId, notifications.spaceId)))
  return and(eq(notifications.userId, viewer.user._id), eq(notifications.trashed, false), exists(membership))
}
