import { sql } from "drizzle-orm"
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
import { milliseconds, record } from "./record.ts"
import { users } from "./users.ts"

export const chatThreads = pgTable(
  "chat_threads",
  {
    ...record(),
    userId: uuid("user_id")
      .notNull()
      .references(() => users._id, { onDelete: "cascade" }),
    title: text("title").notNull(),
    /** Who gave the title. The model may take the question's place, and nobody takes the user's. */
    titleSource: text("title_source", { enum: ["question", "model", "user"] })
      .notNull()
      .default("question"),
    lastMessageAt: milliseconds("last_message_at").notNull(),
    /** Deleted, and for a day to be had back. */
    trashed: boolean("trashed").notNull().default(false),
    trashedAt: milliseconds("trashed_at"),
  },
  (table) => [
    index("chat_threads_by_user_id").on(table.userId),
    index("chat_threads_by_user_id_last_message").on(table.userId, table.lastMessageAt),
    uniqueIndex("chat_threads_live").on(table.userId, table.trashed, table.lastMessageAt, table._id),
    index("chat_threads_by_trashed_at")
      .on(table.trashedAt)
      .where(sql`${table.trashed}`),
    index("chat_threads_search").using("gin", sql`search_words(${table.userId}, ${table.title})`),
    check("chat_threads_title", sql`char_length(${table.title}) between 1 and 200`),
    check("chat_threads_title_source", sql`${table.titleSource} in ('question', 'model', 'user')`),
    check("chat_threads_trashed_at", sql`${table.trashed} = (${table.trashedAt} is not null)`),
  ],
)

/** A file as it was when it was attached. The file itself may be gone since. */
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
    userId: uuid("user_id")
      .notNull()
      .references(() => users._id, { onDelete: "cascade" }),
    threadId: uuid("thread_id")
      .notNull()
      .references(() => chatThreads._id, { onDelete: "cascade" }),
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
    /** A question that took the place of another, which `chat_replaced_messages` keeps. */
    edited: boolean("edited").notNull().default(false),
  },
  (table) => [
    index("chat_messages_by_user_id").on(table.userId),
    index("chat_messages_by_thread_id").on(table.threadId),
    uniqueIndex("chat_messages_live").on(table.userId, table.threadId, table._id),
    index("chat_messages_search").using("gin", sql`search_words(${table.userId}, ${table.content})`),
    check("chat_messages_role", sql`${table.role} in ('user', 'assistant')`),
  ],
)

/** A piece of an answer, in the order in which the model made it. */
export type ReplyPart =
  | { type: "text"; text: string }
  | { type: "reasoning"; text: string }
  | { type: "tool"; callId: string; name: string; input?: unknown; output?: unknown; error?: string }

/**
 * What was said of an answer since the row before, run together: texts to append to the part with
 * the same id, and what became known of a tool's call.
 */
export type ReplyDelta =
  | { type: "text" | "reasoning"; id: string; text: string }
  | { type: "tool"; callId: string; name?: string; input?: unknown; output?: unknown; error?: string }

/**
 * How one answer came about. The answer's words are the content of its message; this says all the
 * rest.
 */
export const chatTurns = pgTable(
  "chat_turns",
  {
    ...record(),
    /** The answer's message has the same id. */
    _id: uuid("_id")
      .primaryKey()
      .references(() => chatMessages._id, { onDelete: "cascade" }),
    userId: uuid("user_id")
      .notNull()
      .references(() => users._id, { onDelete: "cascade" }),
    threadId: uuid("thread_id")
      .notNull()
      .references(() => chatThreads._id, { onDelete: "cascade" }),
    questionId: uuid("question_id")
      .notNull()
      .references(() => chatMessages._id, { onDelete: "cascade" }),
    /** The sender's own id for the question: asked twice with one id, a question is stored once. */
    requestId: text("request_id").notNull(),
    status: text("status", {
      enum: ["running", "completed", "stopped", "timeout", "interrupted", "failed"],
    }).notNull(),
    model: text("model").notNull(),
    /** Null where the answer is its text alone. */
    parts: jsonb("parts").$type<ReplyPart[]>(),
    inputTokens: integer("input_tokens"),
    outputTokens: integer("output_tokens"),
    /**
     * Why the model ended its answer. Null where it did not, and for answers of earlier versions.
     */
    finishReason: text("finish_reason", {
      enum: ["stop", "length", "content-filter", "tool-calls", "error", "other"],
    }),
    /** What the user is told where a turn failed, and what the log names its cause by. */
    failure: text("failure"),
    endedAt: milliseconds("ended_at"),
    /**
     * The number under which the process that gives the answer holds its lock: a turn ends with its
     * process.
     */
    process: bigint("process", { mode: "number" }),
    stopRequestedAt: milliseconds("stop_requested_at"),
    /**
     * A turn that still runs then has lost its process. Null where an earlier version began it: 35
     * seconds after that.
     */
    deadline: milliseconds("deadline"),
  },
  (table) => [
    uniqueIndex("chat_turns_by_request").on(table.threadId, table.requestId),
    uniqueIndex("chat_turns_one_running")
      .on(table.threadId)
      .where(sql`${table.status} = 'running'`),
    index("chat_turns_by_question").on(table.questionId),
    uniqueIndex("chat_turns_live").on(table.userId, table.threadId, table._id),
    check(
      "chat_turns_status",
      sql`${table.status} in ('running', 'completed', 'stopped', 'timeout', 'interrupted', 'failed')`,
    ),
    check("chat_turns_request_id", sql`char_length(${table.requestId}) between 1 and 100`),
  ],
)

/**
 * What an edit took out of a conversation: the old question and everything after it, each row with
 * the id that its message had. Rows never change, except that another edit further up takes them
 * over.
 */
export const chatReplacedMessages = pgTable(
  "chat_replaced_messages",
  {
    ...message(),
    /** The question of the conversation that stands in its place now. */
    replacedBy: uuid("replaced_by").notNull(),
    replacedAt: milliseconds("replaced_at").notNull(),
    /** How it came about, where it is an answer. */
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

/**
 * The words of an answer that is being given, as they come. The end of the turn moves them to its
 * message. The owner and the conversation are the turn's, and go away with it, so they need no
 * references of their own.
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
  },
  (table) => [
    uniqueIndex("chat_chunks_by_turn").on(table.turnId, table.seq),
    uniqueIndex("chat_chunks_live").on(table.userId, table.threadId, table._id),
  ],
)

export type ChatThread = typeof chatThreads.$inferSelect
export type ChatMessage = typeof chatMessages.$inferSelect
export type ChatTurn = typeof chatTurns.$inferSelect
export type ChatReplacedMessage = typeof chatReplacedMessages.$inferSelect
export type ChatChunk = typeof chatChunks.$inferSelect
