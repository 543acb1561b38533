import { isNotNull, sql } from "drizzle-orm"
import {
  bigint,
  boolean,
  check,
  index,
  integer,
  jsonb,
  pgTable,
  text,
  uniqueIndex,
  uuid,
} from "drizzle-orm/pg-core"
import { AttachmentRows, DeltaRows, MentionRows, PartRows, RecallRows } from "./chat-json.ts"
import { isTokenHash, link } from "./links.ts"
import { liveTable } from "./live-table.ts"
import { owned } from "./ownership.ts"
import { milliseconds, record } from "./record.ts"
import { spaceKey, spaces } from "./spaces.ts"
import { ofUser } from "./users.ts"

export const chatThreads = pgTable(
  "chat_threads",
  {
    ...record(),
    userId: ofUser(),
    title: text("title").notNull(),
    /**
     * Who set the title. The model may replace the start of the message; nothing replaces the
     * user's own title.
     */
    titleSource: text("title_source", { enum: ["question", "model", "user"] })
      .notNull()
      .default("question"),
    lastMessageAt: milliseconds("last_message_at").notNull(),
    /** Deleted, but restorable for a day. */
    trashed: boolean("trashed").notNull().default(false),
    trashedAt: milliseconds("trashed_at"),
    /** Null for a personal conversation. */
    spaceId: uuid("space_id").references(() => spaces._id, { onDelete: "cascade" }),
    spaceKey: spaceKey(),
    /** In a space: the model replies only to messages that name it. */
    peopleOnly: boolean("people_only").notNull().default(false),
    /** How many messages were ever stored in it, since they are counted. It never shrinks. */
    messageCount: integer("message_count").notNull().default(0),
  },
  (table) => [
    index("chat_threads_by_user_id").on(table.userId),
    index("chat_threads_by_user_id_last_message").on(table.userId, table.lastMessageAt),
    // The list of what is personal. The next one was added for spaces and is the replica identity.
    uniqueIndex("chat_threads_live").on(table.userId, table.trashed, table.lastMessageAt, table._id),
    uniqueIndex("chat_threads_live_in_space").on(
      table.spaceKey,
      table.trashed,
      table.lastMessageAt,
      table._id,
      table.userId,
    ),
    index("chat_threads_by_space_id")
      .on(table.spaceId)
      .where(sql`${table.spaceId} is not null`),
    index("chat_threads_by_trashed_at")
      .on(table.trashedAt)
      .where(sql`${table.trashed}`),
    index("chat_threads_search").using("gin", sql`search_words(${table.userId}, ${table.title})`),
    check("chat_threads_title", sql`char_length(${table.title}) between 1 and 200`),
    check("chat_threads_title_source", sql`${table.titleSource} in ('question', 'model', 'user')`),
    check("chat_threads_trashed_at", sql`${table.trashed} = (${table.trashedAt} is not null)`),
  ],
)

/** The column of a row that belongs to a conversation, and is deleted with it. */
export const ofThread = () =>
  uuid("thread_id")
    .notNull()
    .references(() => chatThreads._id, { onDelete: "cascade" })

/** A file as it was when it was attached. The file itself may have been deleted since. */
export interface Attachment {
  fileId: string
  fileName: string
  mimeType: string
  /** Bytes. */
  size: number
}

/** The columns of a message, in a conversation or among its earlier versions. */
function message() {
  return {
    ...record(),
    userId: ofUser(),
    threadId: ofThread(),
    role: text("role", { enum: ["user", "assistant"] }).notNull(),
    content: text("content").notNull(),
    /** Null where there are none. */
    attachments: jsonb("attachments").$type<Attachment[]>(),
  }
}

export const chatMessages = pgTable(
  "chat_messages",
  {
    ...message(),
    /** A message or reply that replaced another, which is in `chat_replaced_messages`. */
    edited: boolean("edited").notNull().default(false),
    /** The names that follow an @ in it and are members' of the space. Null where there are none. */
    mentions: jsonb("mentions").$type<string[]>(),
    /**
     * The sender's own id of a message between people. Null for one that asked the model when it was
     * stored: its turn has the id.
     */
    requestId: text("request_id"),
    /** The conversation's. */
    spaceKey: spaceKey(),
  },
  (table) => [
    index("chat_messages_by_user_id").on(table.userId),
    index("chat_messages_by_thread_id").on(table.threadId),
    uniqueIndex("chat_messages_live").on(table.userId, table.threadId, table._id),
    uniqueIndex("chat_messages_live_in_space").on(table.threadId, table.spaceKey, table._id, table.userId),
    index("chat_messages_search").using("gin", sql`search_words(${table.userId}, ${table.content})`),
    // The lock of the conversation makes it unique: the previous version knows no such index.
    index("chat_messages_by_request")
      .on(table.threadId, table.requestId)
      .where(sql`${table.requestId} is not null`),
    check("chat_messages_request_id", sql`char_length(${table.requestId}) between 1 and 100`),
    check("chat_messages_role", sql`${table.role} in ('user', 'assistant')`),
  ],
)

