import { sql } from "drizzle-orm"
import { bigint, boolean, check, index, integer, pgTable, text, uniqueIndex, uuid } from "drizzle-orm/pg-core"
import { byteString, milliseconds, record } from "./record.ts"
import { users } from "./users.ts"

/**
 * Bytes that the blob store holds. `key` is made by the server: the user's name for a file never
 * reaches the disk.
 */
export const blobs = pgTable(
  "blobs",
  {
    ...record(),
    key: text("key").notNull().unique(),
    size: bytes("size").notNull(),
    /** Hex. */
    sha256: text("sha256").notNull(),
  },
  (table) => [
    check("blobs_size", sql`${table.size} >= 0`),
    check("blobs_sha256", sql`${table.sha256} ~ '^[0-9a-f]{64}$'`),
  ],
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
    size: bytes("size").notNull(),
    /** In the trash: to be seen, restored and removed there, and nowhere else. */
    trashed: boolean("trashed").notNull().default(false),
    /**
     * When it went into the trash; 0 outside. Not null, because a live list has pages only by what
     * is always there.
     */
    trashedAt: milliseconds("trashed_at").notNull().default(0),
  },
  (table) => [
    index("files_by_storage_id").on(table.storageId),
    index("files_by_user_id").on(table.userId, table.trashed, table._id),
    index("files_by_trashed_at")
      .on(table.trashedAt)
      .where(sql`${table.trashed}`),
    // A name in the trash is free.
    uniqueIndex("files_by_user_id_file_name")
      .on(table.userId, table.fileName)
      .where(sql`not ${table.trashed}`),
    uniqueIndex("files_live").on(table.userId, table.trashed, table.trashedAt, table._id),
    check("files_name", sql`octet_length(${table.fileName}) between 1 and 255`),
    check("files_size", sql`${table.size} >= 0`),
    check("files_trashed", sql`${table.trashed} = (${table.trashedAt} > 0)`),
  ],
)

/**
 * A public address of a file. The URL itself is not stored: only the person who made it has seen
 * it.
 */
export const fileShares = pgTable(
  "file_shares",
  {
    ...record(),
    userId: uuid("user_id")
      .notNull()
      .references(() => users._id, { onDelete: "cascade" }),
    fileId: uuid("file_id")
      .notNull()
      .references(() => files._id, { onDelete: "cascade" }),
    /** Hex: SHA-256 of the last part of the address. */
    tokenHash: text("token_hash").notNull().unique(),
    /** The last four characters of the address, by which its maker tells it from others. */
    hint: text("hint").notNull(),
    expiresAt: milliseconds("expires_at"),
    /** `scrypt$<salt>$<hash>`, both base64url. */
    passwordHash: text("password_hash"),
    maxDownloads: integer("max_downloads"),
    downloads: integer("downloads").notNull().default(0),
  },
  (table) => [
    uniqueIndex("file_shares_live").on(table.userId, table.fileId, table._id),
    index("file_shares_by_file_id").on(table.fileId),
    check("file_shares_token_hash", sql`${table.tokenHash} ~ '^[0-9a-f]{64}$'`),
    check("file_shares_max_downloads", sql`${table.maxDownloads} > 0`),
    check("file_shares_downloads", sql`${table.downloads} between 0 and ${table.maxDownloads}`),
  ],
)

/** Small pictures of files, made when they are first asked for. */
export const fileThumbnails = pgTable("file_thumbnails", {
  fileId: uuid("file_id")
    .primaryKey()
    .references(() => files._id, { onDelete: "cascade" }),
  /** WebP; null where none can be made of the file. */
  bytes: byteString("bytes"),
})

/**
 * Bytes on their way in. The row is there before the first byte, so that whatever lies in the blob
 * store is named either here or in `blobs`, whenever the process dies. With the commit of the file
 * it is gone, or, where the sender may ask again, has the file's id.
 */
export const uploads = pgTable(
  "uploads",
  {
    ...record(),
    /** Null once the user is gone: the bytes have still to be removed. */
    userId: uuid("user_id").references(() => users._id, { onDelete: "set null" }),
    /** Null once the bytes are a file's. */
    key: text("key").unique(),
    /** What the upload holds of its user's quota. */
    reserved: bytes("reserved").notNull(),
    /** From then on the bytes may be removed and the reservation given back. */
    expiresAt: milliseconds("expires_at").notNull(),
    /**
     * How many bytes were announced; null, as the next two are, for what has to arrive in one
     * request.
     */
    length: bytes("length"),
    fileName: text("file_name"),
    /** As the sender wrote it, who is told it again. */
    metadata: text("metadata"),
    /** What became of it. */
    fileId: uuid("file_id").references(() => files._id, { onDelete: "cascade" }),
    /**
     * Unused. The previous version writes it; the next migration that may remove columns drops it.
     */
    wantedAt: milliseconds("wanted_at"),
  },
  (table) => [
    index("uploads_by_expires_at").on(table.expiresAt),
    index("uploads_by_user_id").on(table.userId),
    index("uploads_by_file_id").on(table.fileId),
    check("uploads_reserved", sql`${table.reserved} >= 0`),
    check("uploads_length", sql`${table.length} >= 0`),
    check("uploads_finished", sql`(${table.key} is null) = (${table.fileId} is not null)`),
    check("uploads_finished_reserve_nothing", sql`${table.fileId} is null or ${table.reserved} = 0`),
  ],
)

/**
 * What each user's files take, and what running uploads hold. One row per user, made by the first
 * upload. `revision` grows with every statement that changes files of theirs, no matter who makes
 * it: the database counts, so that a list that is no index range can be live as well.
 */
export const fileUsage = pgTable(
  "file_usage",
  {
    ...record(),
    userId: uuid("user_id")
      .notNull()
      .references(() => users._id, { onDelete: "cascade" }),
    used: bytes("used").notNull().default(0),
    reserved: bytes("reserved").notNull().default(0),
    /** What the files in the trash take of `used`. Triggers on the files keep it. */
    trashed: bytes("trashed").notNull().default(0),
    revision: bigint("revision", { mode: "number" }).notNull().default(0),
  },
  (table) => [
    uniqueIndex("file_usage_by_user_id").on(table.userId),
    uniqueIndex("file_usage_live").on(table.userId, table._id),
    check("file_usage_used", sql`${table.used} >= 0`),
    check("file_usage_reserved", sql`${table.reserved} >= 0`),
  ],
)

export type File = typeof files.$inferSelect
export type FileShare = typeof fileShares.$inferSelect

/** A number of bytes. */
function bytes(name: string) {
  return bigint(name, { mode: "number" })
}
