import { getTableColumns, getTableName, type InferSelectModel, type Table } from "drizzle-orm"
import { getTableConfig, type PgTable } from "drizzle-orm/pg-core"
import { chatChunks, chatMessages, chatThreads, chatTurns } from "#db/schema/chat.ts"
import { demoBoats } from "#db/schema/demo.ts"
import { devices } from "#db/schema/devices.ts"
import { files, fileShares, fileUsage } from "#db/schema/files.ts"
import { maintenance } from "#db/schema/maintenance.ts"
import { users } from "#db/schema/users.ts"
import type { Column, Table as WatchedTable, TableDescription } from "./realtime/live-query.ts"

/**
 * The tables that live queries read, as the realtime layer wants them described: Drizzle's own
 * columns and conversions.
 */
export const watchedUsers = watchedTable(users, ["clerkId"])
export const watchedDevices = watchedTable(devices, ["userId"])
export const watchedFiles = watchedTable(files, ["userId", "trashed", "trashedAt"])
export const watchedShares = watchedTable(fileShares, ["userId", "fileId"])
export const watchedUsage = watchedTable(fileUsage, ["userId"])
export const watchedThreads = watchedTable(chatThreads, ["userId", "trashed", "lastMessageAt"])
export const watchedMessages = watchedTable(chatMessages, ["userId", "threadId"])
export const watchedTurns = watchedTable(chatTurns, ["userId", "threadId"])
export const watchedChunks = watchedTable(chatChunks, ["userId", "threadId"])
export const watchedBoats = watchedTable(demoBoats, ["harbour"])
export const watchedMaintenance = watchedTable(maintenance, ["place"])

export const watchedTables: readonly WatchedTable[] = [
  watchedUsers,
  watchedDevices,
  watchedFiles,
  watchedShares,
  watchedUsage,
  watchedThreads,
  watchedMessages,
  watchedTurns,
  watchedChunks,
  watchedBoats,
  watchedMaintenance,
]

/** `identity` lists the fields, besides `_id`, of the table's replica identity index. */
function watchedTable<Watched extends PgTable>(
  table: Watched,
  identity: readonly (keyof InferSelectModel<Watched> & string)[],
) {
  type Row = InferSelectModel<Watched> & { _id: string }
  const columns = Object.fromEntries(
    Object.entries(getTableColumns(table as Table)).map(([field, column]): [string, Column] => [
      field,
      {
        name: column.name,
        // The log has text only. Drizzle leaves this one conversion to the driver.
        decode: (text) => (column.dataType === "boolean" ? text === "t" : column.mapFromDriverValue(text)),
      },
    ]),
  )
  // Field by field these are the table's own columns, which no type can follow through
  // `fromEntries`.
  return {
    schema: getTableConfig(table).schema ?? "public",
    name: getTableName(table),
    identity,
    columns,
  } as unknown as TableDescription<Row>
}
