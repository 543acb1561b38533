import { sql } from "drizzle-orm"
import { bigint, check, index, pgTable, text, uniqueIndex, uuid } from "drizzle-orm/pg-core"
import { record } from "./record.ts"
import { users } from "./users.ts"

/** Bytes that the blob store holds. `key` is made by the server: the user's name for a file never reaches the disk. */
export const blobs = pgTable(
  "blobs",
  {
    ...record(),
    key: text("key").notNull().unique(),
    size: bigint("size", { mode: "number" }).notNull(),
    sha256: text("sha256").notNull(),
  },
  (table) => [check("blobs_size", sql`${table.size} >= 0`)],
)

export const files = pgTable(
  "files",
  {
    ...record(),
    storageId: uuid("storage_id")
      .notNull()
      .references(() => blobs._id),
    userId: uuid("user_id")
      .notNull()
      .references(() => users._id, { onDelete: "cascade" }),
    fileName: text("file_name").notNull(),
    mimeType: text("mime_type").notNull(),
    size: bigint("size", { mode: "number" }).notNull(),
  },
  (table) => [
    index("files_by_storage_id").on(table.storageId),
    index("files_by_user_id").on(table.userId),
    uniqueIndex("files_live").on(table.userId, table._id),
    check("files_name", sql`octet_length(${table.fileName}) between 1 and 255`),
    check("files_size", sql`${table.size} >= 0`),
  ],
)

export type File = typeof files.$inferSelect
export type Blob = typeof blobs.$inferSelect
