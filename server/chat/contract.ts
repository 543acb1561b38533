import * as v from "valibot"
import { PageCursor, PageLength, RowCursor } from "#server/page-contract.ts"
import { reason } from "#server/reason-contract.ts"
import { linkLimits } from "#server/links/contract.ts"
import { withoutControlCharacters } from "#server/text-contract.ts"
import type { UIMessage, UIMessageChunk } from "ai"
import type { ChannelType, MutationType } from "#server/realtime/contract.ts"
import { Everywhere, InSpace, SpaceId } from "#server/spaces/place-contract.ts"
import { FileId, isTextType } from "#server/files/contract.ts"
import type {
  ReplyDelta,
  ReplyPart,
  Attachment,
  LeftOut,
  Recall,
  ChatChunk,
  ChatMessage,
  ChatRead,
  ChatReplacedMessage,
  ChatShare,
  ChatThread,
  ChatTurn,
  ChatWaiting,
} from "#db/schema/chat.ts"

export type { ReplyDelta, ReplyPart, Attachment, LeftOut, Recall }

/** A conversation as lists show it. */
export type ThreadSummary = Pick<
  ChatThread,
  "_id" | "_creationTime" | "title" | "lastMessageAt" | "spaceId" | "peopleOnly" | "messageCount"
>

/** How far the viewer has read a conversation of a space. */
export type ThreadRead = Pick<ChatRead, "_id" | "threadId" | "messageCount" | "readAt">

export interface ThreadPage {
  threads: ThreadSummary[]
  /** Cursor of the conversations after these; null if there are none. */
  nextCursor: string | null
}

/** A message. If it is a reply, with the turn that produced it. */
export type Entry = Pick<
  ChatMessage,
  "_id" | "_creationTime" | "userId" | "role" | "content" | "attachments" | "edited" | "mentions"
> & {
  /** The sender's own id for the message, which its reply has too. */
  requestId: string | null
  turn: Pick<
    ChatTurn,
    "status" | "model" | "parts" | "failure" | "inputTokens" | "outputTokens" | "finishReason" | "recall"
  > | null
}

/**
 * A message of the live list. Its turn is in the list of turns, with the sender's id for it; the
 * message itself has that id if it was sent to the people in a space.
 */
export type LiveMessage = Omit<Entry, "turn">

export type LiveTurn = Pick<ChatTurn, "_id" | "questionId" | "requestId"> & NonNullable<Entry["turn"]>

/**
 * A chunk of a reply in progress. When the reply ends, its message has all the text and the chunks
 * are deleted.
 */
export type LiveChunk = Pick<ChatChunk, "_id" | "turnId" | "seq" | "delta">

/** A message that waits for the replies to those before it, or that was withdrawn. */
export type WaitingMessage = Pick<
  ChatWaiting,
  "_id" | "_creationTime" | "userId" | "requestId" | "place" | "content" | "attachments" | "state"
>

export interface EntryPage {
  /** Oldest first. */
  entries: Entry[]
  /** Cursor of the messages before these; null if there are none. */
  earlierCursor: string | null
}

/** A message that an edit removed from its conversation. */
export type ReplacedEntry = Omit<ChatReplacedMessage, "threadId" | "replacedBy">

export interface ReplacedPage {
  /** Oldest first. Messages with the same `replacedAt` were removed by one edit. */
  entries: ReplacedEntry[]
  /** Cursor of the messages before these; null if there are none. */
  earlierCursor: string | null
}

/** Why a reply ended before the model was done. */
export type StopReason = Extract<ChatTurn["status"], "stopped" | "timeout" | "interrupted">

/** What the stream reports about a reply besides its parts. */
export interface ReplyMetadata {
  model?: string
  /** The stored message, if the conversation is stored. */
  questionId?: string
  stop?: StopReason
  inputTokens?: number
  outputTokens?: number
  /** Why the model ended its reply. */
  finishReason?: FinishReason
  /** What the model did not receive of the conversation. */
  recall?: Recall
}

export type FinishReason = NonNullable<ChatTurn["finishReason"]>

/** Why a reply is incomplete although the model ended it. */
export type Shortfall = "empty" | "withheld" | "used-up" | "filtered" | "length" | "steps"

