import { sql } from "drizzle-orm"
import { check, pgTable, text, uniqueIndex } from "drizzle-orm/pg-core"
import { owned } from "./ownership.ts"
import { milliseconds, record } from "./record.ts"

/** Addresses that asked to be told. One row per address, however it is capitalised. */
export const waitlist = pgTable(
  "waitlist",
  {
    ...record(),
    email: text("email").notNull(),
    /** When the address was confirmed by the link in its email. */
    confirmedAt: milliseconds("confirmed_at"),
    invitedAt: milliseconds("invited_at"),
    /** When the invitation was used. */
    joinedAt: milliseconds("joined_at"),
    /**
     * The one in which they confirmed, or asked before that. Null where the operator put them on
     * the list.
     */
    language: text("language", { enum: ["en", "de"] }),
  },
  (table) => [
    uniqueIndex("waitlist_by_email").on(sql`lower(${table.email})`),
    check("waitlist_language", sql`${table.language} in ('en', 'de')`),
  ],
)

export type WaitlistRow = typeof waitlist.$inferSelect

owned(waitlist, {
  of: [{ email: "email" }],
  exported: ["_id", "_creationTime", "email", "confirmedAt", "invitedAt", "joinedAt", "language"],
})
