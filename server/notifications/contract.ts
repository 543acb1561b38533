import * as v from "valibot"
import type { NotificationRow } from "#db/schema/notifications.ts"
import { PageCursor, PageLength } from "#server/page-contract.ts"

/** That the reader was mentioned in a message of a space. */
export type Notification = Pick<
  NotificationRow,
  | "_id"
  | "_creationTime"
  | "spaceId"
  | "threadId"
  | "messageId"
  | "authorId"
  | "authorName"
  | "excerpt"
  | "read"
>

/** The query of a list of notifications. */
export const NotificationsQuery = v.strictObject({
  cursor: PageCursor,
  limit: PageLength,
  unread: v.optional(
    v.pipe(
      v.picklist(["true"]),
      v.description("`true`: only those that the caller has not read."),
      v.metadata({ parameter: { enum: ["true"] } }),
    ),
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
