import type { ReplyPart, ChatTurn } from "#db/schema/chat.ts"
import type { ReplyChunk, ReplyMetadata, FoldedReply, StopReason } from "./contract.ts"

/** What the end of a stream says about a reply. */
type Ended = Pick<ChatTurn, "status" | "failure" | "inputTokens" | "outputTokens" | "finishReason">

interface Sent {
  length: number
  isOpen: boolean
  hasInput: boolean
  hasResult: boolean
}

/** A reply's parts as chunks of the UI message stream, for a stored reply or one in progress. */
export function createPartStreamer() {
  const sent: Sent[] = []

  return {
    /**
     * The chunks for what was added since the last call. With `isWhole` the last part is complete.
     */
    *next({ content, parts }: FoldedReply, { isWhole }: { isWhole: boolean }): Generator<ReplyChunk> {
      const all = parts ?? (content === "" ? [] : [{ type: "text", text: content } as const])
      for (const [place, part] of all.entries()) {
        const state = (sent[place] ??= { length: 0, isOpen: false, hasInput: false, hasResult: false })
        if (part.type === "tool") yield* toolChunks(state, part)
        else yield* textChunks(state, String(place), part, isWhole || place < all.length - 1)
      }
    },
  }
}

function* textChunks(
  state: Sent,
  id: string,
  { type, text }: ReplyPart & { type: "text" | "reasoning" },
  isOver: boolean,
): Generator<ReplyChunk> {
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

function* toolChunks(
  state: Sent,
  { callId: toolCallId, name: toolName, input, output, error }: ReplyPart & { type: "tool" },
): Generator<ReplyChunk> {
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

export function* startChunks(messageId: string, metadata: ReplyMetadata): Generator<ReplyChunk> {
  yield { type: "start", messageId, messageMetadata: metadata }
  yield { type: "start-step" }
}

/**
 * In place of a reply to a message that asks nobody. Clients of the AI SDK finish without adding a
 * message, because a transient part is none of it.
 */
export function* storedChunks(questionId: string): Generator<ReplyChunk> {
  yield { type: "start" }
  yield { type: "data-stored", data: { questionId }, transient: true }
  yield { type: "finish" }
}

export function* endChunks(turn: Ended): Generator<ReplyChunk> {
  const { status, failure, inputTokens, outputTokens, finishReason } = turn
  if (status === "stopped" || status === "timeout" || status === "interrupted")
    return yield* stopChunks(status)
  if (status === "failed") {
    yield { type: "error", errorText: failure ?? "The model couldn't reply." }
    return
  }
  yield { type: "finish-step" }
  const messageMetadata = {
    ...(inputTokens !== null && { inputTokens }),
    ...(outputTokens !== null && { outputTokens }),
    ...(finishReason !== null && { finishReason }),
  }
  yield { type: "finish", ...(finishReason !== null && { finishReason }), messageMetadata }
}

/**
 * The `abort` chunk alone looks like a normal end to the browser, so the reason is sent before it.
 */
export function* stopChunks(stop: StopReason): Generator<ReplyChunk> {
  yield { type: "message-metadata", messageMetadata: { stop } }
  yield { type: "abort" }
}
