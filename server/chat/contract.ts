import * as v from "valibot"
import { withoutControlCharacters } from "#server/text-contract.ts"
import type { UIMessage, UIMessageChunk } from "ai"
import type { MutationType } from "#server/realtime/contract.ts"
import { FileId, isTextType } from "#server/files/contract.ts"
import type {
  ReplyDelta,
  ReplyPart,
  Attachment,
  ChatChunk,
  ChatMessage,
  ChatReplacedMessage,
  ChatThread,
  ChatTurn,
} from "#db/schema/chat.ts"

export type { ReplyDelta, ReplyPart, Attachment }

/** A conversation as lists show it. */
export type ThreadSummary = Pick<ChatThread, "_id" | "_creationTime" | "title" | "lastMessageAt">

export interface ThreadPage {
  threads: ThreadSummary[]
  /** Cursor of the conversations after these; null if there are none. */
  nextCursor: string | null
}

/** A message, and how it came about where it is an answer. */
export type Entry = Pick<
  ChatMessage,
  "_id" | "_creationTime" | "role" | "content" | "attachments" | "edited"
> & {
  /** The sender's own id for the question: it and its answer have the same. */
  requestId: string | null
  turn: Pick<
    ChatTurn,
    "status" | "model" | "parts" | "failure" | "inputTokens" | "outputTokens" | "finishReason"
  > | null
}

/** A message as the live list has it: how it came about stands in the list of turns. */
export type LiveMessage = Omit<Entry, "requestId" | "turn">

export type LiveTurn = Pick<ChatTurn, "_id" | "questionId" | "requestId"> & NonNullable<Entry["turn"]>

/**
 * A piece of an answer that is being given: when the answer is over, its message has the words and
 * the pieces are gone.
 */
export type LiveChunk = Pick<ChatChunk, "_id" | "turnId" | "seq" | "delta">

export interface EntryPage {
  /** Oldest first. */
  entries: Entry[]
  /** Cursor of the messages before these; null if there are none. */
  earlierCursor: string | null
}

/** A message that an edit took out of its conversation. */
export type ReplacedEntry = Omit<ChatReplacedMessage, "userId" | "threadId" | "replacedBy">

export interface ReplacedPage {
  /** Oldest first. Those with the same `replacedAt` were taken out by one edit. */
  entries: ReplacedEntry[]
  /** Cursor of the messages before these; null if there are none. */
  earlierCursor: string | null
}

/** Why a reply ended before the model was done. */
export type StopReason = Extract<ChatTurn["status"], "stopped" | "timeout" | "interrupted">

/** What the stream says of an answer besides its parts. */
export interface ReplyMetadata {
  model?: string
  /** The stored question, where the conversation is stored. */
  questionId?: string
  stop?: StopReason
  inputTokens?: number
  outputTokens?: number
  /** Why the model ended its reply. */
  finishReason?: FinishReason
}

export type FinishReason = NonNullable<ChatTurn["finishReason"]>

/** What is missing of an answer although the model ended it. */
export type Shortfall = "empty" | "withheld" | "used-up" | "filtered" | "length" | "steps"

/** Null for an answer that is whole, and for one whose `status` says already why it is not. */
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

/** A question may come with the user's own files: parts of the type `data-file`. */
export type ChatUIMessage = UIMessage<ReplyMetadata, { file: FileReference }>
export type ReplyChunk = UIMessageChunk<ReplyMetadata>

/** Characters of one message. */
export const MESSAGE_LIMIT = 32_000

/** Messages of one request. */
export const MESSAGES_LIMIT = 200

/** Files of one question. */
export const ATTACHMENTS_LIMIT = 10

/** Bytes of one attached image, and of all that the model is given at once. */
export const IMAGE_LIMIT = 5 * 1024 * 1024
export const IMAGES_LIMIT = 20 * 1024 * 1024

const IMAGE_TYPES = new Set(["image/png", "image/jpeg", "image/webp", "image/gif"])

/** As what the model is given a file of this type; null where it cannot be given one. */
export function attachableAs(mimeType: string): "image" | "text" | null {
  if (IMAGE_TYPES.has(mimeType)) return "image"
  return isTextType(mimeType) ? "text" : null
}

/** One of the viewer's own files, as a question's part of the type `data-file` names it. */
export const FileReference = v.object({ fileId: FileId })
export type FileReference = v.InferOutput<typeof FileReference>

/** Characters of a search. */
export const SEARCH_LIMIT = 200

/** The query of a search. */
export const SearchQuery = v.object({
  q: v.optional(
    v.pipe(v.string(), v.maxLength(SEARCH_LIMIT, `A search can have ${SEARCH_LIMIT} characters at most.`)),
    "",
  ),
})
export type SearchQuery = v.InferOutput<typeof SearchQuery>

/** The query of an export. */
export const ExportQuery = v.object({
  format: v.optional(v.picklist(["markdown", "json"], "The format is markdown or json."), "markdown"),
})
export type ExportQuery = v.InferOutput<typeof ExportQuery>

