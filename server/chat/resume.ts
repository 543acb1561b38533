import { setTimeout as delay } from "node:timers/promises"
import { and, eq, gt, sql } from "drizzle-orm"
import {
  chatChunks,
  chatMessages,
  chatTurns,
  type AnswerDelta,
  type AnswerPart,
  type ChatTurn,
} from "#db/schema/chat.ts"
import { Conflict } from "../errors.ts"
import type { Scope } from "../scope.ts"
import { beginFold, type AnswerChunk, type FoldedAnswer } from "./contract.ts"
import { findThread } from "./threads.ts"

type Resuming = Scope<"db" | "viewer" | "turns">

/** Milliseconds between two looks at what was stored of an answer. */
const INTERVAL = 150

/** Streams of one person that follow stored answers in this process: each is a statement per look. */
const FOLLOWED_AT_ONCE = 10

export interface ResumedAnswer {
  chunks: AsyncIterable<AnswerChunk>
  leave(): void
}

/**
 * The answer that is being given in one of the viewer's conversations, from its first word on and
 * then as it grows, in whichever process it is given. Null where none is. Throws NotFound, and
 * Conflict where the viewer follows too many.
 */
export async function resumeAnswer(scope: Resuming, threadId: string): Promise<ResumedAnswer | null> {
  await findThread(scope, threadId)
  const [turn] = await scope.db
    .select({ _id: chatTurns._id, model: chatTurns.model, questionId: chatTurns.questionId })
    .from(chatTurns)
    .where(and(eq(chatTurns.threadId, threadId), eq(chatTurns.status, "running")))
  if (!turn) return null
  const exit = scope.turns.enterAlone(`follows ${scope.viewer.user._id}`, FOLLOWED_AT_ONCE)
  if (!exit)
    throw new Conflict(`You are following ${FOLLOWED_AT_ONCE} replies already. Close one of the streams.`)
  const leaving = new AbortController()
  leaving.signal.addEventListener("abort", exit, { once: true })
  const leave = () => leaving.abort()
  return { chunks: untilEnd(follow(scope, turn, leaving.signal), leave), leave }
}

async function* untilEnd(chunks: AsyncIterable<AnswerChunk>, end: () => void) {
  try {
    yield* chunks
  } finally {
    end()
  }
}

async function* follow(
  scope: Resuming,
  { _id, model, questionId }: Pick<ChatTurn, "_id" | "model" | "questionId">,
  leaving: AbortSignal,
): AsyncGenerator<AnswerChunk> {
  yield { type: "start", messageId: _id, messageMetadata: { model, questionId } }
  yield { type: "start-step" }
  const fold = beginFold()
  const teller = createTeller()
  for (let seen = -1; !leaving.aborted;) {
    const state = await readState(scope, _id, seen)
    // It was asked again, or its conversation deleted.
    if (!state) return yield* endEarly("stopped")
    for (const { seq, delta } of state.chunks) {
      delta.forEach(fold.add)
      seen = seq
    }
    if (state.status !== "running") {
      yield* teller.tell(partsOf(state), { isWhole: true })
      return yield* endOf(state)
    }
    yield* teller.tell(partsOf(fold.read()), { isWhole: false })
    await delay(INTERVAL, null, { signal: leaving }).catch(() => {})
  }
}

interface State extends FoldedAnswer, Pick<ChatTurn, "status" | "failure" | "inputTokens" | "outputTokens"> {
  /** Since the last look, in order. */
  chunks: { seq: number; delta: AnswerDelta[] }[]
}

/** One statement sees one moment: the end of a turn takes its pieces away in the commit that stores its words. */
async function readState({ db }: Resuming, turnId: string, after: number): Promise<State | undefined> {
  const chunk = sql`json_build_object('seq', ${chatChunks.seq}, 'delta', ${chatChunks.delta}) order by ${chatChunks.seq}`
  const since = and(eq(chatChunks.turnId, chatTurns._id), gt(chatChunks.seq, after))
  const [state] = await db
    .select({
      status: chatTurns.status,
      failure: chatTurns.failure,
      inputTokens: chatTurns.inputTokens,
      outputTokens: chatTurns.outputTokens,
      parts: chatTurns.parts,
      content: chatMessages.content,
      chunks: sql<State["chunks"]>`
        coalesce((select json_agg(${chunk}) from ${chatChunks} where ${since}), '[]')`,
    })
    .from(chatTurns)
    .innerJoin(chatMessages, eq(chatMessages._id, chatTurns._id))
    .where(eq(chatTurns._id, turnId))
  return state
}

function partsOf({ content, parts }: FoldedAnswer): AnswerPart[] {
  return parts ?? (content === "" ? [] : [{ type: "text", text: content }])
}

/** Says of growing parts what was not said yet. */
function createTeller() {
  const told: { length: number; isOpen: boolean; hasInput: boolean; hasResult: boolean }[] = []

  return {
    *tell(parts: readonly AnswerPart[], { isWhole }: { isWhole: boolean }): Generator<AnswerChunk> {
      for (const [place, part] of parts.entries()) {
        if (part.type === "tool") yield* tellTool(place, part)
        else yield* tellText(place, part, isWhole || place < parts.length - 1)
      }
    },
  }

  function stateAt(place: number) {
    return (told[place] ??= { length: 0, isOpen: false, hasInput: false, hasResult: false })
  }

  function* tellText(
    place: number,
    { type, text }: AnswerPart & { type: "text" | "reasoning" },
    isOver: boolean,
  ): Generator<AnswerChunk> {
    const state = stateAt(place)
    const id = String(place)
    const delta = text.slice(state.length)
    if (delta !== "") {
      if (!state.isOpen) yield { type: `${type}-start`, id }
      yield { type: `${type}-delta`, id, delta }
      state.isOpen = true
      state.length = text.length
    }
    if (isOver && state.isOpen) {
      yield { type: `${type}-end`, id }
      state.isOpen = false
    }
  }

  function* tellTool(
    place: number,
    { callId: toolCallId, name: toolName, input, output, error }: AnswerPart & { type: "tool" },
  ): Generator<AnswerChunk> {
    const state = stateAt(place)
    const hasResult = output !== undefined || error !== undefined
    if (!state.hasInput && (input !== undefined || hasResult)) {
      yield { type: "tool-input-available", toolCallId, toolName, input }
      state.hasInput = true
    }
    if (state.hasResult || !hasResult) return
    yield error === undefined
      ? { type: "tool-output-available", toolCallId, output }
      : { type: "tool-output-error", toolCallId, errorText: error }
    state.hasResult = true
  }
}

function* endOf({ status, failure, inputTokens, outputTokens }: State): Generator<AnswerChunk> {
  if (status === "stopped" || status === "timeout" || status === "interrupted") return yield* endEarly(status)
  if (status === "failed") {
    yield { type: "error", errorText: failure ?? "The answer failed." }
    return
  }
  yield { type: "finish-step" }
  const usage = {
    ...(inputTokens !== null && { inputTokens }),
    ...(outputTokens !== null && { outputTokens }),
  }
  yield { type: "finish", messageMetadata: usage }
}

function* endEarly(stop: "stopped" | "timeout" | "interrupted"): Generator<AnswerChunk> {
  yield { type: "message-metadata", messageMetadata: { stop } }
  yield { type: "abort" }
}
