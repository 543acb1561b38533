import type { ModelMessage } from "ai"
import { eq } from "drizzle-orm"
import { chatMessages, chatTurns } from "#db/schema/chat.ts"
import type { Scope } from "../scope.ts"
import { AnswerStopped, streamAnswer } from "./answer.ts"
import { createAnswerRecord, type AnswerRecord } from "./answer-record.ts"
import type { AnswerChunk, StopReason } from "./contract.ts"
import type { Question } from "./conversation.ts"
import { recallMessages } from "./messages.ts"
import { openTurn, type OpenedTurn } from "./open-turn.ts"
import { chatTools } from "./tools.ts"

type TurnScope = Scope<"db" | "viewer" | "model" | "config" | "log" | "turns">

/** The chunks of an answer, and how to end it early. */
export interface Answer {
  chunks: AsyncIterable<AnswerChunk>
  stop(reason: StopReason): void
}

/** Milliseconds. The route may take 30 seconds; the rest is for the words around the answer. */
const TIME_LIMIT = 29_000

/** Milliseconds between two writes of an answer that grows: so much of it is lost when the process dies. */
const SAVE_INTERVAL = 3_000

interface TurnOptions {
  /** Milliseconds. */
  timeLimit?: number
}

/** An answer that nothing remembers. It lives as long as somebody reads it. */
export function answerOnce(
  scope: Scope<"db" | "viewer" | "model" | "config" | "log">,
  messages: ModelMessage[],
  { timeLimit = TIME_LIMIT }: TurnOptions = {},
): Answer {
  const { signal, stop, release } = limitTime(timeLimit)
  async function* chunks() {
    try {
      yield* streamAnswer(scope, {
        id: crypto.randomUUID(),
        messages,
        tools: chatTools(scope),
        metadata: { model: scope.model.name },
        signal,
      })
    } finally {
      release()
    }
  }
  return { chunks: chunks(), stop }
}

/**
 * Asks a question in one of the viewer's conversations. The turn belongs to the server: it goes on, and its answer is
 * stored, whether or not anybody reads the chunks. Throws NotFound, and Conflict while another answer is being given.
 */
export async function askQuestion(
  scope: TurnScope,
  threadId: string,
  question: Question & { again: boolean },
  { timeLimit = TIME_LIMIT }: TurnOptions = {},
): Promise<Answer> {
  const opened = await openTurn(scope, threadId, question)
  if (opened.kind === "answered") return { chunks: repeat(opened), stop: () => {} }

  const { signal, stop, release } = limitTime(timeLimit)
  let reader: ReadableStreamDefaultController<AnswerChunk> | null = null
  const chunks = new ReadableStream<AnswerChunk>({
    start: (controller) => {
      reader = controller
    },
    cancel: () => {
      reader = null
    },
  })
  const stored = run(scope, opened, signal, (chunk) => reader?.enqueue(chunk))
    .catch((error: unknown) =>
      scope.log.error({ err: error, answer: opened.answerId }, "an answer was not stored"),
    )
    .finally(() => {
      release()
      reader?.close()
    })
  scope.turns.add(threadId, { stop, stored })
  return { chunks, stop }
}

type Fresh = Extract<OpenedTurn, { kind: "fresh" }>

async function run(scope: TurnScope, turn: Fresh, signal: AbortSignal, send: (chunk: AnswerChunk) => void) {
  const record = createAnswerRecord()
  const saving = saveRegularly(scope, turn.answerId, record)
  try {
    const chunks = streamAnswer(scope, {
      id: turn.answerId,
      messages: await recallMessages(scope, turn.threadId, turn.questionId),
      tools: chatTools(scope),
      metadata: { model: scope.model.name, questionId: turn.questionId },
      signal,
    })
    for await (const chunk of chunks) {
      record.take(chunk)
      send(chunk)
    }
  } finally {
    await saving.end()
    await saveEnd(scope, turn.answerId, record)
  }
}

/** Writes the growing answer at intervals, one write at a time, and only when there is more to write. */
function saveRegularly({ db, log }: TurnScope, answerId: string, record: AnswerRecord) {
  let saved = 0
  let pending = Promise.resolve()
  const timer = setInterval(() => {
    pending = pending.then(save).catch((error: unknown) => {
      log.warn({ err: error, answer: answerId }, "a growing answer was not stored")
    })
  }, SAVE_INTERVAL)

  async function save() {
    if (saved === record.version) return
    saved = record.version
    const { content, parts } = record.read()
    await db.transaction(async (tx) => {
      await tx.update(chatMessages).set({ content }).where(eq(chatMessages._id, answerId))
      if (parts) await tx.update(chatTurns).set({ parts }).where(eq(chatTurns._id, answerId))
    })
  }
  return {
    end() {
      clearInterval(timer)
      return pending
    },
  }
}

async function saveEnd({ db }: TurnScope, answerId: string, record: AnswerRecord) {
  const { content, ...turn } = record.read()
  await db.transaction(async (tx) => {
    await tx.update(chatMessages).set({ content }).where(eq(chatMessages._id, answerId))
    await tx
      .update(chatTurns)
      .set({ ...turn, endedAt: Date.now() })
      .where(eq(chatTurns._id, answerId))
  })
}

function limitTime(milliseconds: number) {
  const abort = new AbortController()
  const stop = (reason: StopReason) => abort.abort(new AnswerStopped(reason))
  const timer = setTimeout(stop, milliseconds, "timeout" satisfies StopReason)
  return { signal: abort.signal, stop, release: () => clearTimeout(timer) }
}

/** The stored answer once more, for a sender who did not hear that it arrived. */
async function* repeat(answered: Extract<OpenedTurn, { kind: "answered" }>): AsyncGenerator<AnswerChunk> {
  const { answerId, questionId, model, content } = answered
  yield { type: "start", messageId: answerId, messageMetadata: { model, questionId } }
  yield { type: "text-start", id: "0" }
  yield { type: "text-delta", id: "0", delta: content }
  yield { type: "text-end", id: "0" }
  yield { type: "finish" }
}
