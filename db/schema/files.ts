import { isNotNull, sql } from "drizzle-orm"
import {
  bigint,
  boolean,
  check,
  index,
  integer,
  jsonb,
  pgTable,
  text,
  uniqueIndex,
  uuid,
} from "drizzle-orm/pg-core"
import { isTokenHash, link } from "./links.ts"
import { liveTable } from "./live-table.ts"
import { owned } from "./ownership.ts"
import { byteString, milliseconds, record } from "./record.ts"
import { ofSpace, PERSONAL, spaceKey, spaces } from "./spaces.ts"
import { ofUser, users } from "./users.ts"

/**
 * Bytes in the blob store. The server creates `key`: the user's name for a file never reaches the
 * disk.
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

/** Bytes that were found to be missing, or others than their row says, and are not known to be right again. */
export const damagedBlobs = pgTable("damaged_blobs", {
  blobId: uuid("blob_id")
    .primaryKey()
    .references(() => blobs._id, { onDelete: "cascade" }),
  damage: text("damage").notNull(),
  foundAt: milliseconds("found_at").notNull(),
})

/** Files created before `until` had their types detected again: at most one row. */
export const retypedFiles = pgTable(
  "retyped_files",
  {
    place: text("place").primaryKey().default("everywhere"),
    until: milliseconds("until").notNull(),
  },
  (table) => [check("retyped_files_place", sql`${table.place} = 'everywhere'`)],
)

export const files = pgTable(
  "files",
  {
    ...record(),
    storageId: uuid("storage_id")
      .notNull()
      .references(() => blobs._id),
    userId: ofUser(),
    fileName: text("file_name").notNull(),
    mimeType: text("mime_type").notNull(),
    size: bytes("size").notNull(),
    /** In the trash: displayed, restored and deleted only there. */
    trashed: boolean("trashed").notNull().default(false),
    /**
     * When it was moved to the trash; 0 if it was not. Not null, because the order of a live list
     * needs columns that are never null.
     */
    trashedAt: milliseconds("trashed_at").notNull().default(0),
    /** Null for a personal file. */
    spaceId: uuid("space_id").references(() => spaces._id, { onDelete: "cascade" }),
    spaceKey: spaceKey(),
    /** When its bytes were last changed before they were sent. Null if the sender has not said. */
    modifiedAt: milliseconds("modified_at"),
    /**
     * By what lists are ordered and searched, made of the name by the rule
     * `set_file_name_key`, from `file_name_key` and `file_name_fold`. Null in rows that a version
     * without it wrote, until the server has filled it in.
     */
    nameKey: text("name_key"),
  },
  (table) => [
    index("files_by_storage_id").on(table.storageId),
    index("files_by_user_id").on(table.userId, table.trashed, table._id),
    index("files_by_space_id")
      .on(table.spaceId)
      .where(sql`${table.spaceId} is not null`),
    index("files_by_trashed_at")
      .on(table.trashedAt)
      .where(sql`${table.trashed}`),
    // Names of files in the trash are free. The others are unique in a space, or among what is
    // personal.
    uniqueIndex("files_by_user_id_file_name")
      .on(
        sql`coalesce(nullif(${table.spaceKey}, '${sql.raw(PERSONAL)}'::uuid), ${table.userId})`,
        table.fileName,
      )
      .where(sql`not ${table.trashed}`),
    uniqueIndex("files_live").on(table.userId, table.trashed, table.trashedAt, table._id),
    uniqueIndex("files_live_in_space").on(
      table.spaceKey,
      table.trashed,
      table.trashedAt,
      table._id,
      table.userId,
    ),
    check("files_name", sql`octet_length(${table.fileName}) between 1 and 255`),
    check("files_size", sql`${table.size} >= 0`),
    check("files_trashed", sql`${table.trashed} = (${table.trashedAt} > 0)`),
  ],
)

