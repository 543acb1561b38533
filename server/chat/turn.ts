import type { ModelMessage } from "ai"
import { Conflict } from "#server/errors.ts"
import { limitsOf } from "#server/plans/limits.ts"
import type { Scope } from "#server/scope.ts"
import { ReplyStopped } from "./generate-reply.ts"
import { createCallIds } from "./call-ids.ts"
import { createReplyRecord } from "./reply-record.ts"
import type { ReplyChunk, StopReason } from "./contract.ts"
import type { Asked, Stored, Waits } from "./request.ts"
import { endTurn } from "./end-turn.ts"
import { openTurn, type OpenedTurn } from "./open-turn.ts"
import { openQueue } from "./queue.ts"
import type { SentMessage } from "./resent.ts"
import { createPartStreamer, endChunks, startChunks, storedChunks } from "./reply-chunks.ts"

type TurnScope = Scope<"db" | "viewer" | "config" | "turns" | "replies">

/** The chunks of a reply, and how to end it early. */
export interface ReplyStream {
  chunks: AsyncIterable<ReplyChunk>
  stop(reason: StopReason): void
}

/** The same in a stored conversation. */
export interface StartedReply extends ReplyStream {
  /** Null for a reply that was complete already, and for a message that asks nobody. */
  turn: Begun | null
}

interface TurnOptions {
  /** Milliseconds. */
  timeLimit?: number
}

/**
 * Limit of replies that are not stored, for one user in one process. No single network address may
 * request so many before the first of them ends.
 */
const ALONE_AT_ONCE = 50

/**
 * A reply that is not stored. It lives as long as somebody reads it. Throws Conflict if the user
 * has too many of them.
 */
export function answerOnce(
  scope: TurnScope,
  messages: ModelMessage[],
  { timeLimit = scope.config.chat.timeLimits.streamed }: TurnOptions = {},
): ReplyStream {
  const leave = enterAlone(scope)
  const { signal, stop, release } = limitTime(timeLimit)
  const chunks = openQueue<ReplyChunk>()
  const record = createReplyRecord()
  const withOwnId = createCallIds()
  const onChunk = (given: ReplyChunk) => {
    const chunk = withOwnId(given)
    record.take(chunk)
    chunks.add(chunk)
  }
  const reply = { id: crypto.randomUUID(), messages, signal }
  void scope.replies.generate(scope, reply, onChunk).finally(() => {
    scope.turns.countEnd(record.read().status)
    leave()
    release()
    chunks.end()
  })
  return { chunks, stop }
}

/**
 * The rate limit counts by network address, which a sender can choose. This limits the memory that
 * replies take.
 */
function enterAlone({ turns, viewer, config }: TurnScope): () => void {
  const { chatPerMinute } = limitsOf(config, viewer.session)
  const most = Math.max(ALONE_AT_ONCE, chatPerMinute)
  const leave = turns.enterAlone(viewer.user._id, most)
  if (!leave) throw new Conflict("too-many-replies", { most })
  return leave
}

/**
 * Sends a message in one of the viewer's conversations. The turn belongs to the server: it
 * continues, and its reply is stored, whether or not anybody reads the chunks. Throws NotFound,
 * Forbidden if the viewer may only read, and Conflict while another reply is in progress.
 */
export async function startReply(
  scope: TurnScope,
  threadId: string,
  question: SentMessage,
  { timeLimit = scope.config.chat.timeLimits.streamed }: TurnOptions = {},
): Promise<StartedReply> {
  const chunks = openQueue<ReplyChunk>()
  const reader = failureLast({ onChunk: chunks.add, end: chunks.end })
  const { turn, stop } = await beginTurn(scope, threadId, question, timeLimit, reader)
  if (turn.kind === "waiting") throw new Error("Only a message in the background may wait.")
  if (turn.kind === "answered") return { chunks: repeat(turn), stop, turn: null }
  if (turn.kind === "stored") return { chunks: repeatStored(turn.questionId), stop, turn: null }
  return { chunks, stop, turn }
}

/**
 * The same for a client that reads the reply from the records: resolves as soon as the turn has
 * begun, or the message waits for its turn.
 */
