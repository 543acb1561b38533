import { sql } from "drizzle-orm"
import { boolean, check, index, integer, pgTable, text, uniqueIndex, uuid } from "drizzle-orm/pg-core"
import { liveTable } from "./live-table.ts"
import { byteString, milliseconds, record } from "./record.ts"
import { ofUser } from "./users.ts"

/**
 * The `space_key` of a row that is in no space. Ranges of live queries and the replica identity need
 * a column that is never null.
 */
export const PERSONAL = "00000000-0000-0000-0000-000000000000"

/** What a member may do, the most first. */
export const ROLES = ["owner", "editor", "reader"] as const
export type Role = (typeof ROLES)[number]

/** What several people share. Who they are is in `space_members` alone. */
export const spaces = pgTable(
  "spaces",
  {
    ...record(),
    name: text("name").notNull(),
    /** Part of its URLs. */
    slug: text("slug").notNull().unique(),
    /** Another picture has another id. */
    pictureId: uuid("picture_id"),
    /** Deleted, but restorable by its owner for 30 days. */
    trashed: boolean("trashed").notNull().default(false),
    trashedAt: milliseconds("trashed_at"),
  },
  (table) => [
    index("spaces_by_trashed_at")
      .on(table.trashedAt)
      .where(sql`${table.trashed}`),
    check("spaces_name", sql`char_length(${table.name}) between 1 and 60`),
    check(
      "spaces_slug",
      sql`${table.slug} ~ '^[a-z0-9]+(-[a-z0-9]+)*$' and char_length(${table.slug}) <= 40`,
    ),
    check("spaces_trashed_at", sql`${table.trashed} = (${table.trashedAt} is not null)`),
  ],
)

/** The column of a row that is in a space, and is deleted with it. */
export const ofSpace = () =>
  uuid("space_id")
    .notNull()
    .references(() => spaces._id, { onDelete: "cascade" })

/** Pictures of spaces. In a separate table, because lists read `spaces` and not these bytes. */
export const spacePictures = pgTable("space_pictures", {
  spaceId: uuid("space_id")
    .primaryKey()
    .references(() => spaces._id, { onDelete: "cascade" }),
  /** Also in `spaces`, from where it reaches the lists. */
  pictureId: uuid("picture_id").notNull(),
  /** WebP, square. */
  bytes: byteString("bytes").notNull(),
})

/**
 * Who may see and change what is in a space: the only place that says so. A live query reads one
 * table, so each row also has what lists show of the space and of the person. The rules
 * `describe_space_member`, `describe_changed_space` and `describe_changed_person` keep that equal to
 * `spaces` and `users`, and `describe_space_invitation` the name in invitations.
 */
export const spaceMembers = pgTable(
  "space_members",
  {
    ...record(),
    spaceId: ofSpace(),
    userId: ofUser(),
    role: text("role", { enum: ROLES }).notNull(),
    /** The space is in the trash: nobody may see what is in it. */
    trashed: boolean("trashed").notNull().default(false),
    trashedAt: milliseconds("trashed_at"),
    spaceName: text("space_name").notNull().default(""),
    spaceSlug: text("space_slug").notNull().default(""),
    spacePictureId: uuid("space_picture_id"),
    memberName: text("member_name"),
    memberEmail: text("member_email").notNull().default(""),
    memberImageUrl: text("member_image_url"),
  },
  (table) => [
    uniqueIndex("space_members_by_space").on(table.spaceId, table.userId),
    uniqueIndex("space_members_one_owner")
      .on(table.spaceId)
      .where(sql`${table.role} = 'owner'`),
    uniqueIndex("space_members_live").on(table.userId, table.spaceId, table.trashed, table.role, table._id),
    check("space_members_role", sql`${table.role} in ('owner', 'editor', 'reader')`),
  ],
)

/** Invitations that can still be accepted: to one email address, or by a link for several people. */
export const spaceInvitations = pgTable(
  "space_invitations",
  {
    ...record(),
    spaceId: ofSpace(),
    /** In lower case. Empty for a link that anyone may use. */
    email: text("email").notNull().default(""),
    role: text("role", { enum: ["editor", "reader"] }).notNull(),
    /** Hex: SHA-256 of the last part of the URL. */
    tokenHash: text("token_hash").notNull().unique(),
    /** The last four characters of the URL, by which its owner recognises it. */
    hint: text("hint").notNull(),
    expiresAt: milliseconds("expires_at").notNull(),
    /** How many people may use it. Null without a limit. */
    maxUses: integer("max_uses"),
    uses: integer("uses").notNull().default(0),
    /** The people whose access was taken away since: it does not let them in again. */
    barred: uuid("barred").array().notNull().default([]),
    /** Who invited. */
    userId: ofUser(),
    /** Of the space, for the person who is invited. */
    spaceName: text("space_name").notNull().default(""),
  },
  (table) => [
    uniqueIndex("space_invitations_live").on(table.spaceId, table.email, table._id),
    index("space_invitations_by_email").on(table.email),
    index("space_invitations_by_expires_at").on(table.expiresAt),
    uniqueIndex("space_invitations_one_per_address")
      .on(table.spaceId, table.email)
      .where(sql`${table.email} <> ''`),
    check("space_invitations_role", sql`${table.role} in ('editor', 'reader')`),
    check("space_invitations_token_hash", sql`${table.tokenHash} ~ '^[0-9a-f]{64}$'`),
    check("space_invitations_uses", sql`${table.uses} between 0 and ${table.maxUses}`),
  ],
)

export type Space = typeof spaces.$inferSelect
export type SpaceMember = typeof spaceMembers.$inferSelect
export type SpaceInvitation = typeof spaceInvitations.$inferSelect

/**
 * The key column of what can be in a space. The rules `fill_space_key`, `take_space_of_file` and
 * `take_space_of_thread` fill it, and `move_links_of_file` and `move_rows_of_thread` keep it.
 */
export const spaceKey = () => uuid("space_key").notNull().default(PERSONAL)

export const watchedMembers = liveTable(spaceMembers, {
  keys: ["userId", "spaceId", "trashed", "role"],
  of: "userId",
  exportedAs: "spaces",
  exported: ["_id", "_creationTime", "spaceId", "spaceName", "role", "trashed"],
  sentences: {
    spaceSlug: "Part of the space's URLs.",
    spacePictureId: "Null without a picture. Another picture has another id.",
    memberName: "The name in their profile.",
    trashedAt: "When the space was deleted. Milliseconds since the epoch.",
  },
})

export const watchedInvitations = liveTable(spaceInvitations, {
  keys: ["spaceId", "email"],
  of: [{ id: "userId" }, { email: "email" }],
  kept: { until: "expiresAt" },
  end: "stays in its space",
  exportedAs: "spaceInvitations",
  exported: ["_creationTime", "spaceName", "role", "email", "hint", "expiresAt", "uses"],
  computed: ({ userId }) => ({ byViewer: sql`${spaceInvitations.userId} = ${userId}` }),
  sentences: {
    email: "In lower case. Empty for a link that several people can use.",
    hint: "The last four characters of the link's URL.",
    expiresAt: "Milliseconds since the epoch.",
    maxUses: "How many people can use it; null without a limit.",
  },
})
