import * as v from "valibot"
import { defineLiveQuery } from "#live/open"
import type { Viewer } from "#server/scope.ts"
import { watchedNotifications } from "#db/schema/notifications.ts"

const Page = v.optional(v.pipe(v.string(), v.maxLength(200)))

// A row goes in the commit that ends its reader's membership, and `trashed` changes in the one that
// deletes or restores the space: no other right has to be asked about.
const shared = {
  table: watchedNotifications,
  args: v.strictObject({ after: Page }),
  order: { field: "_id", direction: "desc" },
  fields: ["_creationTime", "spaceId", "threadId", "messageId", "authorId", "authorName", "excerpt", "read"],
} as const

export const liveNotifications = defineLiveQuery({
  ...shared,
  name: "notifications.list",
  description: "The messages of spaces in which the caller was mentioned, the newest first.",
  page: { argument: "after", size: 50 },
  range: (_args, viewer: Viewer) => ({ eq: { userId: viewer.user._id, inApp: true, trashed: false } }),
})

export const liveUnread = defineLiveQuery({
  ...shared,
  name: "notifications.listUnread",
  description: "Those of notifications.list that the caller has not read.",
  page: { argument: "after", size: 100 },
  range: (_args, viewer: Viewer) => ({
    eq: { userId: viewer.user._id, inApp: true, trashed: false, read: false },
  }),
})

export const liveNotificationLists = [liveNotifications, liveUnread]
