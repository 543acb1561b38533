import { sql } from "drizzle-orm"
import { boolean, check, pgTable, text, uniqueIndex } from "drizzle-orm/pg-core"
import { liveTable } from "./live-table.ts"
import { milliseconds, record } from "./record.ts"

/**
 * The boats of the demonstration on the home page. Anybody may move them, and nobody can write text
 * into them.
 */
export const demoBoats = pgTable(
  "demo_boats",
  {
    ...record(),
    /** All boats are in one: it is the range that the live query reads. */
    harbour: text("harbour").notNull().default("start page"),
    name: text("name").notNull(),
    state: text("state", { enum: ["at sea", "coming in", "moored"] }).notNull(),
    lamp: boolean("lamp").notNull(),
    /** When a visitor last moved it; 0 while it is where the server put it. */
    movedAt: milliseconds("moved_at").notNull().default(0),
  },
  (table) => [
    uniqueIndex("demo_boats_live").on(table.harbour, table._id),
    uniqueIndex("demo_boats_by_name").on(table.name),
    check("demo_boats_state", sql`${table.state} in ('at sea', 'coming in', 'moored')`),
  ],
)

export const watchedBoats = liveTable(demoBoats, {
  keys: ["harbour"],
  of: "nobody",
})
