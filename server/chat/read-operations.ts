import * as v from "valibot"
import { AttachmentRows, MentionRows, RecallRows } from "#db/schema/chat-json.ts"
import type { ChatWaiting, ReplyPart } from "#db/schema/chat.ts"
import { operations, record } from "#server/operations/contract.ts"
import { MessageId, PageQuery, SearchQuery, ThreadId, ThreadRow } from "./contract.ts"

const count = v.pipe(v.number(), v.integer())
const cursor = v.nullable(v.string())

/** What is published of a part is less than its type, so that clients expect others. */
const Parts: v.GenericSchema = v.array(v.looseObject({ type: v.picklist(["text", "reasoning", "tool"]) }))

const Turn = v.strictObject({
  status: v.picklist(["running", "completed", "stopped", "timeout", "interrupted", "failed"]),
  model: v.string(),
  parts: v.nullable(Parts as v.GenericSchema<unknown, ReplyPart[]>),
  failure: v.nullable(v.string()),
  finishReason: v.pipe(
    v.nullable(v.picklist(["stop", "length", "content-filter", "tool-calls", "error", "other"])),
    v.description("Why the model ended its answer. Null while it runs, and where something else ended it."),
  ),
  inputTokens: v.nullable(v.number()),
  outputTokens: v.nullable(v.number()),
  recall: v.nullable(RecallRows),
})

const Said = {
  ...record,
  userId: v.pipe(
    v.string(),
    v.uuid(),
    v.description("Who wrote the message, or asked for the reply. `spaces.members` has their name."),
  ),
  role: v.picklist(["user", "assistant"]),
  content: v.string(),
  attachments: v.pipe(
    v.nullable(AttachmentRows),
    v.description("A question's files as they were when it was asked. They may be gone since."),
  ),
  turn: v.pipe(v.nullable(Turn), v.description("How an answer came about; null for a question.")),
}

/** A message. If it is a reply, with the turn that produced it. */
export const Entry = v.strictObject({
  ...Said,
  edited: v.pipe(v.boolean(), v.description("A question or reply that replaced another, which is kept.")),
  requestId: v.pipe(
    v.nullable(v.string()),
    v.description("The sender's own id of the question, which its reply has too."),
  ),
  mentions: v.nullable(MentionRows),
})
export type Entry = v.InferOutput<typeof Entry>

/**
 * A message of the live list. Its turn is in the list of turns, with the sender's id for it; the
 * message itself has that id if it was sent to the people in a space.
 */
export type LiveMessage = Omit<Entry, "turn">

export type LiveTurn = { _id: string; questionId: string; requestId: string } & NonNullable<Entry["turn"]>

/** A message that an edit removed from its conversation. */
export const ReplacedEntry = v.strictObject({
  ...Said,
  turn: v.pipe(v.nullable(v.omit(Turn, ["recall"])), v.description("As of a message.")),
  replacedAt: v.pipe(
    count,
    v.description("When it was replaced. Messages with the same value were removed together."),
  ),
})
export type ReplacedEntry = v.InferOutput<typeof ReplacedEntry>

/** A message that waits for the replies to those before it, or that was withdrawn. */
export type WaitingMessage = Pick<
  ChatWaiting,
  "_id" | "_creationTime" | "userId" | "requestId" | "place" | "content" | "attachments" | "state"
>

const Snippet = v.strictObject({
  text: v.pipe(v.string(), v.description("Plain text.")),
  matches: v.pipe(
    v.array(v.tuple([count, count])),
    v.description("What was found in the text, from and up to, in UTF-16 units. They never overlap."),
  ),
})
export type Snippet = v.InferOutput<typeof Snippet>

const SearchResult = v.strictObject({
  thread: ThreadRow,
  messageId: v.pipe(
    v.nullable(v.pipe(v.string(), v.uuid())),
    v.description("The latest message that was found; null where only the title was."),
  ),
  snippet: Snippet,
})
export type SearchResult = v.InferOutput<typeof SearchResult>

const EntryPage = v.strictObject({ entries: v.array(Entry), earlierCursor: cursor })
export type EntryPage = v.InferOutput<typeof EntryPage>
const ReplacedPage = v.strictObject({ entries: v.array(ReplacedEntry), earlierCursor: cursor })
export type ReplacedPage = v.InferOutput<typeof ReplacedPage>
const SearchResults = v.strictObject({ results: v.array(SearchResult) })
export type SearchResults = v.InferOutput<typeof SearchResults>

const OfThread = v.strictObject({ threadId: ThreadId })

/** Apart from the changes, whose declarations browsers load. */
export const chatReads = operations("chat", { tag: "Chat", missing: "conversation" })({
  listMessages: {
    about: "The latest messages of a conversation, or those before the cursor, the oldest first.",
    may: "member",
    input: v.strictObject({ ...OfThread.entries, ...PageQuery.entries }),
    output: EntryPage,
    http: { at: "GET /api/chat/threads/:threadId/messages", id: "listMessages" },
  },
  listReplaced: {
    about:
      "The earlier versions of an edited question or a replaced reply, and of everything after it, the oldest first.",
    may: "member",
    input: v.strictObject({ ...OfThread.entries, messageId: MessageId, ...PageQuery.entries }),
    output: ReplacedPage,
    refuses: { not_found: ["no-such-question", "no-such-earlier-version"] },
    http: {
      at: "GET /api/chat/threads/:threadId/messages/:messageId/replaced",
      id: "listReplacedMessages",
    },
  },
  search: {
    about:
      "Finds conversations by their titles and messages. All words must be there; the last may be the beginning of one. One result for each conversation, the last used first, at most 50.",
    may: "member",
    missing: "space",
    input: SearchQuery,
    output: SearchResults,
    http: { at: "GET /api/chat/search", id: "searchThreads" },
  },
})
