import { and, desc, eq, sql, type SQL } from "drizzle-orm"
import { alias } from "drizzle-orm/pg-core"
import * as v from "valibot"
import type { Transaction } from "#db/client.ts"
import { chatMessages, chatThreads, chatTurns, type ChatThread, type ChatTurn } from "#db/schema/chat.ts"
import { users } from "#db/schema/users.ts"
import { Conflict, NotFound } from "../errors.ts"
import { limitsOf } from "../plans/limits.ts"
import type { Scope } from "../scope.ts"
import { ownThread } from "./access.ts"
import { attachFiles } from "./attachments.ts"
import { ThreadId, titleOf, UNTITLED } from "./contract.ts"
import type { Question } from "./conversation.ts"
import { deadlineOf, ENDING_TIME } from "./deadline.ts"
import { endAbandonedTurn } from "./end-turn.ts"
import { replaceFrom } from "./replaced.ts"

export type OpenedTurn =
  | { kind: "fresh"; threadId: string; questionId: string; answerId: string; mayBeNamed: boolean }
  | {
      kind: "answered"
      questionId: string
      answerId: string
      model: string
      content: string
      finishReason: ChatTurn["finishReason"]
    }

/** A question, and what its asker wants done with what is there. */
export interface AskedQuestion extends Question {
  /** Another answer, although there is a complete one. */
  again: boolean
  /** The question in whose place it comes. */
  replaces?: string | null | undefined
}

type Known = Pick<ChatTurn, "questionId" | "status" | "model" | "finishReason"> & { answerId: string }

interface State {
  /** Of the question. */
  known: Known | null
  /** What it was answered. */
  content: string | null
  /** In the conversation. */
  running: { _id: string; deadline: number } | null
  /** How many answers the viewer is being given, in whichever conversation. */
  atOnce: number
}

const running = alias(chatTurns, "running")

/**
 * Stores the question with a row for its answer, unless the same question is stored already: then its answer is given back
 * when it is complete, and made again when it is not, or when the viewer asked for that with `again`.
 * `timeLimit` is the answer's, in milliseconds.
 * Throws NotFound for a conversation that is not the viewer's and a question that is not in it, and Conflict while an answer is being
 * given in it, or as many as are allowed elsewhere.
 */
export function openTurn(
  scope: Opening,
  threadId: string,
  question: AskedQuestion,
  timeLimit: number,
): Promise<OpenedTurn> {
  return scope.turns.inLine(scope.viewer.user._id, async () => {
    await refuseEarly(scope, threadId, question.requestId)
    return storeOpenedTurn(scope, threadId, question, timeLimit)
  })
}

type Opening = Scope<"db" | "viewer" | "model" | "turns" | "config">

/**
 * Without a lock, so that of many questions at once those for which there is no place cost one
 * short statement each. Whoever may get through is judged again, under the locks.
 */
async function refuseEarly(scope: Opening, threadId: string, requestId: string): Promise<void> {
  if (!v.is(ThreadId, threadId)) return
  const ofViewer = eq(chatTurns.userId, scope.viewer.user._id)
  const same = and(ofViewer, eq(chatTurns.threadId, threadId), eq(chatTurns.requestId, requestId))
  const [found] = await scope.db
    .select({
      running: sql<string[]>`coalesce(json_agg(${chatTurns.threadId}), '[]')`,
      isKnown: sql<boolean>`exists (${scope.db.select({ _id: chatTurns._id }).from(chatTurns).where(same)})`,
    })
    .from(chatTurns)
    .where(and(ofViewer, eq(chatTurns.status, "running")))
  if (!found || found.isKnown || found.running.includes(threadId)) return
  refuseTooMany(scope, found.running.length)
}

function storeOpenedTurn(
  scope: Opening,
  threadId: string,
  question: AskedQuestion,
  timeLimit: number,
): Promise<OpenedTurn> {
  return scope.db.transaction(async (tx) => {
    const thread = await lockThread(scope, tx, threadId)
    const state = await findPlace(scope, tx, threadId, question.requestId)
    const { known, newId } = await makePlace(tx, threadId, question, state)
    if (known?.status === "completed" && !question.again)
      return { ...known, kind: "answered", content: state.content ?? "" }
    refuseTooMany(scope, state.atOnce)

    const isUntitled = thread.title === UNTITLED && thread.titleSource === "question"
    const { questionId, answerId } = await storeTurn(scope, tx, {
      threadId,
      requestId: question.requestId,
      question: known
        ? await reopenQuestion(tx, threadId, known)
        : await newQuestion(scope, tx, threadId, question, newId),
      title: isUntitled && !known ? titleOf(question.text) : null,
      deadline: Date.now() + timeLimit + ENDING_TIME,
    })
    return { kind: "fresh", threadId, questionId, answerId, mayBeNamed: thread.titleSource === "question" }
  })
}

/**
 * Two requests for one conversation take their turns one after the other; and so do all questions of one user, which are counted, by a
 * lock that leaves alone who only refers to the user.
 */
async function lockThread(scope: Scope<"viewer">, tx: Transaction, threadId: string) {
  const [thread] = await tx.execute<Pick<ChatThread, "title" | "titleSource">>(sql`
    select ${chatThreads.title}, ${chatThreads.titleSource} as "titleSource"
    from ${chatThreads} join ${users} on ${users._id} = ${chatThreads.userId}
    where ${ownThread(scope, threadId)}
    for update of ${chatThreads} for no key update of ${users}`)
  if (!thread) throw new NotFound("conversation")
  return thread
}

