import * as v from "valibot"
import { record } from "#server/operations/contract.ts"
import { jsonAnswer, pageParameters, refusal, SIGNED_IN, type PathItem } from "./parts.ts"

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

const common = { tags: ["Spaces"], security: SIGNED_IN }
const unread = {
  name: "unread",
  in: "query",
  description: "`true`: only those that the caller has not read.",
  schema: { enum: ["true"] },
}
const unauthorized = { "401": refusal("Nobody is signed in.") }
const list = {
  ...common,
  summary: "The messages of spaces in which the caller was mentioned, the newest first",
  parameters: [...pageParameters, unread],
}

/** Mentions of the caller. */
export const notificationsPaths: Record<string, PathItem> = {
  "/api/notifications": {
    get: {
      ...list,
      operationId: "readNotifications",
      responses: {
        "200": jsonAnswer(
          "The notifications.",
          v.strictObject({
            notifications: v.array(Notification),
            unread: v.pipe(v.number(), v.integer(), v.description("How many are unread in all.")),
            nextCursor: v.nullable(v.string()),
          }),
        ),
        ...unauthorized,
      },
    },
    head: {
      ...list,
      operationId: "probeNotifications",
      responses: { "200": { description: "The notifications." }, ...unauthorized },
    },
  },
}
