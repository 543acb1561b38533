import * as v from "valibot"
import { record } from "#server/operations/contract.ts"
import { PageLength, RowCursor } from "#server/page-contract.ts"
import { reason } from "#server/reason-contract.ts"
import { linkLimits, linkRow } from "#server/links/contract.ts"
import { withoutControlCharacters } from "#server/text-contract.ts"
import type { UIMessage, UIMessageChunk } from "ai"
import type { ChannelType } from "#live/contract"
import { Everywhere, InSpace } from "#server/spaces/place-contract.ts"
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
  ChatShare,
  ChatThread,
  ChatTurn,
} from "#db/schema/chat.ts"

export type { ReplyDelta, ReplyPart, Attachment, LeftOut, Recall }

/** A conversation as lists show it. */
export const ThreadRow = v.strictObject({
  ...record,
  title: v.string(),
  lastMessageAt: v.pipe(v.number(), v.integer(), v.description("Milliseconds since the epoch.")),
  spaceId: v.pipe(
    v.nullable(v.pipe(v.string(), v.uuid())),
    v.description("The space that it is in. Null for a personal conversation."),
  ),
  peopleOnly: v.pipe(
    v.boolean(),
    v.description("In a space: the model replies only to messages that name it."),
  ),
  messageCount: v.pipe(
    v.number(),
    v.integer(),
    v.description("How many messages were ever stored in it. It never shrinks."),
  ),
})
export type ThreadSummary = v.InferOutput<typeof ThreadRow>

/** How far the viewer has read a conversation of a space. */
export type ThreadRead = Pick<ChatRead, "_id" | "threadId" | "messageCount" | "readAt">

/**
 * A chunk of a reply in progress. When the reply ends, its message has all the text and the chunks
 * are deleted.
 */
export type LiveChunk = Pick<ChatChunk, "_id" | "turnId" | "seq" | "delta">

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
    v.pipe(
      v.string(),
      v.maxLength(SEARCH_LIMIT, reason("search-too-long", { most: SEARCH_LIMIT })),
      v.metadata({ parameter: { type: "string", maxLength: SEARCH_LIMIT } }),
    ),
    "",
  ),
  spaceId: InSpace,
  everywhere: Everywhere,
})
export type SearchQuery = v.InferOutput<typeof SearchQuery>

/** The query of an export. */
export const ExportQuery = v.strictObject({
  format: v.optional(v.picklist(["markdown", "json"], reason("export-format-unknown")), "markdown"),
})
export type ExportQuery = v.InferOutput<typeof ExportQuery>

export const TITLE_LIMIT = 200

export const UNTITLED = "New conversation"

export const ThreadId = v.pipe(v.string(), v.uuid())
export const MessageId = v.pipe(v.string(), v.uuid())

export const Title = v.pipe(
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

export const PeopleOnly = v.pipe(
  v.boolean(),
  v.description("In a space: the model replies only to messages that name it, as in `@Assistant`."),
)

/** One of them, or both. */
export interface ChangeThread {
  title?: string | undefined
  peopleOnly?: boolean | undefined
}

/**
 * Where a conversation is moved or copied to, and whether files of other places that are attached to
 * its messages are copied along or taken off them.
 */
export const MoveThread = v.strictObject({
  spaceId: InSpace,
  attachments: v.optional(v.picklist(["copy", "leave"], reason("attachments-unfit")), "copy"),
})
export type MoveThread = v.InferOutput<typeof MoveThread>

/**
 * What a link to a conversation shows: the conversation as it is at each visit, or as it was when
 * the link was created. A missing or null limit is no limit.
 */
export const ShareThread = v.strictObject({
  ...linkLimits,
  shows: v.optional(v.picklist(["live", "copy"], reason("link-shows-unfit")), "live"),
})
export type ShareThread = v.InferOutput<typeof ShareThread>

/** A link as its owner sees it. */
export const ThreadShareRow = v.strictObject({
  ...linkRow,
  threadId: ThreadId,
  shows: v.pipe(
    v.picklist(["live", "copy"]),
    v.description("The conversation as it is, or as it was when the link was created."),
  ),
})
export type ThreadShareSummary = v.InferOutput<typeof ThreadShareRow>

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
