import { and, desc, eq, lt } from "drizzle-orm"
import { notifications } from "#db/schema/notifications.ts"
import type { Scope } from "#server/scope.ts"
import { ownNotifications } from "./access.ts"
import type { MarkRead, NotificationPage, NotificationsQuery } from "./contract.ts"

/** The viewer's notifications, the newest first. */
export async function listNotifications(
  scope: Scope<"db" | "viewer">,
  { cursor, limit, unread }: NotificationsQuery,
): Promise<NotificationPage> {
  const shown = and(ownNotifications(scope), eq(notifications.inApp, true))
  const isUnread = eq(notifications.read, false)
  const [rows, count] = await Promise.all([
    scope.db
      .select(columns)
      .from(notifications)
      .where(and(shown, unread ? isUnread : undefined, cursor ? lt(notifications._id, cursor) : undefined))
      .orderBy(desc(notifications._id))
      .limit(limit + 1),
    scope.db.$count(notifications, and(shown, isUnread)),
  ])
  const page = rows.slice(0, limit)
  return {
    notifications: page,
    unread: count,
    nextCursor: rows.length > limit ? (page.at(-1)?._id ?? null) : null,
  }
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

const columns = {
  _id: notifications._id,
  _creationTime: notifications._creationTime,
  spaceId: notifications.spaceId,
  threadId: notifications.threadId,
  messageId: notifications.messageId,
  authorId: notifications.authorId,
  authorName: notifications.authorName,
  excerpt: notifications.excerpt,
  read: notifications.read,
}
