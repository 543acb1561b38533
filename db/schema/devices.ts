import { bigint, index, pgTable, text, uniqueIndex } from "drizzle-orm/pg-core"
import { liveTable } from "./live-table.ts"
import { record } from "./record.ts"
import { ofUser } from "./users.ts"

/**
 * Browsers and programs that have a live connection now. A row lives as long as its connection, or
 * its process.
 */
export const devices = pgTable(
  "devices",
  {
    ...record(),
    userId: ofUser(),
    /** As the device describes itself: `Firefox on Linux`. */
    label: text("label").notNull(),
    connectionId: text("connection_id").notNull().unique(),
    /** The number of the advisory lock that the process has while it lives. */
    process: bigint("process", { mode: "number" }).notNull(),
  },
  (table) => [
    uniqueIndex("devices_live").on(table.userId, table._id),
    index("devices_by_process").on(table.process),
  ],
)

export const watchedDevices = liveTable(devices, {
  keys: ["userId"],
  of: "userId",
  exported: ["_creationTime", "label"],
  sentences: { label: "As the device describes itself." },
})