/** Under the locks. Makes room where the last turn has outlived its time, and throws Conflict where it has not. */
async function findPlace(scope: Scope<"viewer">, tx: Transaction, threadId: string, requestId: string) {
  const state = await findState(scope, tx, threadId, requestId)
  if (!state.running) return state
  if (state.running.deadline > Date.now())
    throw new Conflict("A reply is being generated in this conversation. Wait for it, or stop it first.")
  await endAbandonedTurn(tx, state.running._id)
  return findState(scope, tx, threadId, requestId)
}

/** Under the locks: what is known of the question, what stands in its way, and how many answers the viewer is being given. */
async function findState(
  { viewer }: Scope<"viewer">,
  tx: Transaction,
  threadId: string,
  requestId: string,
): Promise<State> {
  const [state] = await tx
    .select({
      running: { _id: running._id, deadline: deadlineOf(running) },
      known: {
        answerId: chatTurns._id,
        questionId: chatTurns.questionId,
        status: chatTurns.status,
        model: chatTurns.model,
        finishReason: chatTurns.finishReason,
      },
      content: chatMessages.content,
      atOnce: tx.$count(
        chatTurns,
        and(eq(chatTurns.userId, viewer.user._id), eq(chatTurns.status, "running")),
      ),
    })
    .from(chatThreads)
    .leftJoin(running, and(eq(running.threadId, chatThreads._id), eq(running.status, "running")))
    .leftJoin(chatTurns, and(eq(chatTurns.threadId, chatThreads._id), eq(chatTurns.requestId, requestId)))
    .leftJoin(chatMessages, eq(chatMessages._id, chatTurns._id))
    .where(eq(chatThreads._id, threadId))
  if (!state) throw new Error("The conversation went away although it is locked.")
  return state
}

function refuseTooMany({ viewer, config }: Scope<"viewer" | "config">, atOnce: number) {
  if (atOnce < limitsOf(config, viewer.session).answersAtOnce) return
  throw new Conflict(
    atOnce === 1
      ? "A reply is being generated in another conversation. Wait for it, or stop it first."
      : `You are being given ${atOnce} answers in other conversations. Wait for one of them, or stop it first.`,
  )
}

/**
 * The turn of a question that is known already, if it stays. One that replaces another takes it away first, with all that follows, and
 * has an id for that; once it has, it is known itself, and its sender has only not heard of it.
 */
async function makePlace(
  tx: Transaction,
  threadId: string,
  { replaces }: AskedQuestion,
  { known }: State,
): Promise<{ known: Known | null; newId: string | null }> {
  if (replaces == null || (known && known.questionId !== replaces)) return { known, newId: null }
  return { known: null, newId: await replaceFrom(tx, threadId, replaces) }
}

/** Takes the answer away, to make room for another. Only the last can be made again: what follows it was said knowing it. */
async function reopenQuestion(tx: Transaction, threadId: string, turn: Known): Promise<SQL> {
  const [last] = await tx
    .select({ _id: chatMessages._id })
    .from(chatMessages)
    .where(eq(chatMessages.threadId, threadId))
    .orderBy(desc(chatMessages._id))
    .limit(1)
  if (last?._id !== turn.answerId) throw new Conflict("Only the last message can be regenerated.")
  await tx.delete(chatMessages).where(eq(chatMessages._id, turn.answerId))
  return sql`select ${turn.questionId}::uuid as _id`
}

async function newQuestion(
  { viewer }: Scope<"viewer">,
  tx: Transaction,
  threadId: string,
  { text, fileIds = [] }: Question,
  newId: string | null,
): Promise<SQL> {
  const attachments = await attachFiles({ viewer, db: tx }, fileIds)
  const attached = attachments.length > 0 ? JSON.stringify(attachments) : null
  return sql`
    insert into ${chatMessages} (_id, user_id, thread_id, role, content, attachments, edited)
    values (
      coalesce(${newId}::uuid, uuidv7()), ${viewer.user._id}, ${threadId}, 'user', ${text}, ${attached}::jsonb, ${newId !== null}
    )
    returning _id`
}

interface NewTurn {
  threadId: string
  requestId: string
  /** Gives the question's `_id`. */
  question: SQL
  /** Null where the conversation keeps its own. */
  title: string | null
  /** Milliseconds since the epoch. */
  deadline: number
}

/** In one statement, and each row from the one before: an answer's id must sort after its question's. */
async function storeTurn(
  { viewer, model, turns }: Scope<"viewer" | "model" | "turns">,
  tx: Transaction,
  { threadId, requestId, question, title, deadline }: NewTurn,
) {
  const userId = viewer.user._id
  const [stored] = await tx.execute<{ questionId: string; answerId: string }>(sql`
    with question as (${question}), answer as (
      insert into ${chatMessages} (user_id, thread_id, role, content)
      select ${userId}::uuid, ${threadId}::uuid, 'assistant', '' from question
      returning _id
    ), turn as (
      insert into ${chatTurns} (_id, user_id, thread_id, question_id, request_id, status, model, process, deadline)
      select answer._id, ${userId}::uuid, ${threadId}::uuid, question._id, ${requestId}, 'running',
        ${model.name}, ${turns.process}::bigint, ${deadline}::bigint
      from question, answer
    ), thread as (
      update ${chatThreads} set
        last_message_at = greatest(last_message_at + 1, ${Date.now()}::bigint),
        title = coalesce(${title}, title)
      where _id = ${threadId}
    )
    select question._id as "questionId", answer._id as "answerId" from question, answer`)
  if (!stored) throw new Error("The ids of a turn did not come back from the database.")
  return stored
}