/** Null for a complete reply, and for one whose `status` already gives the reason. */
export function shortfallOf(
  { status, finishReason }: Pick<ChatTurn, "status" | "finishReason">,
  hasText: boolean,
): Shortfall | null {
  if (status !== "completed") return null
  if (finishReason === "content-filter") return hasText ? "filtered" : "withheld"
  if (finishReason === "length") return hasText ? "length" : "used-up"
  if (finishReason === "tool-calls") return "steps"
  return hasText ? null : "empty"
}

/** A message can have the user's own files: parts of the type `data-file`. */
export type ChatUIMessage = UIMessage<ReplyMetadata, { file: FileReference }>

/** In place of a reply to a message that asks nobody, the stream says only that it is stored. */
export type ReplyChunk = UIMessageChunk<ReplyMetadata, { stored: { questionId: string } }>

/** Characters of one message. */
export const MESSAGE_LIMIT = 32_000

/** Messages of one request. */
export const MESSAGES_LIMIT = 200

/** Files of one question. */
export const ATTACHMENTS_LIMIT = 10

/** Bytes of one image, and of all images, in one request to the model. */
export const IMAGE_LIMIT = 5 * 1024 * 1024
export const IMAGES_LIMIT = 20 * 1024 * 1024

/** Bytes of an attached image of a type that can be made smaller for the model. */
const SHRINKABLE_LIMIT = 50 * 1024 * 1024
const SHRINKABLE_TYPES = new Set(["image/jpeg", "image/png", "image/webp"])

/** What one counts as among all images of a message. */
export const SHRUNK_SIZE = 2 * 1024 * 1024

/** Bytes that an attached image of this type can have. */
export function imageLimit(mimeType: string): number {
  return SHRINKABLE_TYPES.has(mimeType) ? SHRINKABLE_LIMIT : IMAGE_LIMIT
}

const IMAGE_TYPES = new Set(["image/png", "image/jpeg", "image/webp", "image/gif"])

/** How the model receives a file of this type; null if it cannot. */
export function attachableAs(mimeType: string): "image" | "text" | null {
  if (IMAGE_TYPES.has(mimeType)) return "image"
  return isTextType(mimeType) ? "text" : null
}

/** One of the viewer's own files, named by a message part of the type `data-file`. */
export const FileReference = v.object({ fileId: FileId })
export type FileReference = v.InferOutput<typeof FileReference>

/** Characters of a search. */
export const SEARCH_LIMIT = 200

/** The query of a search. */
export const SearchQuery = v.strictObject({
  q: v.optional(
    v.pipe(v.string(), v.maxLength(SEARCH_LIMIT, reason("search-too-long", { most: SEARCH_LIMIT }))),
    "",
  ),
  spaceId: v.optional(SpaceId),
  everywhere: Everywhere,
})
export type SearchQuery = v.InferOutput<typeof SearchQuery>

/** The query of an export. */
export const ExportQuery = v.strictObject({
  format: v.optional(v.picklist(["markdown", "json"], reason("export-format-unknown")), "markdown"),
})
export type ExportQuery = v.InferOutput<typeof ExportQuery>

/**
 * Plain text around a match. `matches` are positions in `text`, start and end, in UTF-16 units;
 * they never overlap.
 */
export interface Snippet {
  text: string
  matches: [from: number, to: number][]
}

export interface SearchResult {
  thread: ThreadSummary
  /**
   * The latest matching message; null if only the title matched, and then the snippet is of the
   * title.
   */
  messageId: string | null
  snippet: Snippet
}

export interface SearchResults {
  /** One for each conversation, the most recently used first. */
  results: SearchResult[]
}

export const TITLE_LIMIT = 200

export const UNTITLED = "New conversation"

export const ThreadId = v.pipe(v.string(), v.uuid())
export const MessageId = v.pipe(v.string(), v.uuid())

const Title = v.pipe(
  v.string(reason("title-missing")),
  v.transform((text) => text.replaceAll(/\s+/g, " ").trim()),
  v.nonEmpty(reason("title-missing")),
  v.maxLength(TITLE_LIMIT, reason("title-too-long", { most: TITLE_LIMIT })),
  withoutControlCharacters,
)

/**
 * With a `question` and no title, the title is the start of the question; a model may replace it
 * later.
 */
export const CreateThread = v.strictObject({
  title: v.optional(Title),
  question: v.optional(v.pipe(v.string(), v.maxLength(MESSAGE_LIMIT))),
  /** A personal conversation without it. */
  spaceId: InSpace,
})
export type CreateThread = v.InferOutput<typeof CreateThread>

