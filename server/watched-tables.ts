import {
  getTableColumns,
  getTableName,
  type Column as DrizzleColumn,
  type InferSelectModel,
  type Table,
} from "drizzle-orm"
import { getTableConfig, type PgTable } from "drizzle-orm/pg-core"
import { chatChunks, chatMessages, chatShares, chatThreads, chatTurns, chatWaiting } from "#db/schema/chat.ts"
import { demoBoats } from "#db/schema/demo.ts"
import { devices } from "#db/schema/devices.ts"
import { files, fileShares, fileUsage, spaceFileRevisions } from "#db/schema/files.ts"
import { maintenance } from "#db/schema/maintenance.ts"
import { notifications } from "#db/schema/notifications.ts"
import { spaceInvitations, spaceMembers } from "#db/schema/spaces.ts"
import { users } from "#db/schema/users.ts"
import * as v from "valibot"
import { AttachmentRows, DeltaRows, MentionRows, PartRows, RecallRows } from "./chat/row-schemas.ts"
import type { Column, Table as WatchedTable, TableDescription } from "./realtime/live-query.ts"

/** Of the columns that every record has. */
const SENTENCES: Readonly<Record<string, string>> = {
  _id: "Version 7 UUID: ids sort in the order in which their records were created.",
  _creation_time: "Milliseconds since the epoch.",
}

/**
 * The tables that live queries read, described for the realtime layer: Drizzle's own columns and
 * conversions.
 */
export const watchedUsers = watchedTable(users, ["clerkId"], {
  clerkId: "The identity provider's id, whichever provider it is.",
  email: "Empty if the provider knows no email address.",
  onboardingStep: "Null before the first step.",
})
export const watchedDevices = watchedTable(devices, ["userId"], { label: "As the device describes itself." })
export const watchedFiles = watchedTable(files, ["userId", "spaceKey", "trashed", "trashedAt"], {
  size: "Bytes.",
  trashedAt: "When it was moved to the trash. Milliseconds since the epoch.",
  modifiedAt: "When its bytes were last changed before they were sent. Milliseconds since the epoch.",
})
export const watchedShares = watchedTable(fileShares, ["userId", "spaceKey", "fileId"], {
  hint: "The last four characters of the link's URL.",
  expiresAt: "Milliseconds since the epoch; null for a link that does not expire.",
  maxDownloads: "Null without a limit.",
})
export const watchedUsage = watchedTable(fileUsage, ["userId"], {
  used: "Bytes of all files, including those in the trash.",
  reserved: "Bytes held for running uploads.",
  trashed: "Bytes of the files in the trash.",
  revision: "Grows with every change of the files.",
})
export const watchedFileRevisions = watchedTable(spaceFileRevisions, ["spaceId"], {
  revision: "Grows with every change of the space's files.",
})
export const watchedThreads = watchedTable(chatThreads, ["userId", "spaceKey", "trashed", "lastMessageAt"], {
  lastMessageAt: "Milliseconds since the epoch.",
})
export const watchedMessages = watchedTable(chatMessages, ["userId", "spaceKey", "threadId"], {
  attachments: AttachmentRows,
  edited: "Whether it replaced an earlier version.",
  mentions: MentionRows,
})
export const watchedTurns = watchedTable(chatTurns, ["userId", "spaceKey", "threadId"], {
  _id: "The same as the reply's message.",
  questionId: "The message that is replied to.",
  requestId: "The sender's own id for that message.",
  parts: PartRows,
  failure: "What the user is shown if the turn failed.",
  finishReason: "Why the model ended its reply. Null while it runs, and if something else ended it.",
  recall: RecallRows,
})
export const watchedChunks = watchedTable(chatChunks, ["userId", "spaceKey", "threadId"], {
  turnId: "The turn, and the message, of the reply.",
  seq: "Position within the reply, from 0.",
  delta: DeltaRows,
})
export const watchedWaiting = watchedTable(chatWaiting, ["userId", "spaceKey", "threadId", "place"], {
  requestId: "The sender's own id for the message.",
  place: "Its order among those of the conversation.",
  attachments: AttachmentRows,
  state:
    "`withdrawn` by somebody else than its author, or `passed` over because its author may no longer write here.",
})
export const watchedThreadShares = watchedTable(chatShares, ["userId", "spaceKey", "threadId"], {
  hint: "The last four characters of the link's URL.",
  expiresAt: "Milliseconds since the epoch; null for a link that does not expire.",
})
export const watchedMembers = watchedTable(spaceMembers, ["userId", "spaceId", "trashed", "role"], {
  spaceSlug: "Part of the space's URLs.",
  spacePictureId: "Null without a picture. Another picture has another id.",
  memberName: "The name in their profile.",
  trashedAt: "When the space was deleted. Milliseconds since the epoch.",
})
export const watchedInvitations = watchedTable(spaceInvitations, ["spaceId", "email"], {
  email: "In lower case. Empty for a link that several people can use.",
  hint: "The last four characters of the link's URL.",
  expiresAt: "Milliseconds since the epoch.",
  maxUses: "How many people can use it; null without a limit.",
})
export const watchedNotifications = watchedTable(notifications, ["userId", "inApp", "trashed", "read"], {
  messageId: "The message that mentions the caller.",
  authorId: "Who wrote it. Null once their account is deleted.",
  authorName: "Their name at the time.",
  excerpt: "The part of the message around the mention.",
})
export const watchedBoats = watchedTable(demoBoats, ["harbour"], {})
export const watchedMaintenance = watchedTable(maintenance, ["place"], {
  message: "The operator's text for visitors; null for the default text.",
})

