import { and, eq } from "drizzle-orm"
import * as v from "valibot"
import type { Transaction } from "#db/client.ts"
import { isLost } from "#live/check"
import { chatWaiting } from "#db/schema/chat.ts"
import { PERSONAL } from "#db/schema/spaces.ts"
import { Conflict, Forbidden, isRefusal, NotFound } from "#server/errors.ts"
import { notifyMentioned } from "#server/notifications/mention.ts"
import { limitsOf } from "#server/plans/limits.ts"
import type { Scope } from "#server/scope.ts"
import { requireEditor } from "#server/spaces/access.ts"
import { attachFiles } from "./attachments.ts"
import { ThreadId, titleOf, UNTITLED } from "./contract.ts"
import { ENDING_TIME } from "./deadline.ts"
import { findNote, prepareMessage } from "./prepare-message.ts"
import { asEdit, isChanged, isReplaced, refuseOthers, type SentMessage } from "./resent.ts"
import {
  findThreadStates,
  insertThread,
  lockThreads,
  storeTurns,
  type KnownTurn,
  type NewTurn,
  type ThreadState,
} from "./turn-rows.ts"
import { addWaiting } from "./waiting.ts"

export type OpenedTurn =
  | {
      kind: "fresh"
      threadId: string
      spaceId: string | null
      questionId: string
      answerId: string
      mayBeNamed: boolean
    }
  | ({ kind: "answered"; content: string } & KnownTurn)
  | RunningTurn
  | StoredMessage
  | WaitingTurn

/** Its reply is being generated already. */
interface RunningTurn {
  kind: "running"
  threadId: string
  spaceId: string
  questionId: string
  answerId: string
}

/** A message to the people in a space: nobody replies to it but they. */
interface StoredMessage {
  kind: "stored"
  questionId: string
}

/** The message waits for the replies to those before it. */
export interface WaitingTurn {
  kind: "waiting"
  waitingId: string
  /** How many messages wait before it. */
  ahead: number
}

type OpenScope = Scope<"db" | "viewer" | "replies" | "turns" | "config">

interface Opening {
  scope: OpenScope
  threadId: string
  question: SentMessage
  /** Milliseconds. */
  timeLimit: number
}

/**
 * Stores the message with a row for its reply, unless the same message is already stored: then a
 * complete reply is returned, and an incomplete one is generated again, as it is with `again`.
 * Different contents under the id of a stored message replace it, as an edit does. A message to the
 * people in a space gets no row for a reply, waits for none, and is changed in its place.
 * `timeLimit` is the reply's, in milliseconds. A message that is refused creates no conversation.
 * Throws NotFound for a conversation that the viewer may not see and for a message that is not in
 * it, Forbidden for one that they may only read, and Conflict while a reply is being generated in it
 * or others wait, or while the viewer has as many replies in progress as their plan allows; messages
 * that wait count as such. With `mayWait`, a new message waits instead. One person's
 * replies in progress are counted, so their messages are stored one after the other, whichever
 * process receives them. Those that wait in this process are stored in one batch: a hundred take as
 * many statements as two.
 */
export function openTurn(
  scope: OpenScope,
  threadId: string,
  question: SentMessage,
  timeLimit: number,
): Promise<OpenedTurn> {
  if (!v.is(ThreadId, threadId)) throw new NotFound("conversation")
  const opening = { scope, threadId, question, timeLimit }
  return scope.turns.inBatch(scope.viewer.user._id, opening, openAll)
}

type Outcome = PromiseSettledResult<OpenedTurn>

/** All of one person. */
async function openAll(openings: Opening[]): Promise<Outcome[]> {
  const outcomes = new Map<Opening, Outcome>()
  let left = openings
  while (left.length > 0) {
    // Within a conversation, a message must see the one before it.
    const batch = [...new Map(left.toReversed().map((opening) => [opening.threadId, opening])).values()]
    for (const [opening, outcome] of await openBatch(batch)) outcomes.set(opening, outcome)
    left = left.filter((opening) => !outcomes.has(opening))
  }
  return openings.flatMap((opening) => outcomes.get(opening) ?? [])
}