/** A public link to a file. */
export const fileShares = pgTable(
  "file_shares",
  {
    ...link(),
    fileId: uuid("file_id")
      .notNull()
      .references(() => files._id, { onDelete: "cascade" }),
    maxDownloads: integer("max_downloads"),
    downloads: integer("downloads").notNull().default(0),
  },
  (table) => [
    uniqueIndex("file_shares_live").on(table.userId, table.fileId, table._id),
    uniqueIndex("file_shares_live_in_space").on(table.spaceKey, table.fileId, table._id, table.userId),
    index("file_shares_by_file_id").on(table.fileId),
    isTokenHash("file_shares_token_hash", table.tokenHash),
    check("file_shares_max_downloads", sql`${table.maxDownloads} > 0`),
    check("file_shares_downloads", sql`${table.downloads} between 0 and ${table.maxDownloads}`),
  ],
)

/** Thumbnails of files, created on first request. */
export const fileThumbnails = pgTable("file_thumbnails", {
  fileId: uuid("file_id")
    .primaryKey()
    .references(() => files._id, { onDelete: "cascade" }),
  /** WebP; null if none can be created of the file. */
  bytes: byteString("bytes"),
})

/**
 * Uploads. The row exists before the first byte, so that everything in the blob store is referred
 * to either here or in `blobs`, whenever the process dies. When the file is committed the row is
 * deleted or, if the sender may ask for the outcome, gets the file's id.
 */
export const uploads = pgTable(
  "uploads",
  {
    ...record(),
    /** Null once the user is deleted: the bytes have still to be deleted. */
    userId: uuid("user_id").references(() => users._id, { onDelete: "set null" }),
    /** Null once the bytes belong to a file. */
    key: text("key").unique(),
    /** The part of its user's quota that the upload has reserved. */
    reserved: bytes("reserved").notNull(),
    /** After this time the bytes may be deleted and the reservation released. */
    expiresAt: milliseconds("expires_at").notNull(),
    /**
     * How many bytes were announced; null, like the next two, for uploads that must arrive in one
     * request.
     */
    length: bytes("length"),
    fileName: text("file_name"),
    /** As the sender wrote it, and returned to the sender. */
    metadata: text("metadata"),
    /** The file that it became. */
    fileId: uuid("file_id").references(() => files._id, { onDelete: "cascade" }),
    /** Where the file will be; null for a personal one. */
    spaceId: uuid("space_id").references(() => spaces._id, { onDelete: "set null" }),
    /**
     * The lock number of the process that receives it in one request: it ends with its process. Null
     * for a resumable one.
     */
    process: bigint("process", { mode: "number" }),
    /**
     * Unused. The previous version writes it; the next migration that may remove columns drops it.
     */
    wantedAt: milliseconds("wanted_at"),
  },
  (table) => [
    index("uploads_by_expires_at").on(table.expiresAt),
    index("uploads_by_user_id").on(table.userId),
    index("uploads_by_file_id").on(table.fileId),
    index("uploads_by_space_id")
      .on(table.spaceId)
      .where(sql`${table.spaceId} is not null`),
    index("uploads_by_process")
      .on(table.process)
      .where(sql`${table.process} is not null`),
    check("uploads_reserved", sql`${table.reserved} >= 0`),
    check("uploads_length", sql`${table.length} >= 0`),
    check("uploads_finished", sql`(${table.key} is null) = (${table.fileId} is not null)`),
    check("uploads_finished_reserve_nothing", sql`${table.fileId} is null or ${table.reserved} = 0`),
  ],
)

/**
 * What was created with a key that the sender chose (the header `Idempotency-Key`), so that a request
 * that is sent again creates nothing more. Written in the commit that creates it.
 */
export const idempotencyKeys = pgTable(
  "idempotency_keys",
  {
    ...record(),
    userId: ofUser(),
    /** Hex: SHA-256 of the key. */
    keyHash: text("key_hash").notNull(),
    /** Hex: what was asked for. Another request with the key is refused. */
    requestHash: text("request_hash").notNull(),
    /** The upload that it created, until that is a file; always for a resumable one. */
    uploadId: uuid("upload_id").references(() => uploads._id, { onDelete: "cascade" }),
    /** What the sender was told. */
    response: jsonb("response").$type<unknown>(),
    /** After this time the key is as good as new. */
    expiresAt: milliseconds("expires_at").notNull(),
  },
  (table) => [
    uniqueIndex("idempotency_keys_by_user_id").on(table.userId, table.keyHash),
    index("idempotency_keys_by_upload_id").on(table.uploadId),
    index("idempotency_keys_by_expires_at").on(table.expiresAt),
    check("idempotency_keys_created", sql`${table.uploadId} is not null or ${table.response} is not null`),
  ],
)