/** A part of a reply, in the order in which the model produced it. */
export type ReplyPart =
  | { type: "text"; text: string }
  | { type: "reasoning"; text: string }
  | { type: "tool"; callId: string; name: string; input?: unknown; output?: unknown; error?: string }

/**
 * What was added to a reply since the previous row, combined: texts to append to the part with the
 * same id, and news about a tool call.
 */
export type ReplyDelta =
  | { type: "text" | "reasoning"; id: string; text: string }
  | { type: "tool"; callId: string; name?: string; input?: unknown; output?: unknown; error?: string }

/** What the model did not receive although it was there: images, or messages without a reply. */
export type LeftOut = "images" | "failed"

/** What was sent to the model of a conversation, if it was not all of it. */
export interface Recall {
  /** The first message that was sent, if there are earlier ones. */
  from?: string
  without?: LeftOut[]
}

/** How one reply was generated. Its text is the content of its message; everything else is here. */
export const chatTurns = pgTable(
  "chat_turns",
  {
    ...record(),
    /** The reply's message has the same id. */
    _id: uuid("_id")
      .primaryKey()
      .references(() => chatMessages._id, { onDelete: "cascade" }),
    userId: ofUser(),
    threadId: ofThread(),
    questionId: uuid("question_id")
      .notNull()
      .references(() => chatMessages._id, { onDelete: "cascade" }),
    /** The sender's own id for the message: sent twice with one id, a message is stored once. */
    requestId: text("request_id").notNull(),
    status: text("status", {
      enum: ["running", "completed", "stopped", "timeout", "interrupted", "failed"],
    }).notNull(),
    model: text("model").notNull(),
    /** Null if the reply is only text. */
    parts: jsonb("parts").$type<ReplyPart[]>(),
    inputTokens: integer("input_tokens"),
    outputTokens: integer("output_tokens"),
    /** Why the model ended its reply. Null if it did not, and for replies of earlier versions. */
    finishReason: text("finish_reason", {
      enum: ["stop", "length", "content-filter", "tool-calls", "error", "other"],
    }),
    /** Null if the model received the whole conversation, or has not replied yet. */
    recall: jsonb("recall").$type<Recall>(),
    /** The error that the user sees if a turn failed, and the reference of its cause in the log. */
    failure: text("failure"),
    endedAt: milliseconds("ended_at"),
    /** The lock number of the process that generates the reply: a turn ends with its process. */
    process: bigint("process", { mode: "number" }),
    stopRequestedAt: milliseconds("stop_requested_at"),
    /**
     * When the person who asked for it closed their stream of it before its end. Null while they read
     * it, and if nobody streams it.
     */
    leftAt: milliseconds("left_at"),
    /**
     * A turn that is still running at this time has lost its process. Null if an earlier version
     * started it: 35 seconds later.
     */
    deadline: milliseconds("deadline"),
    /** The conversation's. */
    spaceKey: spaceKey(),
  },
  (table) => [
    uniqueIndex("chat_turns_by_request").on(table.threadId, table.requestId),
    uniqueIndex("chat_turns_one_running")
      .on(table.threadId)
      .where(sql`${table.status} = 'running'`),
    index("chat_turns_by_question").on(table.questionId),
    uniqueIndex("chat_turns_live").on(table.userId, table.threadId, table._id),
    uniqueIndex("chat_turns_live_in_space").on(table.threadId, table.spaceKey, table._id, table.userId),
    check(
      "chat_turns_status",
      sql`${table.status} in ('running', 'completed', 'stopped', 'timeout', 'interrupted', 'failed')`,
    ),
    check("chat_turns_request_id", sql`char_length(${table.requestId}) between 1 and 100`),
  ],
)

/**
 * Messages that an edit or another reply removed from a conversation: the old message or reply and
 * everything after it, each row with the id that it had. Rows never change, except that another
 * edit further up takes them over. Also a reply without text that was generated again, as long as
 * the copy behind a public link has it.
 */