export const RenameThread = v.strictObject({ title: Title })
export type RenameThread = v.InferOutput<typeof RenameThread>

export const SetPeopleOnly = v.strictObject({
  peopleOnly: v.pipe(
    v.boolean(),
    v.description("In a space: the model replies only to messages that name it, as in `@Assistant`."),
  ),
})
export type SetPeopleOnly = v.InferOutput<typeof SetPeopleOnly>

/** One of them, or both. */
export const ChangeThread = v.pipe(
  v.strictObject({
    title: v.optional(RenameThread.entries.title),
    peopleOnly: v.optional(SetPeopleOnly.entries.peopleOnly),
  }),
  v.check(
    ({ title, peopleOnly }) => title !== undefined || peopleOnly !== undefined,
    reason("title-missing"),
  ),
)

/**
 * Where a conversation is moved or copied to, and whether files of other places that are attached to
 * its messages are copied along or taken off them.
 */
export const MoveThread = v.strictObject({
  spaceId: InSpace,
  attachments: v.optional(v.picklist(["copy", "leave"], reason("attachments-unfit")), "copy"),
})
export type MoveThread = v.InferOutput<typeof MoveThread>

interface OfMove {
  threadId: string
  spaceId?: string | undefined
  attachments?: MoveThread["attachments"]
}

/**
 * What a link to a conversation shows: the conversation as it is at each visit, or as it was when
 * the link was created. A missing or null limit is no limit.
 */
export const ShareThread = v.strictObject({
  ...linkLimits,
  shows: v.optional(v.picklist(["live", "copy"], reason("link-shows-unfit")), "live"),
})
export type ShareThread = v.InferOutput<typeof ShareThread>

export const ThreadShareId = v.pipe(v.string(), v.uuid())

/** A link as its owner sees it. Its URL is shown once, when it is created. */
export type ThreadShareSummary = Pick<
  ChatShare,
  "_id" | "_creationTime" | "threadId" | "hint" | "expiresAt"
> & { hasPassword: boolean; shows: ShareThread["shows"] }

/** The response to the person who creates a link. */
export interface NewThreadShare {
  share: ThreadShareSummary
  /** The whole URL. It is not stored anywhere. */
  url: string
}

/** A message as a link's visitors see it: without ids of files, and without how it came about. */
export type SharedMessage = Pick<ChatMessage, "_id" | "_creationTime" | "role" | "content"> & {
  files: string[]
  isGrowing: boolean
}

/** The conversation is null until the visitor has entered the link's password. */
export interface SharedConversation {
  /** The name in their profile. */
  sharedBy: string | null
  conversation:
    | (Pick<ChatThread, "title"> &
        Pick<ChatShare, "expiresAt"> & {
          isLive: boolean
          /** Oldest first. */
          messages: SharedMessage[]
          /** Cursor of the messages before these; null if there are none. */
          earlierCursor: string | null
        })
    | null
}

export interface Stopped {
  /** Whether a reply was being generated. */
  stopped: boolean
}

/** The functions that can be called by name over the socket. */
export const chatCalls: {
  createThread: MutationType<
    "chat.createThread",
    { title?: string | undefined; question?: string | undefined; spaceId?: string | undefined },
    ThreadSummary
  >
  renameThread: MutationType<"chat.renameThread", { threadId: string; title: string }, ThreadSummary>
  setPeopleOnly: MutationType<"chat.setPeopleOnly", { threadId: string; peopleOnly: boolean }, ThreadSummary>
  /** All of its messages, by the caller. */
  markRead: MutationType<"chat.markRead", { threadId: string }, void>
  /** Moves it to the trash, from which it can be restored for a day. */
  removeThread: MutationType<"chat.removeThread", { threadId: string }, void>
  restoreThread: MutationType<"chat.restoreThread", { threadId: string }, ThreadSummary>
  /** To another place: see MoveThread. */
  moveThread: MutationType<"chat.moveThread", OfMove, ThreadSummary>
  copyThread: MutationType<"chat.copyThread", OfMove, ThreadSummary>
  /** Ends the reply in progress and keeps its text so far. Its turn shows when it has ended. */
  stop: MutationType<"chat.stop", { threadId: string }, Stopped>
  /** Withdraws a waiting message. */
  withdraw: MutationType<"chat.withdraw", { waitingId: string }, void>
  revokeShare: MutationType<"chat.revokeShare", { shareId: string }, void>
} = {
  createThread: { name: "chat.createThread" },
  renameThread: { name: "chat.renameThread" },
  setPeopleOnly: { name: "chat.setPeopleOnly" },
  markRead: { name: "chat.markRead" },
  removeThread: { name: "chat.removeThread" },
  restoreThread: { name: "chat.restoreThread" },
  moveThread: { name: "chat.moveThread" },
  copyThread: { name: "chat.copyThread" },
  stop: { name: "chat.stop" },
  withdraw: { name: "chat.withdraw" },
  revokeShare: { name: "chat.revokeShare" },
}

