import * as v from "valibot"
import { PERSONAL } from "#db/schema/spaces.ts"
import type { Viewer } from "#server/scope.ts"
import { InSpace, SpaceId } from "#server/spaces/place-contract.ts"
import { isMember, membershipOf, ofPlace, placeOf } from "#server/spaces/live-access.ts"
import { defineChannel, defineLiveQuery, type SnapshotSql } from "#live/open"
import {
  watchedChunks,
  watchedMessages,
  watchedReads,
  watchedThreads,
  watchedThreadShares,
  watchedTurns,
  watchedWaiting,
} from "#db/schema/chat.ts"
import { chatPresenceChannel, Presence, ThreadId, ThreadShareRow } from "./contract.ts"
import { threadShareSummary } from "./shares.ts"

const Page = v.optional(v.pipe(v.string(), v.maxLength(200)))

const THREAD_FIELDS = [
  "_creationTime",
  "title",
  "lastMessageAt",
  "spaceId",
  "peopleOnly",
  "messageCount",
] as const

export const liveThreads = defineLiveQuery({
  name: "chat.listThreads",
  description: "The caller's conversations, or those in a space, the last used first.",
  args: v.strictObject({ spaceId: InSpace, after: Page }),
  table: watchedThreads,
  order: { field: "lastMessageAt", direction: "desc" },
  page: { argument: "after", size: 50 },
  range: ({ spaceId }, viewer: Viewer) => ({ eq: { ...placeOf(viewer, spaceId), trashed: false } }),
  ...ofPlace,
  fields: THREAD_FIELDS,
})

interface OfConversation {
  threadId: string
  spaceId?: string | undefined
}

/** Shared by the lists of one conversation's rows. */
const ofConversation = {
  range: ({ threadId, spaceId }: OfConversation, viewer: Viewer) => ({
    eq: { ...placeOf(viewer, spaceId), threadId },
  }),
  authorize: (viewer: Viewer, { threadId, spaceId }: OfConversation, sql: SnapshotSql) =>
    mayReadThread(viewer, threadId, spaceId, sql),
  // A thread's row changes with every message. Only its deletion, or its move to the trash or to
  // another place, ends access to its messages.
  dependencies: ({ threadId, spaceId }: OfConversation, viewer: Viewer) => [
    {
      table: watchedThreads,
      eq: { ...placeOf(viewer, spaceId), _id: threadId, trashed: false },
      on: "leave" as const,
    },
    ...(spaceId === undefined ? [] : [membershipOf(viewer, spaceId)]),
  ],
}

export const liveMessages = defineLiveQuery({
  name: "chat.listMessages",
  description: "The messages of one of the caller's conversations, or of one in a space, the newest first.",
  args: v.strictObject({ threadId: ThreadId, spaceId: InSpace, after: Page }),
  order: { field: "_id", direction: "desc" },
  page: { argument: "after", size: 50 },
  table: watchedMessages,
  ...ofConversation,
  fields: ["_creationTime", "userId", "role", "content", "attachments", "edited", "mentions", "requestId"],
})

export const liveTurns = defineLiveQuery({
  name: "chat.listTurns",
  description:
    "How the replies of a conversation were generated, the newest first, and which one is being generated. Read beside chat.listMessages.",
  args: v.strictObject({ threadId: ThreadId, spaceId: InSpace, after: Page }),
  order: { field: "_id", direction: "desc" },
  page: { argument: "after", size: 50 },
  table: watchedTurns,
  ...ofConversation,
  fields: [
    "questionId",
    "requestId",
    "status",
    "model",
    "parts",
    "failure",
    "inputTokens",
    "outputTokens",
    "finishReason",
    "recall",
  ],
})

export const liveChunks = defineLiveQuery({
  name: "chat.listChunks",
  description:
    "The reply that is being generated, one row for each quarter of a second. Append the texts of the deltas in the order of `seq`. When the reply ends, its message has the text and these rows are removed.",
  table: watchedChunks,
  ...ofConversation,
  args: v.strictObject({ threadId: ThreadId, spaceId: InSpace }),
  // Without pages: a reply takes minutes at most, and all of its text belongs together.
  order: { field: "_id", direction: "asc" },
  fields: ["turnId", "seq", "delta"],
})

export const liveWaiting = defineLiveQuery({
  name: "chat.listWaiting",
  description:
    "The messages in a conversation that wait for the replies to those before them, the first in line first. When the reply to one begins, it is in chat.listMessages, and its row is removed.",
  args: v.strictObject({ threadId: ThreadId, spaceId: InSpace }),
  table: watchedWaiting,
  ...ofConversation,
  order: { field: "place", direction: "asc" },
  fields: ["_creationTime", "userId", "requestId", "place", "content", "attachments", "state"],
})

export const liveReads = defineLiveQuery({
  name: "chat.listReads",
  description:
    "How far the caller has read the conversations of a space, the last read first. What is beyond `messageCount` in chat.listThreads is unread.",
  args: v.strictObject({ spaceId: SpaceId, after: Page }),
  table: watchedReads,
  order: { field: "readAt", direction: "desc" },
  page: { argument: "after", size: 100 },
  range: ({ spaceId }, viewer: Viewer) => ({
    eq: { userId: viewer.user._id, spaceKey: spaceId.toLowerCase() },
  }),
  authorize: (viewer: Viewer, { spaceId }, sql: SnapshotSql) => isMember(viewer, spaceId, sql),
  dependencies: ({ spaceId }, viewer: Viewer) => [membershipOf(viewer, spaceId)],
  fields: ["threadId", "messageCount", "readAt"],
})

export const liveThreadShares = defineLiveQuery({
  name: "chat.listShares",
  description: "The links to one of the caller's conversations, or to one in a space, the newest first.",
  args: v.strictObject({ threadId: ThreadId, spaceId: InSpace }),
  table: watchedThreadShares,
  ...ofConversation,
  order: { field: "_id", direction: "desc" },
  fields: ["_creationTime", "threadId", "hint", "expiresAt", "passwordHash", "title"],
  project: threadShareSummary,
  row: ThreadShareRow,
})

/**
 * Who is there is known from the list of members. Their names do not say who they are, so each says
 * it, and again for those who come later.
 */
export const chatPresence = defineChannel({
  name: chatPresenceChannel.name,
  description:
    "Who has a conversation on the screen, and who is writing in it. Say so on joining, when it changes, every few seconds while writing, and again when there are new members. The `userId` must be the caller's.",
  query: liveMessages,
  message: Presence,
  accepts: ({ userId }, viewer: Viewer) => userId === viewer.user._id,
})

export const chatChannels = [chatPresence]

export const liveChat = [
  liveThreads,
  liveMessages,
  liveTurns,
  liveChunks,
  liveWaiting,
  liveReads,
  liveThreadShares,
]

async function mayReadThread(
  viewer: Viewer,
  threadId: string,
  spaceId: string | undefined,
  sql: SnapshotSql,
): Promise<boolean> {
  if (spaceId === undefined) {
    const own = await sql`
      select 1 from chat_threads
      where _id = ${threadId}::uuid and user_id = ${viewer.user._id}::uuid and space_key = ${PERSONAL}::uuid
        and not trashed`
    return own.length > 0
  }
  const there = await sql`
    select 1 from chat_threads
    where _id = ${threadId}::uuid and space_key = ${spaceId}::uuid and not trashed`
  return there.length > 0 && (await isMember(viewer, spaceId, sql))
}