async function openBatch(batch: Opening[]): Promise<Map<Opening, Outcome>> {
  try {
    return await storeBatch(batch)
  } catch (reason) {
    if (batch.length === 1 || isLost(reason)) {
      return new Map(batch.map((opening) => [opening, { status: "rejected", reason }]))
    }
    // A message that cannot be stored must not make the others fail.
    const outcomes = new Map<Opening, Outcome>()
    for (const opening of batch) {
      for (const [same, outcome] of await openBatch([opening])) outcomes.set(same, outcome)
    }
    return outcomes
  }
}

async function storeBatch(batch: Opening[]): Promise<Map<Opening, Outcome>> {
  const [first] = batch
  if (!first) return new Map()
  return first.scope.db.transaction(async (tx) => {
    const outcomes = new Map<Opening, Outcome>()
    const fresh = new Map<string, { opening: Opening; turn: NewTurn } & Fresh>()
    await lockThreads(first.scope, tx, batch)
    const { threads, running } = await findThreadStates(first.scope, tx, batch)
    for (const opening of batch) {
      try {
        const known = threads.get(opening.threadId)
        const state = known ?? (await beginThread({ ...opening.scope, db: tx }, opening.question))
        const begun = Array.from(fresh.values()).filter(({ turn }) => !turn.toPeople).length
        const prepared = await prepare(opening, tx, state, running + begun)
        if (!known) await insertThread(opening.scope, tx, { ...state, _id: opening.threadId })
        if ("kind" in prepared) outcomes.set(opening, { status: "fulfilled", value: prepared })
        else fresh.set(opening.threadId, { opening, ...prepared })
      } catch (reason) {
        if (!isRefusal(reason)) throw reason
        outcomes.set(opening, { status: "rejected", reason })
      }
    }
    const turns = Array.from(fresh.values(), ({ turn }) => turn)
    for (const { threadId, questionId, answerId } of await storeTurns(first.scope, tx, turns)) {
      const stored = fresh.get(threadId)
      if (!stored) continue
      const { opening, mayBeNamed, spaceId, turn } = stored
      const { mentioned } = turn.question
      if (spaceId && mentioned)
        await notifyMentioned(first.scope, tx, mentioned, { spaceId, threadId, messageId: questionId })
      const value: OpenedTurn =
        answerId === null
          ? { kind: "stored", questionId }
          : { kind: "fresh", threadId, spaceId, questionId, answerId, mayBeNamed }
      outcomes.set(opening, { status: "fulfilled", value })
    }
    return outcomes
  })
}

type Fresh = Pick<Extract<OpenedTurn, { kind: "fresh" }>, "spaceId" | "mayBeNamed">

/**
 * A conversation that its first message creates. Throws NotFound if the message does not, and as
 * `requireEditor` does.
 */
async function beginThread(
  scope: Scope<"db" | "viewer">,
  { createsThread, spaceId }: SentMessage,
): Promise<ThreadState> {
  if (!createsThread) throw new NotFound("conversation")
  if (spaceId !== undefined) await requireEditor(scope, spaceId)
  return {
    title: UNTITLED,
    titleSource: "question",
    spaceId: spaceId?.toLowerCase() ?? null,
    mayEdit: true,
    known: null,
    stored: null,
    content: null,
    running: null,
    next: null,
  }
}

type RepliedTurn = Exclude<OpenedTurn, { kind: "fresh" }>

