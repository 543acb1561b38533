import * as v from "valibot"
import { operations } from "#server/operations/contract.ts"
import { MarkRead } from "./contract.ts"

export const notificationOperations = operations("notifications", { tag: "Spaces", missing: "conversation" })(
  {
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
