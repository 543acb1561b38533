import * as v from "valibot"
import { operations } from "#server/operations/contract.ts"
import { implement } from "#server/operations/implement.ts"
import { rowSchema } from "#server/operations/list.ts"
import { NotificationsQuery } from "./contract.ts"
import { liveNotifications } from "./live.ts"
import { listNotifications, markRead } from "./notifications.ts"
import { notificationOperations } from "./operations-contract.ts"

const reads = operations("notifications", { tag: "Spaces" })({
  list: {
    about: liveNotifications.description,
    may: "signed-in",
    input: NotificationsQuery,
    output: v.strictObject({
      notifications: v.array(rowSchema(liveNotifications)),
      unread: v.pipe(v.number(), v.integer(), v.description("How many are unread in all.")),
      nextCursor: v.nullable(v.string()),
    }),
    http: { at: "GET /api/notifications", id: "readNotifications" },
  },
})

export const notificationFunctions = [
  ...implement(notificationOperations, { markRead }),
  ...implement(reads, { list: listNotifications }),
]
