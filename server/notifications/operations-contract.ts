import * as v from "valibot"
import { operations } from "#server/operations/contract.ts"
import { MarkRead, NotificationPage, NotificationsQuery } from "./contract.ts"

export const notificationOperations = operations(
  "notifications",
  { tag: "Spaces", missing: "conversation" },
  {
    list: {
      about: "The messages of spaces in which the caller was mentioned, the newest first.",
      may: "signed-in",
      input: NotificationsQuery,
      output: NotificationPage,
      http: { at: "GET /api/notifications", id: "readNotifications" },
    },
    markRead: {
      about: "Marks the caller's notifications as read: all, or those of one conversation.",
      may: "signed-in",
      input: MarkRead,
      output: v.strictObject({
        marked: v.pipe(v.number(), v.integer(), v.description("How many were unread.")),
      }),
      http: { at: "POST /api/notifications/read", id: "markNotificationsRead" },
    },
  },
)
