import { and, desc, eq, gte, sql } from "drizzle-orm"
import * as v from "valibot"
import type { Database } from "#db/client.ts"
import { chatMessages, chatThreads, chatTurns } from "#db/schema/chat.ts"
import { users } from "#db/schema/users.ts"
import { Conflict, NotFound } from "../errors.ts"
import { limitsOf } from "../plans/limits.ts"
import type { Scope } from "../scope.ts"
import { ownThread } from "./access.ts"
import { attachFiles } from "./attachments.ts"
import { titleOf, UNTITLED } from "./contract.ts"
import type { Question } from "./conversation.ts"
import { endOldTurn } from "./lost-turns.ts"

const MessageId = v.pipe(v.string(), v.uuid())

export type OpenedTurn =
  | { kind: "fresh"; threadId: string; questionId: string; answerId: string }
  | { kind: "answered"; questionId: string; answerId: string; model: string; content: string }

/** A question, and what its asker wants done with what is there. */
export interface AskedQuestion extends Question {
  /** Another answer, although there is a complete one. */
  again: boolean
  /** The question in whose place it comes. */
  replaces?: string | null | undefined
}

type Transaction = Parameters<Parameters<Database["transaction"]>[0]>[0]

/**
 * Stores the question with a row for its answer, unless the same question is stored already: then its answer is given back
 * when it is complete, and made again when it is not, or when the viewer asked for that with `again`.
 * Throws NotFound for a conversation that is not the viewer's and a question that is not in it, and Conflict while an answer is being
 * given in it, or as many as are allowed elsewhere.
 */
export function openTurn(
  scope: Scope<"db" | "viewer" | "model" | "turns" | "config">,
  threadId: string,
  question: AskedQuestion,
): Promise<OpenedTurn> {
  return scope.db.transaction(async (tx) => {
    const thread = await lockThread(scope, tx, threadId)
    await endOldTurn(tx, threadId)
    await refuseWhileAnswering(tx, threadId)
    const known = await makePlace(tx, threadId, question)
    if (known?.status === "completed" && !question.again) return { ...known, kind: "answered" }
    await refuseTooMany(scope, tx)

    const questionId = known
      ? await reopenQuestion(tx, threadId, known)
      : await storeQuestion(scope, tx, threadId, question)
    const answerId = await storeTurn(scope, tx, { threadId, questionId, requestId: question.requestId })
    const isUntitled = thread.title === UNTITLED && thread.titleSource === "question"
    await tx
      .update(chatThreads)
      .set({
        lastMessageAt: sql`greatest(${chatThreads.lastMessageAt} + 1, ${Date.now()})`,
        ...(isUntitled && !known && { title: titleOf(question.text) }),
      })
      .where(eq(chatThreads._id, threadId))
    return { kind: "fresh", threadId, questionId, answerId }
  })
}

/** Two requests for one conversation take their turns one after the other. */
async function lockThread(scope: Scope<"viewer">, tx: Transaction, threadId: string) {
  const [thread] = await tx
    .select({ title: chatThreads.title, titleSource: chatThreads.titleSource })
    .from(chatThreads)
    .where(ownThread(scope, threadId))
    .for("update")
  if (!thread) throw new NotFound("conversation")
  return thread
}

async function refuseWhileAnswering(tx: Transaction, threadId: string) {
  const [running] = await tx
    .select({ _id: chatTurns._id })
    .from(chatTurns)
    .where(and(eq(chatTurns.threadId, threadId), eq(chatTurns.status, "running")))
  if (running)
    throw new Conflict("An answer is being given in this conversation. Wait for it, or stop it first.")
}

