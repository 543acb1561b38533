import { sql } from "drizzle-orm"
import { check, pgTable, text, uniqueIndex } from "drizzle-orm/pg-core"
import { liveTable } from "./live-table.ts"
import { record } from "./record.ts"

/**
 * While there is a row, the installation is closed to everybody except those who have its pass. At
 * most one.
 */
export const maintenance = pgTable(
  "maintenance",
  {
    ...record(),
    /** The range that the live query reads. */
    place: text("place").notNull().default("everywhere"),
    /** The operator's own text for visitors; null for the default. */
    message: text("message"),
  },
  (table) => [
    uniqueIndex("maintenance_only_one").on(table.place),
    uniqueIndex("maintenance_live").on(table.place, table._id),
    check("maintenance_place", sql`${table.place} = 'everywhere'`),
    check("maintenance_message", sql`char_length(${table.message}) between 1 and 500`),
  ],
)

export const watchedMaintenance = liveTable(maintenance, {
  keys: ["place"],
  of: "nobody",
  sentences: {
    message: "The operator's text for visitors; null for the default text.",
  },
})