/** Called with the locks held. `running` is the number of the viewer's replies in progress. */
async function prepare(
  { scope, threadId, question: sent, timeLimit }: Opening,
  tx: Transaction,
  state: ThreadState,
  running: number,
): Promise<RepliedTurn | ({ turn: NewTurn } & Fresh)> {
  if (sent.spaceId !== undefined && sent.spaceId.toLowerCase() !== state.spaceId)
    throw new NotFound("conversation")
  if (!state.mayEdit) throw new Forbidden("space-reader")
  if (!isReplaced(sent, state.known)) refuseOthers(scope, sent, state)
  const question = asEdit(sent, state)
  const { toPeople = false } = question
  const known = isReplaced(question, state.known) ? null : state.known
  const note = known ? null : await findNote(tx, threadId, question, state)
  const isRewritten = note !== null && isChanged(question, note)
  if (isRewritten && note.userId !== scope.viewer.user._id) throw new Forbidden("message-of-another")
  if (toPeople && known && known.status !== "completed")
    return { kind: "stored", questionId: known.questionId }
  if (toPeople && note && !isRewritten) return { kind: "stored", questionId: note._id }

  const isAbandoned = state.running !== null && state.running.deadline <= Date.now()
  const isNext = question.waitingId !== undefined && state.next?._id === question.waitingId
  if (question.waitingId !== undefined && !isNext) throw new Conflict("reply-running")
  const waitsForNobody = toPeople && (question.replaces == null || note !== null)
  if (!waitsForNobody && ((state.running && !isAbandoned) || (state.next && !isNext))) {
    const { spaceId } = state
    if (known && known.answerId === state.running?._id && question.asks && spaceId !== null)
      return { kind: "running", threadId, spaceId, questionId: known.questionId, answerId: known.answerId }
    if (isNext || !mayWait(question, state)) throw new Conflict("reply-running")
    return wait({ scope, threadId, question, timeLimit }, tx, state.spaceId, running)
  }

  if (known?.status === "completed" && !question.again)
    return { ...known, kind: "answered", content: state.content ?? "" }
  // A message that waited has been counted since.
  if (!isNext && !toPeople) refuseTooMany(scope, isAbandoned ? running - 1 : running)

  const isUntitled = state.title === UNTITLED && state.titleSource === "question"
  const before = { ...state, running: isAbandoned ? state.running : null }
  const turn = {
    threadId,
    requestId: question.requestId,
    question: await prepareMessage(scope, tx, { threadId, question }, before, note),
    toPeople,
    waited: isNext,
    title: isUntitled && !known ? titleOf(question.text) : null,
    deadline: Date.now() + timeLimit + ENDING_TIME,
  }
  return { turn, spaceId: state.spaceId, mayBeNamed: state.titleSource === "question" }
}

/** Another reply and an edit do not wait, and neither does a message that is stored already. */
function mayWait({ mayWait: mayIt, again, replaces }: SentMessage, { stored }: ThreadState): boolean {
  return mayIt === true && !again && replaces == null && stored === null
}

async function wait(
  { scope, threadId, question }: Opening,
  tx: Transaction,
  spaceId: string | null,
  running: number,
): Promise<WaitingTurn> {
  const { requestId, text, fileIds = [] } = question
  const [sent] = await tx
    .select({ userId: chatWaiting.userId, state: chatWaiting.state })
    .from(chatWaiting)
    .where(and(eq(chatWaiting.threadId, threadId), eq(chatWaiting.requestId, requestId)))
  if (sent && sent.userId !== scope.viewer.user._id) throw new Conflict("message-id-taken")
  if (sent?.state !== "waiting") refuseTooMany(scope, running)
  // If its files are refused, the rest of the batch continues.
  return tx.transaction(async (inner) => {
    const attachments = await attachFiles({ viewer: scope.viewer, db: inner }, fileIds, spaceId)
    const { _id: waitingId, ahead } = await addWaiting(inner, {
      userId: scope.viewer.user._id,
      threadId,
      spaceKey: spaceId ?? PERSONAL,
      requestId,
      content: text,
      attachments: attachments.length > 0 ? attachments : null,
    })
    return { kind: "waiting", waitingId, ahead }
  })
}

function refuseTooMany({ viewer, config }: Scope<"viewer" | "config">, running: number) {
  if (running < limitsOf(config, viewer.session).concurrentReplies) return
  throw running === 1
    ? new Conflict("reply-running-elsewhere")
    : new Conflict("too-many-replies-elsewhere", { running })
}