export function askInBackground(
  scope: TurnScope,
  threadId: string,
  question: SentMessage & { mayWait?: never; toPeople?: never },
): Promise<Asked>
export function askInBackground(
  scope: TurnScope,
  threadId: string,
  question: SentMessage,
): Promise<Asked | Stored | Waits>
export async function askInBackground(
  scope: TurnScope,
  threadId: string,
  question: SentMessage,
): Promise<Asked | Stored | Waits> {
  const { recorded } = scope.config.chat.timeLimits
  const { turn } = await beginTurn(scope, threadId, question, recorded, { onChunk: () => {}, end: () => {} })
  if (turn.kind === "waiting") return { threadId, waitingId: turn.waitingId, ahead: turn.ahead }
  if (turn.kind === "stored") return { threadId, questionId: turn.questionId, answerId: null }
  return { threadId, questionId: turn.questionId, answerId: turn.answerId }
}

interface Reader {
  onChunk(chunk: ReplyChunk): void
  /** No more chunks follow. May be called twice. */
  end(): void
}

/**
 * A client stops reading at a failure, and may ask again at once: so it is told when the reply has
 * ended.
 */
function failureLast(reader: Reader): Reader {
  let failure: ReplyChunk | null = null
  return {
    onChunk(chunk) {
      if (chunk.type === "error") failure = chunk
      else reader.onChunk(chunk)
    },
    end() {
      if (failure) reader.onChunk(failure)
      failure = null
      reader.end()
    },
  }
}

async function beginTurn(
  scope: TurnScope,
  threadId: string,
  question: SentMessage,
  timeLimit: number,
  reader: Reader,
) {
  const turn = await openTurn(scope, threadId, question, timeLimit)
  if (turn.kind === "waiting") {
    // The reply that it waits for may have ended while it was being stored.
    scope.turns.tellEnded(threadId)
    return { turn, stop: () => {} }
  }
  if (turn.kind !== "fresh") return { turn, stop: () => {} }

  const { signal, stop, release } = limitTime(timeLimit)
  const work = run(scope, turn, signal, reader).finally(() => {
    release()
    reader.end()
  })
  const stored = scope.turns.add(turn.answerId, stop, work)
  if (turn.spaceId !== null) void stored.then(() => scope.turns.tellEnded(threadId))
  if (turn.mayBeNamed)
    scope.turns.follow((ending) => stored.then(() => scope.replies.nameThread(scope, threadId, ending)))
  return { turn, stop }
}

type Fresh = Extract<OpenedTurn, { kind: "fresh" }>
type Begun = Extract<OpenedTurn, { kind: "fresh" | "running" }>

async function run(scope: TurnScope, turn: Fresh, signal: AbortSignal, reader: Reader) {
  const record = createReplyRecord()
  const withOwnId = createCallIds()
  const pieces = scope.turns.chunks.open(turn.answerId, () => record.drain())
  try {
    await scope.replies.continueThread(scope, { ...turn, signal }, (given) => {
      const chunk = withOwnId(given)
      record.take(chunk)
      pieces.grew()
      reader.onChunk(chunk)
    })
  } finally {
    pieces.close()
  }
  await endTurn(scope, turn.answerId, record.read(), () => reader.end())
}

function limitTime(milliseconds: number) {
  const abort = new AbortController()
  const stop = (reason: StopReason) => abort.abort(new ReplyStopped(reason))
  const timer = setTimeout(stop, milliseconds, "timeout" satisfies StopReason)
  return { signal: abort.signal, stop, release: () => clearTimeout(timer) }
}

async function* repeatStored(questionId: string): AsyncGenerator<ReplyChunk> {
  yield* storedChunks(questionId)
}

/** The stored reply again, for a sender who missed the first response. */
async function* repeat(answered: Extract<OpenedTurn, { kind: "answered" }>): AsyncGenerator<ReplyChunk> {
  const { answerId, questionId, model } = answered
  yield* startChunks(answerId, { model, questionId })
  yield* createPartStreamer().next(answered, { isWhole: true })
  yield* endChunks(answered)
}