/** A user's questions are counted one after the other, by a lock that leaves alone who only refers to the user. */
async function refuseTooMany({ viewer, config }: Scope<"viewer" | "config">, tx: Transaction) {
  await tx.select({ _id: users._id }).from(users).where(eq(users._id, viewer.user._id)).for("no key update")
  const running = await tx.$count(
    chatTurns,
    and(eq(chatTurns.userId, viewer.user._id), eq(chatTurns.status, "running")),
  )
  if (running < limitsOf(config, viewer.session).answersAtOnce) return
  throw new Conflict(
    running === 1
      ? "You are being given an answer in another conversation. Wait for it, or stop it first."
      : `You are being given ${running} answers in other conversations. Wait for one of them, or stop it first.`,
  )
}

/**
 * Finds the turn of a question that is known already. One that replaces another takes it away first, with all that follows; once
 * it has, it is known itself, and its sender has only not heard of it.
 */
async function makePlace(tx: Transaction, threadId: string, { requestId, replaces }: AskedQuestion) {
  const known = await findTurn(tx, threadId, requestId)
  if (replaces == null || (known && known.questionId !== replaces)) return known
  await cutFrom(tx, threadId, replaces)
  return undefined
}

async function cutFrom(tx: Transaction, threadId: string, questionId: string) {
  if (!v.is(MessageId, questionId)) throw new NotFound("question")
  const [question] = await tx
    .select({ _id: chatMessages._id })
    .from(chatMessages)
    .where(
      and(
        eq(chatMessages._id, questionId),
        eq(chatMessages.threadId, threadId),
        eq(chatMessages.role, "user"),
      ),
    )
  if (!question) throw new NotFound("question")
  await tx
    .delete(chatMessages)
    .where(and(eq(chatMessages.threadId, threadId), gte(chatMessages._id, question._id)))
}

async function findTurn(tx: Transaction, threadId: string, requestId: string) {
  const [turn] = await tx
    .select({
      answerId: chatTurns._id,
      questionId: chatTurns.questionId,
      status: chatTurns.status,
      model: chatTurns.model,
      content: chatMessages.content,
    })
    .from(chatTurns)
    .innerJoin(chatMessages, eq(chatMessages._id, chatTurns._id))
    .where(and(eq(chatTurns.threadId, threadId), eq(chatTurns.requestId, requestId)))
  return turn
}

/** Takes the answer away, to make room for another. Only the last can be made again: what follows it was said knowing it. */
async function reopenQuestion(
  tx: Transaction,
  threadId: string,
  turn: { answerId: string; questionId: string },
) {
  const [last] = await tx
    .select({ _id: chatMessages._id })
    .from(chatMessages)
    .where(eq(chatMessages.threadId, threadId))
    .orderBy(desc(chatMessages._id))
    .limit(1)
  if (last?._id !== turn.answerId) throw new Conflict("Only the last question can be answered again.")
  await tx.delete(chatMessages).where(eq(chatMessages._id, turn.answerId))
  return turn.questionId
}

async function storeQuestion(
  { viewer }: Scope<"viewer">,
  tx: Transaction,
  threadId: string,
  { text, fileIds = [] }: Question,
) {
  const attachments = await attachFiles({ viewer, db: tx }, fileIds)
  const [message] = await tx
    .insert(chatMessages)
    .values({
      userId: viewer.user._id,
      threadId,
      role: "user",
      content: text,
      attachments: attachments.length > 0 ? attachments : null,
    })
    .returning({ _id: chatMessages._id })
  if (!message) throw new Error("The question did not come back from the database.")
  return message._id
}

async function storeTurn(
  { viewer, model, turns }: Scope<"viewer" | "model" | "turns">,
  tx: Transaction,
  turn: { threadId: string; questionId: string; requestId: string },
) {
  const userId = viewer.user._id
  const [answer] = await tx
    .insert(chatMessages)
    .values({ userId, threadId: turn.threadId, role: "assistant", content: "" })
    .returning({ _id: chatMessages._id })
  if (!answer) throw new Error("The answer's row did not come back from the database.")
  await tx.insert(chatTurns).values({
    _id: answer._id,
    userId,
    ...turn,
    status: "running",
    model: model.name,
    process: turns.process,
  })
  return answer._id
}