/**
 * The space that each user's files take, and that uploads in progress have reserved. One row per
 * user, created by the first upload. `revision` increases with every statement that changes their
 * files, no matter who runs it: the database counts, so that a list that is no index range can be live as
 * well.
 */
export const fileUsage = pgTable(
  "file_usage",
  {
    ...record(),
    userId: ofUser(),
    used: bytes("used").notNull().default(0),
    reserved: bytes("reserved").notNull().default(0),
    /** The part of `used` that is in the trash, maintained by the rule `count_changed_files`. */
    trashed: bytes("trashed").notNull().default(0),
    /** How many files there are, including those in the trash. Counted by the same triggers. */
    files: bigint("files", { mode: "number" }).notNull().default(0),
    revision: bigint("revision", { mode: "number" }).notNull().default(0),
  },
  (table) => [
    uniqueIndex("file_usage_by_user_id").on(table.userId),
    uniqueIndex("file_usage_live").on(table.userId, table._id),
    check("file_usage_used", sql`${table.used} >= 0`),
    check("file_usage_reserved", sql`${table.reserved} >= 0`),
  ],
)

/**
 * Increases with every statement that changes files of a space, for the members who do not pay for them. The
 * rule `revise_files_of_spaces` counts. There is no row before the first file.
 */
export const spaceFileRevisions = pgTable(
  "space_file_revisions",
  {
    ...record(),
    spaceId: ofSpace(),
    revision: bigint("revision", { mode: "number" }).notNull().default(1),
  },
  (table) => [
    uniqueIndex("space_file_revisions_by_space_id").on(table.spaceId),
    uniqueIndex("space_file_revisions_live").on(table.spaceId, table._id),
  ],
)

export type File = typeof files.$inferSelect
export type FileShare = typeof fileShares.$inferSelect

/** A number of bytes. */
function bytes(name: string) {
  return bigint(name, { mode: "number" })
}

export const watchedFiles = liveTable(files, {
  keys: ["userId", "spaceKey", "trashed", "trashedAt"],
  of: "userId",
  end: "stays in its space",
  exported: ["_id", "_creationTime", "fileName", "mimeType", "size", "modifiedAt", "trashed", "spaceId"],
  sentences: {
    size: "Bytes.",
    trashedAt: "When it was moved to the trash. Milliseconds since the epoch.",
    modifiedAt: "When its bytes were last changed before they were sent. Milliseconds since the epoch.",
  },
})

export const watchedShares = liveTable(fileShares, {
  keys: ["userId", "spaceKey", "fileId"],
  of: "userId",
  exportedAs: "shares",
  exported: ["_creationTime", "fileId", "hint", "expiresAt", "maxDownloads", "downloads"],
  computed: () => ({ hasPassword: isNotNull(fileShares.passwordHash) }),
  sentences: {
    hint: "The last four characters of the link's URL.",
    expiresAt: "Milliseconds since the epoch; null for a link that does not expire.",
    maxDownloads: "Null without a limit.",
  },
})

export const watchedUsage = liveTable(fileUsage, {
  keys: ["userId"],
  of: "userId",
  exportedIn: "records.json, as `usage`",
  sentences: {
    used: "Bytes of all files, including those in the trash.",
    reserved: "Bytes held for running uploads.",
    trashed: "Bytes of the files in the trash.",
    files: "The number of all files, including those in the trash.",
    revision: "Grows with every change of the files.",
  },
})

export const watchedFileRevisions = liveTable(spaceFileRevisions, {
  keys: ["spaceId"],
  of: "space",
  sentences: {
    revision: "Grows with every change of the space's files.",
  },
})

owned(fileThumbnails, { of: "fileId", notExported: "Made from the file, which is in the archive." })

owned(uploads, {
  of: "userId",
  end: { forgets: ["fileName", "metadata"], because: "The bytes have still to be deleted." },
  exported: ["_creationTime", "fileName", "length", "expiresAt"],
})

owned(idempotencyKeys, {
  of: "userId",
  kept: { until: "expiresAt" },
  notExported: "For a day, what a request created that is in the archive itself.",
})