export const chatReplacedMessages = pgTable(
  "chat_replaced_messages",
  {
    ...message(),
    /**
     * The message or reply that replaced it in the conversation. Its own id for one that is kept for
     * a link only: it is no earlier version.
     */
    replacedBy: uuid("replaced_by").notNull(),
    replacedAt: milliseconds("replaced_at").notNull(),
    /** How it was generated, if it is a reply. */
    turn: jsonb("turn").$type<
      Pick<
        ChatTurn,
        "status" | "model" | "parts" | "failure" | "inputTokens" | "outputTokens" | "finishReason"
      >
    >(),
  },
  (table) => [
    index("chat_replaced_messages_by_user_id").on(table.userId),
    index("chat_replaced_messages_by_question").on(table.threadId, table.replacedBy, table._id),
  ],
)

/** A public link to a conversation. */
export const chatShares = pgTable(
  "chat_shares",
  {
    ...link(),
    threadId: ofThread(),
    /**
     * The title and the messages that visitors see, also after they were edited; null if they see
     * the conversation as it is.
     */
    title: text("title"),
    messageIds: uuid("message_ids").array(),
  },
  (table) => [
    uniqueIndex("chat_shares_live").on(table.userId, table.threadId, table._id),
    uniqueIndex("chat_shares_live_in_space").on(table.threadId, table.spaceKey, table._id, table.userId),
    index("chat_shares_by_thread_id").on(table.threadId),
    isTokenHash("chat_shares_token_hash", table.tokenHash),
    check("chat_shares_copy", sql`(${table.title} is null) = (${table.messageIds} is null)`),
  ],
)

/**
 * The text of a reply in progress. The end of the turn moves it to its message. Owner and
 * conversation are the turn's and are deleted with it, so they need no references of their own.
 */
export const chatChunks = pgTable(
  "chat_chunks",
  {
    ...record(),
    userId: uuid("user_id").notNull(),
    threadId: uuid("thread_id").notNull(),
    turnId: uuid("turn_id")
      .notNull()
      .references(() => chatTurns._id, { onDelete: "cascade" }),
    seq: integer("seq").notNull(),
    delta: jsonb("delta").$type<ReplyDelta[]>().notNull(),
    /** The turn's, which is locked when a chunk is written: no trigger has to look it up. */
    spaceKey: spaceKey(),
  },
  (table) => [
    uniqueIndex("chat_chunks_by_turn").on(table.turnId, table.seq),
    uniqueIndex("chat_chunks_live").on(table.userId, table.threadId, table._id),
    uniqueIndex("chat_chunks_live_in_space").on(table.threadId, table.spaceKey, table._id, table.userId),
  ],
)

/**
 * Messages in a conversation of a space that wait until the replies to those before them have ended.
 * One whose reply begins moves to `chat_messages` in the same commit. The others are kept for a
 * while, so that the people in the conversation see what happened.
 */
export const chatWaiting = pgTable(
  "chat_waiting",
  {
    ...record(),
    userId: ofUser(),
    threadId: ofThread(),
    /** The order in the conversation. Given while the conversation is locked: that of the commits. */
    place: integer("place").notNull(),
    requestId: text("request_id").notNull(),
    content: text("content").notNull(),
    /** Null where there are none. */
    attachments: jsonb("attachments").$type<Attachment[]>(),
    /** `withdrawn` by somebody else; `passed` over because its author may no longer write here. */
    state: text("state", { enum: ["waiting", "withdrawn", "passed"] })
      .notNull()
      .default("waiting"),
    endedAt: milliseconds("ended_at"),
    /** The conversation's. */
    spaceKey: spaceKey(),
  },
  (table) => [
    uniqueIndex("chat_waiting_by_place").on(table.threadId, table.place),
    uniqueIndex("chat_waiting_by_request").on(table.threadId, table.requestId),
    index("chat_waiting_by_user_id").on(table.userId),
    uniqueIndex("chat_waiting_live").on(table.threadId, table.spaceKey, table.place, table._id, table.userId),
    check("chat_waiting_state", sql`${table.state} in ('waiting', 'withdrawn', 'passed')`),
    check("chat_waiting_ended_at", sql`(${table.state} = 'waiting') = (${table.endedAt} is null)`),
    check("chat_waiting_request_id", sql`char_length(${table.requestId}) between 1 and 100`),
  ],
)

