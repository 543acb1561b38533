import { and, eq } from "drizzle-orm"
import { notifications } from "#db/schema/notifications.ts"
import type { Scope } from "#server/scope.ts"
import { readList } from "#server/operations/list.ts"
import { ownNotifications } from "./access.ts"
import type { MarkRead, NotificationsQuery } from "./contract.ts"
import { liveNotifications, liveUnread } from "./live.ts"

/** The viewer's notifications, the newest first, and how many are unread in all. */
export async function listNotifications(
  scope: Scope<"db" | "viewer">,
  { unread, ...page }: NotificationsQuery,
) {
  const [{ rows, end }, count] = await Promise.all([
    readList(scope, unread ? liveUnread : liveNotifications, {}, { ...page, missing: "conversation" }),
    scope.db.$count(
      notifications,
      and(ownNotifications(scope), eq(notifications.inApp, true), eq(notifications.read, false)),
    ),
  ])
  return { notifications: rows, unread: count, nextCursor: end }
}

/** Also those that are only sent by email, which are then not sent. */
export async function markRead(
  scope: Scope<"db" | "viewer">,
  { threadId }: MarkRead,
): Promise<{ marked: number }> {
  const marked = await scope.db
    .update(notifications)
    .set({ read: true, emailAt: null })
    .where(
      and(
        ownNotifications(scope),
        eq(notifications.read, false),
        threadId === undefined ? undefined : eq(notifications.threadId, threadId),
      ),
    )
    .returning({ inApp: notifications.inApp })
  return { marked: marked.filter(({ inApp }) => inApp).length }
}
