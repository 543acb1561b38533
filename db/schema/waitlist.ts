import { sql } from "drizzle-orm"
import { pgTable, text, uniqueIndex } from "drizzle-orm/pg-core"
import { record } from "./record.ts"

/** Addresses that asked to be told. One row per address, however it is capitalised. */
export const waitlist = pgTable("waitlist", { ...record(), email: text("email").notNull() }, (table) => [
  uniqueIndex("waitlist_by_email").on(sql`lower(${table.email})`),
])