export const watchedTables: readonly WatchedTable[] = [
  watchedUsers,
  watchedDevices,
  watchedFiles,
  watchedShares,
  watchedUsage,
  watchedFileRevisions,
  watchedThreads,
  watchedMessages,
  watchedTurns,
  watchedChunks,
  watchedWaiting,
  watchedThreadShares,
  watchedMembers,
  watchedInvitations,
  watchedNotifications,
  watchedBoats,
  watchedMaintenance,
]

/**
 * `identity` lists the fields, besides `_id`, of the table's replica identity index. `described`
 * has a sentence for a field whose name does not say everything, and a schema for one that holds
 * JSON.
 */
function watchedTable<Watched extends PgTable>(
  table: Watched,
  identity: readonly (keyof InferSelectModel<Watched> & string)[],
  described: {
    [Field in keyof InferSelectModel<Watched>]?:
      | string
      | v.GenericSchema<unknown, NonNullable<InferSelectModel<Watched>[Field]>>
  },
) {
  type Row = InferSelectModel<Watched> & { _id: string }
  const columns = Object.fromEntries(
    Object.entries(getTableColumns(table as Table)).map(([field, column]): [string, Column] => [
      field,
      {
        name: column.name,
        // The log contains only text. Drizzle leaves this one conversion to the driver.
        decode: (text) => (column.dataType === "boolean" ? text === "t" : column.mapFromDriverValue(text)),
        ...schemaOf(column, (described as Record<string, string | v.GenericSchema>)[field]),
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

/** Undefined for a JSON column without a schema: live queries that send it are refused. */
function schemaOf(column: DrizzleColumn, about?: string | v.GenericSchema): { schema?: v.GenericSchema } {
  const value = typeof about === "object" ? about : valueSchema(column)
  if (!value) return {}
  const schema: v.GenericSchema = column.notNull ? value : v.nullable(value)
  const sentence = typeof about === "string" ? about : SENTENCES[column.name]
  return { schema: sentence === undefined ? schema : v.pipe(schema, v.description(sentence)) }
}

function valueSchema({ dataType, enumValues, columnType }: DrizzleColumn): v.GenericSchema | null {
  if (enumValues && enumValues.length > 0) return v.picklist(enumValues)
  if (columnType === "PgUUID") return v.pipe(v.string(), v.uuid())
  if (dataType === "string") return v.string()
  if (dataType === "number") return v.pipe(v.number(), v.integer())
  return dataType === "boolean" ? v.boolean() : null
}
