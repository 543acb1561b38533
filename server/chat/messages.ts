import { and, asc, desc, eq, gt, lt, sql, type SQL } from "drizzle-orm"
import { alias } from "drizzle-orm/pg-core"
import * as v from "valibot"
import { chatChunks, chatMessages, chatTurns } from "#db/schema/chat.ts"
import { eachRow } from "#server/each-row.ts"
import type { Scope } from "#server/scope.ts"
import { readableMessages } from "./access.ts"
import { foldChunks, ThreadId, type LiveChunk, type PageQuery } from "./contract.ts"
import type { Entry, EntryPage } from "./read-operations.ts"
import { deadlineOf } from "./deadline.ts"
import { findThread } from "./threads.ts"

/** The latest messages of a conversation, or those before the cursor. Throws NotFound. */
export async function listMessages(
  scope: Scope<"db" | "viewer">,
  threadId: string,
  page: PageQuery = { limit: 50, cursor: undefined },
): Promise<EntryPage> {
  await findThread(scope, threadId)
  return readAmong(readableMessages(scope, threadId), scope, page)
}

/** The latest of the messages that `place` selects, or those before the cursor. */
export async function readAmong(
  place: SQL | undefined,
  scope: Scope<"db">,
  { cursor, limit }: PageQuery,
): Promise<EntryPage> {
  const rows = await selectEntries(scope)
    .where(and(place, v.is(ThreadId, cursor) ? lt(chatMessages._id, cursor) : undefined))
    .orderBy(desc(chatMessages._id))
    .limit(limit + 1)
  const entries = rows.slice(0, limit).map(asItStands).toReversed()
  return { entries, earlierCursor: rows.length > limit ? (entries[0]?._id ?? null) : null }
}

/** All messages of a conversation, which may be in the trash, oldest first. */
export function eachMessage(scope: Scope<"db" | "viewer">, threadId: string): AsyncGenerator<Entry> {
  return eachRow(async (after, most) => {
    const rows = await selectEntries(scope)
      .where(
        and(readableMessages(scope, threadId), after === undefined ? undefined : gt(chatMessages._id, after)),
      )
      .orderBy(asc(chatMessages._id))
      .limit(most)
    return rows.map(asItStands)
  }, LARGE_ROWS)
}

/** Messages held in memory at a time: each may be as long as a reply can become. */
export const LARGE_ROWS = 20

function selectEntries({ db }: Scope<"db">) {
  return db
    .select(entry)
    .from(chatMessages)
    .leftJoin(chatTurns, eq(chatTurns._id, chatMessages._id))
    .leftJoin(asked, eq(asked.questionId, chatMessages._id))
    .$dynamic()
}

type Said = Pick<LiveChunk, "seq" | "delta">[]

/** The turn that a message started. */
const asked = alias(chatTurns, "asked")

/** How a reply came about. */
export const outcome = {
  status: chatTurns.status,
  model: chatTurns.model,
  parts: chatTurns.parts,
  failure: chatTurns.failure,
  inputTokens: chatTurns.inputTokens,
  outputTokens: chatTurns.outputTokens,
  finishReason: chatTurns.finishReason,
}

const entry = {
  _id: chatMessages._id,
  _creationTime: chatMessages._creationTime,
  role: chatMessages.role,
  content: chatMessages.content,
  attachments: chatMessages.attachments,
  userId: chatMessages.userId,
  edited: chatMessages.edited,
  mentions: chatMessages.mentions,
  requestId: sql<
    string | null
  >`coalesce(${chatTurns.requestId}, ${asked.requestId}, ${chatMessages.requestId})`,
  turn: { ...outcome, recall: chatTurns.recall },
  deadline: deadlineOf(chatTurns),
  // In the same statement as the message: when a turn ends, its text moves from the chunks to the
  // message.
  said: sql<Said | null>`(
    select jsonb_agg(jsonb_build_object('seq', ${chatChunks.seq}, 'delta', ${chatChunks.delta}))
    from ${chatChunks} where ${chatChunks.turnId} = ${chatTurns._id} and ${chatTurns.status} = 'running')`,
}

/**
 * A reply in progress has its text so far. One that outlived its process has the end that it will
 * get.
 */
function asItStands({
  said,
  deadline,
  ...row
}: Entry & { said: Said | null; deadline: number | null }): Entry {
  const { turn } = row
  if (turn?.status !== "running") return row
  const lost = deadline !== null && deadline < Date.now()
  const status = lost ? "interrupted" : turn.status
  if (!said) return { ...row, turn: { ...turn, status } }
  const { content, parts } = foldChunks(said)
  return { ...row, content, turn: { ...turn, status, parts } }
}
