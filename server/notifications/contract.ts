import * as v from "valibot"
import { record } from "#server/operations/contract.ts"
import { PageLength, RowCursor } from "#server/page-contract.ts"

/** That the reader was mentioned in a message of a space. */
const Notification = v.strictObject({
  ...record,
  spaceId: v.pipe(v.string(), v.uuid()),
  threadId: v.pipe(v.string(), v.uuid()),
  messageId: v.pipe(v.string(), v.uuid(), v.description("The message that mentions the caller.")),
  authorId: v.pipe(
    v.nullable(v.pipe(v.string(), v.uuid())),
    v.description("Who wrote it. Null once their account is deleted."),
  ),
  authorName: v.pipe(v.nullable(v.string()), v.description("Their name at the time.")),
  excerpt: v.pipe(v.string(), v.description("The part of the message around the mention.")),
  read: v.boolean(),
})
export type Notification = v.InferOutput<typeof Notification>

export const NotificationPage = v.strictObject({
  notifications: v.array(Notification),
  unread: v.pipe(v.number(), v.integer(), v.description("How many are unread in all.")),
  nextCursor: v.nullable(v.string()),
})
export type NotificationPage = v.InferOutput<typeof NotificationPage>

/** The query of a list of notifications. */
export const NotificationsQuery = v.strictObject({
  cursor: RowCursor,
  limit: PageLength,
  unread: v.optional(
    v.pipe(v.picklist(["true"]), v.description("`true`: only those that the caller has not read.")),
  ),
})
export type NotificationsQuery = v.InferOutput<typeof NotificationsQuery>

/** All notifications, or those of one conversation. */
export const MarkRead = v.strictObject({
  threadId: v.optional(
    v.pipe(v.string(), v.uuid(), v.description("Only those of this conversation. All of them without it.")),
  ),
})
export type MarkRead = v.InferOutput<typeof MarkRead>
