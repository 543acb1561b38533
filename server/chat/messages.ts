import type { ModelMessage } from "ai"
import { and, desc, eq, lt, lte, sql } from "drizzle-orm"
import { alias } from "drizzle-orm/pg-core"
import * as v from "valibot"
import { chatMessages, chatTurns } from "#db/schema/chat.ts"
import type { Scope } from "../scope.ts"
import { ownMessages } from "./access.ts"
import { ThreadId, TURN_LIFETIME, type Entry, type EntryPage, type PageQuery } from "./contract.ts"
import { findThread } from "./threads.ts"

/** The latest messages of a conversation, or those before the cursor. Throws NotFound. */
export async function listMessages(
  scope: Scope<"db" | "viewer">,
  threadId: string,
  { cursor, limit }: PageQuery = { limit: 50, cursor: undefined },
): Promise<EntryPage> {
  await findThread(scope, threadId)
  const rows = await scope.db
    .select(entry)
    .from(chatMessages)
    .leftJoin(chatTurns, eq(chatTurns._id, chatMessages._id))
    .leftJoin(asked, eq(asked.questionId, chatMessages._id))
    .where(
      and(ownMessages(scope, threadId), v.is(ThreadId, cursor) ? lt(chatMessages._id, cursor) : undefined),
    )
    .orderBy(desc(chatMessages._id))
    .limit(limit + 1)
  const entries = rows.slice(0, limit).map(withoutLostTurn).toReversed()
  return { entries, earlierCursor: rows.length > limit ? (entries[0]?._id ?? null) : null }
}

/**
 * What the model hears of a conversation up to a question, oldest first: the latest messages that fit, and of answers their
 * words alone.
 */
export async function recallMessages(
  scope: Scope<"db" | "viewer">,
  threadId: string,
  questionId: string,
): Promise<ModelMessage[]> {
  const latestFirst = await scope.db
    .select({ role: chatMessages.role, content: chatMessages.content })
    .from(chatMessages)
    .where(and(ownMessages(scope, threadId), lte(chatMessages._id, questionId)))
    .orderBy(desc(chatMessages._id))
    .limit(RECALLED_MESSAGES)
  const recalled: ModelMessage[] = []
  let characters = 0
  for (const { role, content } of latestFirst) {
    characters += content.length
    if (recalled.length > 0 && characters > RECALLED_CHARACTERS) break
    if (content) recalled.unshift({ role, content })
  }
  return recalled
}

const RECALLED_MESSAGES = 60
const RECALLED_CHARACTERS = 100_000

/** The turn that a question began. */
const asked = alias(chatTurns, "asked")

const entry = {
  _id: chatMessages._id,
  _creationTime: chatMessages._creationTime,
  role: chatMessages.role,
  content: chatMessages.content,
  attachments: chatMessages.attachments,
  requestId: sql<string | null>`coalesce(${chatTurns.requestId}, ${asked.requestId})`,
  turn: {
    status: chatTurns.status,
    model: chatTurns.model,
    parts: chatTurns.parts,
    failure: chatTurns.failure,
    inputTokens: chatTurns.inputTokens,
    outputTokens: chatTurns.outputTokens,
  },
}

function withoutLostTurn(row: Entry): Entry {
  const lost = row.turn?.status === "running" && row._creationTime < Date.now() - TURN_LIFETIME
  return lost && row.turn ? { ...row, turn: { ...row.turn, status: "interrupted" } } : row
}
