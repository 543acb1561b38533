import { not, sql } from "drizzle-orm"
import { boolean, foreignKey, index, pgTable, text, uniqueIndex, uuid } from "drizzle-orm/pg-core"
import { liveTable } from "./live-table.ts"
import { chatMessages, ofThread } from "./chat.ts"
import { milliseconds, record } from "./record.ts"
import { spaceMembers } from "./spaces.ts"
import { users } from "./users.ts"

/**
 * That somebody was mentioned in a message of a space, for the person who was. A row refers to their
 * membership and to the message, and is deleted with either. The rules
 * `hide_notifications_of_member` and `hide_notifications_of_thread` hide it while the conversation or
 * the space is in the trash, and delete it when the conversation is moved; `forget_author_of_notifications`
 * takes the name out of it.
 */
export const notifications = pgTable(
  "notifications",
  {
    ...record(),
    /** Who was mentioned. */
    userId: uuid("user_id").notNull(),
    spaceId: uuid("space_id").notNull(),
    threadId: ofThread(),
    messageId: uuid("message_id")
      .notNull()
      .references(() => chatMessages._id, { onDelete: "cascade" }),
    /** Who wrote the message, and their name at the time. Null once their account is deleted. */
    authorId: uuid("author_id").references(() => users._id, { onDelete: "set null" }),
    authorName: text("author_name"),
    /** The part of the message around the mention. */
    excerpt: text("excerpt").notNull(),
    read: boolean("read").notNull().default(false),
    /** False if the person has switched off notifications in the application. */
    inApp: boolean("in_app").notNull(),
    /** The conversation or the space is in the trash. */
    trashed: boolean("trashed").notNull().default(false),
    /** When an email is due if it has not been read. Null if none is, or if it was queued. */
    emailAt: milliseconds("email_at"),
    /** The `cause` of the email that was queued. */
    emailCause: text("email_cause"),
  },
  (table) => [
    foreignKey({
      name: "notifications_membership",
      columns: [table.spaceId, table.userId],
      foreignColumns: [spaceMembers.spaceId, spaceMembers.userId],
    }).onDelete("cascade"),
    uniqueIndex("notifications_live").on(table.userId, table.inApp, table.trashed, table.read, table._id),
    index("notifications_by_membership").on(table.spaceId, table.userId),
    index("notifications_by_thread_id").on(table.threadId),
    index("notifications_by_message_id").on(table.messageId),
    index("notifications_by_author_id").on(table.authorId),
    index("notifications_due")
      .on(table.emailAt)
      .where(sql`${table.emailAt} is not null`),
  ],
)

export type NotificationRow = typeof notifications.$inferSelect

export const watchedNotifications = liveTable(notifications, {
  keys: ["userId", "inApp", "trashed", "read"],
  of: "userId",
  exported: ["_id", "_creationTime", "spaceId", "threadId", "messageId", "authorName", "excerpt", "read"],
  where: not(notifications.trashed),
  sentences: {
    messageId: "The message that mentions the caller.",
    authorId: "Who wrote it. Null once their account is deleted.",
    authorName: "Their name at the time.",
    excerpt: "The part of the message around the mention.",
  },
})