/**
 * Plain text around what was found. `matches` are its places in `text`, from and up to, in UTF-16
 * units; never overlapping.
 */
export interface Snippet {
  text: string
  matches: [from: number, to: number][]
}

export interface SearchResult {
  thread: ThreadSummary
  /**
   * The latest message that was found; null where only the title was, and the snippet is of the
   * title then.
   */
  messageId: string | null
  snippet: Snippet
}

export interface SearchResults {
  /** One for each conversation, the last used first. */
  results: SearchResult[]
}

export const TITLE_LIMIT = 200

export const UNTITLED = "New conversation"

export const ThreadId = v.pipe(v.string(), v.uuid())
export const MessageId = v.pipe(v.string(), v.uuid())

const Title = v.pipe(
  v.string("Give the conversation a title."),
  v.transform((text) => text.replaceAll(/\s+/g, " ").trim()),
  v.nonEmpty("Give the conversation a title."),
  v.maxLength(TITLE_LIMIT, `A title can have ${TITLE_LIMIT} characters at most.`),
  withoutControlCharacters,
)

/**
 * With a `question` and no title the title is the question's first words, and a model may find a
 * better one later.
 */
export const CreateThread = v.object({
  title: v.optional(Title),
  question: v.optional(v.pipe(v.string(), v.maxLength(MESSAGE_LIMIT))),
})
export type CreateThread = v.InferOutput<typeof CreateThread>

export const RenameThread = v.object({ title: Title })
export type RenameThread = v.InferOutput<typeof RenameThread>

export interface Stopped {
  /** Whether a reply was being generated. */
  stopped: boolean
}

/** What may be called by name over the socket. */
export const chatCalls: {
  createThread: MutationType<
    "chat.createThread",
    { title?: string | undefined; question?: string | undefined },
    ThreadSummary
  >
  renameThread: MutationType<"chat.renameThread", { threadId: string; title: string }, ThreadSummary>
  /** Moves it to the trash, from where it can be restored for a day. */
  removeThread: MutationType<"chat.removeThread", { threadId: string }, void>
  restoreThread: MutationType<"chat.restoreThread", { threadId: string }, ThreadSummary>
  /**
   * Ends the answer that is being given, and keeps what was said. Its turn tells when it is over.
   */
  stop: MutationType<"chat.stop", { threadId: string }, Stopped>
} = {
  createThread: { name: "chat.createThread" },
  renameThread: { name: "chat.renameThread" },
  removeThread: { name: "chat.removeThread" },
  restoreThread: { name: "chat.restoreThread" },
  stop: { name: "chat.stop" },
}

/**
 * The query of a list of conversations or messages. What cannot be understood is read as if it were
 * not there.
 */
export const PageQuery = v.object({
  cursor: v.fallback(v.optional(v.pipe(v.string(), v.maxLength(100))), undefined),
  limit: v.fallback(
    v.optional(v.pipe(v.string(), v.toNumber(), v.integer(), v.minValue(1), v.maxValue(100)), "50"),
    50,
  ),
})
export type PageQuery = v.InferOutput<typeof PageQuery>

/**
 * The body of `POST /api/chat`. With a thread the conversation is stored, and only the last message
 * is read.
 */
export const ChatRequest = v.object({
  messages: v.array(v.unknown()),
  threadId: v.nullish(v.string()),
  /** `regenerate-message` asks for another answer to the last question. */
  trigger: v.fallback(v.optional(v.string()), undefined),
  /**
   * This question takes the place of another of the conversation. That one and what followed it are
   * kept as its earlier version.
   */
  replaces: v.pipe(v.nullish(v.string()), v.description("The `_id` of a question of the conversation.")),
})
export type ChatRequest = v.InferOutput<typeof ChatRequest>

/**
 * The answer to a question that was asked with `Prefer: respond-async`: the records have the rest.
 */
export interface Asked {
  threadId: string
  questionId: string
  answerId: string
}

/** The first words of a question, as the title of its conversation. */
export function titleOf(question: string): string {
  const words = question.replace(/\s+/g, " ").trim()
  if (words.length <= 60) return words || UNTITLED
  const cut = words.slice(0, 60).replace(/[\uD800-\uDBFF]$/, "")
  const lastWord = cut.lastIndexOf(" ")
  return `${cut.slice(0, lastWord < 40 ? cut.length : lastWord)}…`
}

/** What an answer's pieces come to: its words, and its parts where it is more than its words. */
export interface FoldedReply {
  content: string
  parts: ReplyPart[] | null
}

/** What the pieces of one answer come to, in whatever order they are given. */
export function foldChunks(chunks: readonly Pick<LiveChunk, "seq" | "delta">[]): FoldedReply {
  const fold = beginFold()
  for (const { delta } of chunks.toSorted((one, other) => one.seq - other.seq)) delta.forEach(fold.add)
  return fold.read()
}

/** The same, delta by delta, for readers of a growing reply. */
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