/** What somebody is doing in a conversation. */
export const Presence = v.strictObject({
  userId: v.pipe(v.string(), v.uuid()),
  state: v.picklist(["reading", "writing"]),
})
export type Presence = v.InferOutput<typeof Presence>

export const chatPresenceChannel: ChannelType<"chat.presence", Presence> = { name: "chat.presence" }

/** The query of a list of messages. */
export const PageQuery = v.strictObject({ cursor: RowCursor, limit: PageLength })
export type PageQuery = v.InferOutput<typeof PageQuery>

/** The query of the list of conversations: the caller's own, or those in a space. */
export const ThreadsQuery = v.strictObject({
  cursor: PageCursor,
  limit: PageLength,
  spaceId: v.optional(v.string()),
})
export type ThreadsQuery = v.InferOutput<typeof ThreadsQuery>

/** The response to a request with `Prefer: respond-async`. Everything else is in the records. */
export interface Asked {
  threadId: string
  questionId: string
  answerId: string
}

/** The same for a message to the people in a space, which asks nobody. */
export interface Stored {
  threadId: string
  questionId: string
  answerId: null
}

/** The same if the message waits: it becomes a message, with ids of its own, when its reply begins. */
export interface Waits {
  threadId: string
  waitingId: string
  /** How many messages wait before it, besides the one that is being replied to. */
  ahead: number
}

/** The start of a message, as the title of its conversation. */
export function titleOf(question: string): string {
  const words = question.replace(/\s+/g, " ").trim()
  if (words.length <= 60) return words || UNTITLED
  const cut = words.slice(0, 60).replace(/[\uD800-\uDBFF]$/, "")
  const lastWord = cut.lastIndexOf(" ")
  return `${cut.slice(0, lastWord < 40 ? cut.length : lastWord)}…`
}

/** The content of a reply's chunks: its text, and its parts if it has more than text. */
export interface FoldedReply {
  content: string
  parts: ReplyPart[] | null
}

/** The content of one reply's chunks, in any order. */
export function foldChunks(chunks: readonly Pick<LiveChunk, "seq" | "delta">[]): FoldedReply {
  const fold = beginFold()
  for (const { delta } of chunks.toSorted((one, other) => one.seq - other.seq)) delta.forEach(fold.add)
  return fold.read()
}

/** The same, one delta at a time, for a reply in progress. */
export function beginFold() {
  const parts: ReplyPart[] = []
  const texts = new Map<string, ReplyPart & { type: "text" | "reasoning" }>()
  const tools = new Map<string, ReplyPart & { type: "tool" }>()

  return {
    add(delta: ReplyDelta) {
      if (delta.type === "tool") addTool(delta)
      else addText(delta)
    },
    read(): FoldedReply {
      const words = parts.filter((part) => part.type === "text").map((part) => part.text)
      return {
        content: words.join("\n\n"),
        parts: parts.length === words.length && words.length < 2 ? null : parts.map((part) => ({ ...part })),
      }
    },
  }

  function addText({ type, id, text }: ReplyDelta & { type: "text" | "reasoning" }) {
    const known = texts.get(id)
    if (known) {
      known.text += text
      return
    }
    const begun = { type, text }
    texts.set(id, begun)
    parts.push(begun)
  }

  function addTool({ callId, name, ...known }: ReplyDelta & { type: "tool" }) {
    let part = tools.get(callId)
    if (!part) {
      part = { type: "tool", callId, name: "unknown" }
      tools.set(callId, part)
      parts.push(part)
    }
    Object.assign(part, name !== undefined && { name }, known)
  }
}
