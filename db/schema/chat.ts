import { sql } from "drizzle-orm"
import { check, index, pgTable, text, uniqueIndex, uuid } from "drizzle-orm/pg-core"
import { milliseconds, record } from "./record.ts"
import { users } from "./users.ts"

export const chatThreads = pgTable(
  "chat_threads",
  {
    ...record(),
    userId: uuid("user_id")
      .notNull()
      .references(() => users._id, { onDelete: "cascade" }),
    title: text("title").notNull(),
    lastMessageAt: milliseconds("last_message_at").notNull(),
  },
  (table) => [
    index("chat_threads_by_user_id").on(table.userId),
    index("chat_threads_by_user_id_last_message").on(table.userId, table.lastMessageAt),
    uniqueIndex("chat_threads_live").on(table.userId, table.lastMessageAt, table._id),
    check("chat_threads_title", sql`char_length(${table.title}) between 1 and 200`),
  ],
)

export const chatMessages = pgTable(
  "chat_messages",
  {
    ...record(),
    userId: uuid("user_id")
      .notNull()
      .references(() => users._id, { onDelete: "cascade" }),
    threadId: uuid("thread_id")
      .notNull()
      .references(() => chatThreads._id, { onDelete: "cascade" }),
    role: text("role", { enum: ["user", "assistant"] }).notNull(),
    content: text("content").notNull(),
  },
  (table) => [
    index("chat_messages_by_user_id").on(table.userId),
    index("chat_messages_by_thread_id").on(table.threadId),
    uniqueIndex("chat_messages_live").on(table.userId, table.threadId, table._id),
    check("chat_messages_role", sql`${table.role} in ('user', 'assistant')`),
  ],
)

export type ChatThread = typeof chatThreads.$inferSelect
export type ChatMessage = typeof chatMessages.$inferSelect
