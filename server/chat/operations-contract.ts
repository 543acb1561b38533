import * as v from "valibot"
import { operations } from "#server/operations/contract.ts"
import { CreateThread, MessageId, MoveThread, PeopleOnly, ThreadId, ThreadRow, Title } from "./contract.ts"

const OfThread = v.strictObject({ threadId: ThreadId })
const ToPlace = v.strictObject({ ...OfThread.entries, ...MoveThread.entries })
const Stopped = v.strictObject({
  stopped: v.pipe(v.boolean(), v.description("Whether a reply was being generated.")),
})

/** What the attachments of a conversation are refused with in its next place. */
const OVER_QUOTA = [
  "too-many-files",
  "too-many-files-of-owner",
  "not-enough-space",
  "not-enough-space-of-owner",
  "not-enough-space-together",
  "not-enough-space-of-owner-together",
] as const

export const chatOperations = operations("chat", { tag: "Chat", missing: "conversation" })({
  createThread: {
    about: "Creates a conversation, personal or in a space. Without a title, it is named after the question.",
    may: "editor",
    missing: "space",
    input: CreateThread,
    output: ThreadRow,
    http: { at: "POST /api/chat/threads", id: "createThread", field: "thread", creates: true },
  },
  getThread: {
    about: "A conversation.",
    may: "member",
    input: OfThread,
    output: ThreadRow,
    http: { at: "GET /api/chat/threads/:threadId", id: "getThread", field: "thread" },
  },
  renameThread: {
    about: "Renames a conversation.",
    may: "editor",
    input: v.strictObject({ ...OfThread.entries, title: Title }),
    output: ThreadRow,
  },
  setPeopleOnly: {
    about:
      "Whether a conversation of a space is for people only: then the model replies only to messages that name it.",
    may: "editor",
    input: v.strictObject({ ...OfThread.entries, peopleOnly: PeopleOnly }),
    output: ThreadRow,
    refuses: { conflict: ["conversation-personal"] },
  },
  changeThread: {
    about: "Gives a conversation another title, or sets in a space that it is for people only.",
    may: "editor",
    input: v.strictObject({
      ...OfThread.entries,
      title: v.optional(Title),
      peopleOnly: v.optional(PeopleOnly),
    }),
    output: ThreadRow,
    refuses: { conflict: ["conversation-personal"] },
    http: { at: "PATCH /api/chat/threads/:threadId", id: "changeThread", field: "thread" },
    httpOnly: true,
  },
  markRead: {
    about: "Stores that the caller has seen all messages of a conversation of a space.",
    may: "member",
    input: OfThread,
  },
  removeThread: {
    about:
      "Moves a conversation to the trash, where it can be restored for a day. A reply being generated in it stops.",
    may: "editor",
    input: OfThread,
    http: { at: "DELETE /api/chat/threads/:threadId", id: "removeThread" },
  },
  restoreThread: {
    about: "Takes a conversation out of the trash.",
    may: "editor",
    input: OfThread,
    output: ThreadRow,
    http: { at: "POST /api/chat/threads/:threadId/restore", id: "restoreThread", field: "thread" },
  },
  moveThread: {
    about:
      "Moves a conversation into a space, or with no space to what is personal to the caller. Its public links end. Attached files that are elsewhere are copied along, or with `attachments: leave` taken off the messages.",
    may: "editor",
    input: ToPlace,
    output: ThreadRow,
    refuses: {
      not_found: ["no-such-space"],
      conflict: ["reply-running", "conversation-of-several"],
      too_large: OVER_QUOTA,
    },
    http: { at: "POST /api/chat/threads/:threadId/move", id: "moveThread", field: "thread" },
  },
  copyThread: {
    about:
      "Copies a conversation into a space, or with no space to what is personal to the caller, without its links and earlier versions. In a personal copy, messages of others begin with their names.",
    may: "member",
    input: ToPlace,
    output: ThreadRow,
    refuses: {
      forbidden: ["space-reader"],
      not_found: ["no-such-space"],
      conflict: ["reply-running"],
      too_large: OVER_QUOTA,
    },
    http: { at: "POST /api/chat/threads/:threadId/copy", id: "copyThread", field: "thread", creates: true },
  },
  stop: {
    about:
      "Asks the reply being generated in a conversation to stop. Its turn in chat.listTurns says when it has.",
    may: "editor",
    input: OfThread,
    output: Stopped,
  },
  stopAndWait: {
    about:
      "Stops the reply being generated in a conversation. Answers when it has ended, with its text so far stored.",
    may: "editor",
    input: OfThread,
    output: Stopped,
    http: { at: "POST /api/chat/threads/:threadId/stop", id: "stopAnswer" },
    httpOnly: true,
  },
  withdraw: {
    about:
      "Withdraws a waiting message. The caller's own is deleted; someone else's remains visible to its author, marked withdrawn.",
    may: "editor",
    missing: "waiting-message",
    input: v.strictObject({ waitingId: MessageId }),
    http: { at: "DELETE /api/chat/waiting/:waitingId", id: "withdrawMessage" },
  },
})
