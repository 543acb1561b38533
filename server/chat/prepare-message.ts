import { and, desc, eq, isNotNull, notExists, sql } from "drizzle-orm"
import * as v from "valibot"
import type { Transaction } from "#db/client.ts"
import { chatMessages, chatTurns, chatWaiting, type ChatMessage } from "#db/schema/chat.ts"
import { Conflict } from "#server/errors.ts"
import { findMentioned } from "#server/notifications/mention.ts"
import type { Scope } from "#server/scope.ts"
import { attachFiles } from "./attachments.ts"
import { MessageId } from "./contract.ts"
import { endAbandonedTurn } from "./end-turn.ts"
import { replaceFrom, replaceReply, rewriteMessage } from "./replaced.ts"
import { isChanged, isReplaced, type SentMessage } from "./resent.ts"
import type { KnownTurn, NewMessage, ThreadState } from "./turn-rows.ts"

export type Note = Pick<ChatMessage, "_id" | "userId" | "content" | "attachments">

/** The message between people that was stored under the id of this one, or that this one replaces. */
export async function findNote(
  tx: Transaction,
  threadId: string,
  question: SentMessage,
  { spaceId, stored }: ThreadState,
): Promise<Note | null> {
  const { replaces } = question
  // One that has replaced the other already was sent again.
  if (replaces == null || (stored && !isChanged(question, stored))) return stored
  if (spaceId === null || !v.is(MessageId, replaces)) return null
  const { _id, userId, content, attachments, requestId } = chatMessages
  const [note] = await tx
    .select({ _id, userId, content, attachments })
    .from(chatMessages)
    .where(
      and(
        eq(_id, replaces),
        eq(chatMessages.threadId, threadId),
        isNotNull(requestId),
        notExists(
          tx
            .select({ one: sql`1` })
            .from(chatTurns)
            .where(eq(chatTurns.questionId, _id)),
        ),
      ),
    )
  return note ?? null
}

/** Called with the locks held. Throws as `openTurn` does. */
export async function prepareMessage(
  { viewer }: Scope<"viewer">,
  tx: Transaction,
  { threadId, question }: { threadId: string; question: SentMessage },
  { running, known, spaceId, next }: ThreadState,
  note: Note | null,
): Promise<NewMessage> {
  const { requestId, text, fileIds = [], replaces, waitingId } = question
  const mentioned = await findMentioned(tx, spaceId, text)
  // Its files were attached when it was sent.
  const attached = waitingId === undefined ? [] : (next?.attachments ?? [])
  const plain = {
    _id: null,
    isStored: false,
    text,
    attachments: attached,
    edited: false,
    mentioned,
    reply: null,
  }
  if (waitingId !== undefined) await leaveLine(tx, waitingId)
  if (note && !isChanged(question, note)) return { ...plain, _id: note._id, isStored: true, mentioned: null }
  if (!running && !known && replaces == null && fileIds.length === 0) return plain

  // If it is refused halfway, its changes are rolled back and the rest of the batch continues.
  return tx.transaction(async (inner) => {
    if (running) await endAbandonedTurn(inner, running._id)
    const isReplacing = isReplaced(question, known)
    if (known && !isReplacing) {
      if (!(question.again && question.cutsLater)) await requireLast(inner, threadId, known)
      const reply = await replaceReply(inner, threadId, known.answerId)
      return { ...plain, _id: known.questionId, isStored: true, mentioned: null, reply }
    }
    if (waitingId !== undefined) return plain
    const attachments = await attachFiles({ viewer, db: inner }, fileIds, spaceId)
    if (note) {
      const rewritten = { ...plain, _id: note._id, isStored: true, attachments }
      await rewriteMessage(inner, { ...rewritten, requestId })
      return rewritten
    }
    if (!isReplacing || replaces == null) return { ...plain, attachments }
    return { ...plain, _id: await replaceFrom(inner, threadId, replaces), attachments, edited: true }
  })
}

/** Throws Conflict for a message that was withdrawn at this moment. */
async function leaveLine(tx: Transaction, waitingId: string): Promise<void> {
  const left = await tx
    .delete(chatWaiting)
    .where(and(eq(chatWaiting._id, waitingId), eq(chatWaiting.state, "waiting")))
    .returning({ _id: chatWaiting._id })
  if (left.length === 0) throw new Conflict("reply-running")
}

/** Another reply must not remove messages that its sender may not have seen. Throws Conflict. */
async function requireLast(tx: Transaction, threadId: string, turn: KnownTurn): Promise<void> {
  const [last] = await tx
    .select({ _id: chatMessages._id })
    .from(chatMessages)
    .where(eq(chatMessages.threadId, threadId))
    .orderBy(desc(chatMessages._id))
    .limit(1)
  if (last?._id !== turn.answerId) throw new Conflict("message-not-last")
}
