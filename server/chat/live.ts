import * as v from "valibot"
import type { Scope, Viewer } from "#server/scope.ts"
import { defineLiveQuery, defineMutation, type SnapshotSql } from "#server/realtime/live-query.ts"
import { watchedChunks, watchedMessages, watchedThreads, watchedTurns } from "#server/watched-tables.ts"
import { chatCalls, CreateThread, RenameThread, ThreadId } from "./contract.ts"
import { requestStop, type StopScope } from "./stop.ts"
import { createThread, findThread, renameThread } from "./threads.ts"
import { restoreThread, trashThread } from "./trash.ts"

const Page = v.optional(v.pipe(v.string(), v.maxLength(200)))

/** The viewer's conversations, the last used first. `after` is the `end` of the page before. */
export const liveThreads = defineLiveQuery({
  name: "chat.listThreads",
  args: v.strictObject({ after: Page }),
  table: watchedThreads,
  range: ({ after }, viewer: Viewer) => ({
    eq: { userId: viewer.user._id, trashed: false },
    order: { field: "lastMessageAt", direction: "desc" },
    after,
    limit: 50,
  }),
  fields: ["_creationTime", "title", "lastMessageAt"],
})

/**
 * What a list of one conversation's rows asks and may ask: the newest first, `after` leads to
 * earlier ones.
 */
const ofConversation = {
  args: v.strictObject({ threadId: ThreadId, after: Page }),
  range: ({ threadId, after }: { threadId: string; after?: string | undefined }, viewer: Viewer) =>
    ({
      eq: { userId: viewer.user._id, threadId },
      order: { field: "_id", direction: "desc" },
      after,
      limit: 50,
    }) as const,
  authorize: (viewer: Viewer, { threadId }: { threadId: string }, sql: SnapshotSql) =>
    ownsThread(viewer, threadId, sql),
  // A thread's row changes with every message; only its going away, or into the trash, takes the
  // messages with it.
  dependencies: ({ threadId }: { threadId: string }, viewer: Viewer) => [
    {
      table: watchedThreads,
      eq: { userId: viewer.user._id, _id: threadId, trashed: false },
      on: "leave" as const,
    },
  ],
}

/** The messages of one of the viewer's conversations. */
export const liveMessages = defineLiveQuery({
  name: "chat.listMessages",
  table: watchedMessages,
  ...ofConversation,
  fields: ["_creationTime", "role", "content", "attachments", "edited"],
})

/**
 * How the answers of a conversation came about, and which one is being given. Beside
 * `chat.listMessages`.
 */
export const liveTurns = defineLiveQuery({
  name: "chat.listTurns",
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
  ],
})

/**
 * What is said in a conversation while it is being said, a row for each quarter of a second;
 * `foldChunks` makes an answer of them.
 */
export const liveChunks = defineLiveQuery({
  name: "chat.listChunks",
  table: watchedChunks,
  ...ofConversation,
  args: v.strictObject({ threadId: ThreadId }),
  // Without pages: an answer takes minutes at most, and all of its words belong together.
  range: ({ threadId }, viewer: Viewer) => ({
    eq: { userId: viewer.user._id, threadId },
    order: { field: "_id", direction: "asc" },
  }),
  fields: ["turnId", "seq", "delta"],
})

export const liveChat = [liveThreads, liveMessages, liveTurns, liveChunks]

export const chatMutations = [
  defineMutation({
    name: chatCalls.createThread.name,
    args: CreateThread,
    run: (scope: Scope<"db" | "viewer">, thread) => createThread(scope, thread),
  }),
  defineMutation({
    name: chatCalls.renameThread.name,
    args: v.strictObject({ threadId: ThreadId, ...RenameThread.entries }),
    run: (scope: Scope<"db" | "viewer">, { threadId, title }) => renameThread(scope, threadId, { title }),
  }),
  defineMutation({
    name: chatCalls.removeThread.name,
    args: v.strictObject({ threadId: ThreadId }),
    run: (scope: StopScope, { threadId }) => trashThread(scope, threadId),
  }),
  defineMutation({
    name: chatCalls.restoreThread.name,
    args: v.strictObject({ threadId: ThreadId }),
    run: (scope: Scope<"db" | "viewer">, { threadId }) => restoreThread(scope, threadId),
  }),
  defineMutation({
    name: chatCalls.stop.name,
    args: v.strictObject({ threadId: ThreadId }),
    async run(scope: StopScope, { threadId }) {
      await findThread(scope, threadId)
      return { stopped: (await requestStop(scope, threadId)) !== null }
    },
  }),
]

async function ownsThread(viewer: Viewer, threadId: string, sql: SnapshotSql): Promise<boolean> {
  const own = await sql`
    select 1 from chat_threads
    where _id = ${threadId}::uuid and user_id = ${viewer.user._id}::uuid and not trashed`
  return own.length > 0
}