/** How far somebody has read a conversation of a space. */
export const chatReads = pgTable(
  "chat_reads",
  {
    ...record(),
    userId: ofUser(),
    threadId: ofThread(),
    /** The conversation's `message_count` when they last saw it. */
    messageCount: integer("message_count").notNull(),
    readAt: milliseconds("read_at").notNull(),
    /** The conversation's. */
    spaceKey: spaceKey(),
  },
  (table) => [
    uniqueIndex("chat_reads_by_user_id").on(table.userId, table.threadId),
    index("chat_reads_by_thread_id").on(table.threadId),
    uniqueIndex("chat_reads_live").on(table.userId, table.spaceKey, table.readAt, table._id),
  ],
)

const inConversations = {
  of: "userId",
  end: "stays in its space",
  exportedIn: "conversations/ and spaces/messages.json",
} as const
owned(chatReplacedMessages, inConversations)

export const watchedReads = liveTable(chatReads, {
  keys: ["userId", "spaceKey", "readAt"],
  of: "userId",
  notExported: "A number by which the list of conversations marks what is unread.",
  sentences: {
    messageCount: "The conversation's `messageCount` when the caller last saw it.",
    readAt: "Milliseconds since the epoch.",
  },
})

export type ChatRead = typeof chatReads.$inferSelect
export type ChatWaiting = typeof chatWaiting.$inferSelect
export type ChatShare = typeof chatShares.$inferSelect
export type ChatThread = typeof chatThreads.$inferSelect
export type ChatMessage = typeof chatMessages.$inferSelect
export type ChatTurn = typeof chatTurns.$inferSelect
export type ChatChunk = typeof chatChunks.$inferSelect

export const watchedThreads = liveTable(chatThreads, {
  keys: ["userId", "spaceKey", "trashed", "lastMessageAt"],
  of: "userId",
  end: "stays in its space",
  exportedIn: "conversations/",
  kept: { until: "trashedAt", for: 24 * 60 * 60 * 1000, atOnce: 1 },
  sentences: {
    lastMessageAt: "Milliseconds since the epoch.",
    peopleOnly: "In a space: the model replies only to messages that name it.",
    messageCount: "How many messages were ever stored in it. It never shrinks.",
  },
})

export const watchedMessages = liveTable(chatMessages, {
  keys: ["userId", "spaceKey", "threadId"],
  ...inConversations,
  sentences: {
    attachments: AttachmentRows,
    edited: "Whether it replaced an earlier version.",
    mentions: MentionRows,
    requestId:
      "The sender's own id of a message to the people in a space. Null for one that asked the model when it was sent: its turn has the id.",
  },
})

export const watchedTurns = liveTable(chatTurns, {
  keys: ["userId", "spaceKey", "threadId"],
  ...inConversations,
  sentences: {
    _id: "The same as the reply's message.",
    questionId: "The message that is replied to.",
    requestId: "The sender's own id for that message.",
    parts: PartRows,
    failure: "What the user is shown if the turn failed.",
    finishReason: "Why the model ended its reply. Null while it runs, and if something else ended it.",
    recall: RecallRows,
  },
})

export const watchedChunks = liveTable(chatChunks, {
  keys: ["userId", "spaceKey", "threadId"],
  of: "turnId",
  end: "stays in its space",
  notExported: "The text of a reply while it is generated; then it is the message's.",
  sentences: {
    turnId: "The turn, and the message, of the reply.",
    seq: "Position within the reply, from 0.",
    delta: DeltaRows,
  },
})

export const watchedWaiting = liveTable(chatWaiting, {
  keys: ["userId", "spaceKey", "threadId", "place"],
  of: "userId",
  notExported: "A message for the minutes until its reply begins; then it is with the others.",
  kept: { until: "endedAt", for: 60 * 60 * 1000 },
  sentences: {
    requestId: "The sender's own id for the message.",
    place: "Its order among those of the conversation.",
    attachments: AttachmentRows,
    state:
      "`withdrawn` by somebody else than its author, or `passed` over because its author may no longer write here.",
  },
})

export const watchedThreadShares = liveTable(chatShares, {
  keys: ["userId", "spaceKey", "threadId"],
  of: "userId",
  exportedAs: "conversationShares",
  exported: ["_creationTime", "threadId", "hint", "expiresAt"],
  computed: () => ({
    hasPassword: isNotNull(chatShares.passwordHash),
    isCopy: isNotNull(chatShares.title),
  }),
  sentences: {
    hint: "The last four characters of the link's URL.",
    expiresAt: "Milliseconds since the epoch; null for a link that does not expire.",
  },
})
