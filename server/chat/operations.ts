import * as v from "valibot"
import { InNamedSpace } from "#server/spaces/place-contract.ts"
import { implement } from "#server/operations/implement.ts"
import { listOf } from "#server/operations/list.ts"
import { liveThreads, liveWaiting } from "./live.ts"
import { listMessages } from "./messages.ts"
import { copyThread, moveThread } from "./move.ts"
import { chatOperations } from "./operations-contract.ts"
import { chatReads } from "./read-operations.ts"
import { markThreadRead } from "./reads.ts"
import { listReplaced } from "./replaced.ts"
import { threadShareFunctions } from "./shares.ts"
import { searchThreads } from "./search.ts"
import { requestStop, stopReply } from "./stop.ts"
import { changeThread, createThread, findThread } from "./threads.ts"
import { restoreThread, trashThread } from "./trash.ts"
import { withdrawMessage } from "./waiting.ts"

const performed = implement(chatOperations, {
  createThread,
  getThread: (scope, { threadId }) => findThread(scope, threadId),
  renameThread: (scope, { threadId, title }) => changeThread(scope, threadId, { title }),
  setPeopleOnly: (scope, { threadId, peopleOnly }) => changeThread(scope, threadId, { peopleOnly }),
  changeThread: (scope, { threadId, ...changes }) => changeThread(scope, threadId, changes),
  markRead: (scope, { threadId }) => markThreadRead(scope, threadId),
  removeThread: (scope, { threadId }) => trashThread(scope, threadId),
  restoreThread: (scope, { threadId }) => restoreThread(scope, threadId),
  moveThread: (scope, { threadId, ...to }) => moveThread(scope, threadId, to),
  copyThread: (scope, { threadId, ...to }) => copyThread(scope, threadId, to),
  stop: async (scope, { threadId }) => ({ stopped: (await requestStop(scope, threadId)) !== null }),
  stopAndWait: async (scope, { threadId }) => ({ stopped: await stopReply(scope, threadId) }),
  withdraw: (scope, { waitingId }) => withdrawMessage(scope, waitingId),
})

const read = implement(chatReads, {
  listMessages: (scope, { threadId, ...page }) => listMessages(scope, threadId, page),
  listReplaced: (scope, { threadId, messageId, ...page }) => listReplaced(scope, threadId, messageId, page),
  search: (scope, query) => searchThreads(scope, query),
})

const ofMember = { tag: "Chat", may: "member" } as const

export const chatFunctions = [
  ...performed,
  ...read,
  ...threadShareFunctions,
  listOf(liveThreads, {
    ...ofMember,
    missing: "space",
    input: v.strictObject({ spaceId: InNamedSpace }),
    http: { at: "GET /api/chat/threads", id: "listThreads", field: "threads" },
  }),
  listOf(liveWaiting, {
    ...ofMember,
    missing: "conversation",
    input: v.strictObject({ threadId: v.string() }),
    http: { at: "GET /api/chat/threads/:threadId/waiting", id: "listWaitingMessages", field: "waiting" },
    async args(scope, { threadId }) {
      const { spaceId } = await findThread(scope, threadId)
      return { threadId, ...(spaceId !== null && { spaceId }) }
    },
  }),
]
