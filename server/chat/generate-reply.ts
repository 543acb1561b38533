import { randomUUID } from "node:crypto"
import {
  APICallError,
  isStepCount,
  RetryError,
  streamText,
  toUIMessageChunk,
  type ModelMessage,
  type ToolSet,
} from "ai"
import type { Scope } from "#server/scope.ts"
import type { ReplyChunk, ReplyMetadata, StopReason } from "./contract.ts"
import { writeFailure } from "./failure-contract.ts"
import { describeModelError, type ModelTrouble } from "./model-trouble.ts"
import { stopChunks } from "./reply-chunks.ts"

/**
 * The reason of an abort signal that ends a reply. It has the name by which fetch and the SDK
 * recognise an abort.
 */
export class ReplyStopped extends Error {
  readonly reason: StopReason

  constructor(reason: StopReason) {
    super("The reply was stopped.")
    this.name = "AbortError"
    this.reason = reason
  }
}

/** What asks the model. */
export interface Generator extends Scope<"model" | "config" | "log"> {
  trouble: ModelTrouble
}

interface ReplyOptions {
  /** The reply's id in the stream. */
  id: string
  messages: ModelMessage[]
  tools: ToolSet
  metadata: ReplyMetadata
  /** Aborted with `ReplyStopped`. */
  signal: AbortSignal
}

/**
 * The model's reply as chunks of the UI message stream. Never throws: every failure becomes an
 * `error` chunk with a sentence for the user, and the cause is logged under the id in that
 * sentence. A reply that ends early gives the reason in its metadata, because to the browser the
 * `abort` chunk alone looks like a normal end.
 */
export async function generateReply(
  { model, config, log, trouble }: Generator,
  { id, messages, tools, metadata, signal }: ReplyOptions,
  give: (chunk: ReplyChunk) => void,
): Promise<void> {
  let begun = false
  try {
    const result = streamText({
      model: model.open(),
      instructions: config.chat.systemPrompt,
      messages,
      tools,
      stopWhen: isStepCount(config.chat.maxSteps),
      maxOutputTokens: config.chat.maxOutputTokens,
      maxRetries: 1, // a second attempt would use up the time limit
      streamRetries: 0, // text sent before the retry would stay, and be sent twice
      abortSignal: signal,
      onError: () => {}, // the SDK would print it; the loop below sees it as a part
    })
    for await (const part of result.stream) {
      if (part.type === "abort") return cutShort(signal, give)
      if (part.type === "error") {
        if (signal.aborted) continue // the abort part follows
        give({ type: "error", errorText: explain(part.error) })
        continue
      }
      if (part.type === "tool-error")
        log.warn({ err: part.error, tool: part.toolName, answer: id }, "chat tool failed")
      if (ANSWERING.has(part.type)) trouble.end()
      const chunk = toUIMessageChunk(part, {
        tools,
        responseMessageId: id,
        messageMetadata:
          part.type === "start"
            ? metadata
            : part.type === "finish"
              ? { ...usageOf(part.totalUsage), finishReason: part.finishReason }
              : undefined,
        onError: () => writeFailure("tool-failed"),
      })
      if (!chunk) continue
      if (chunk.type === "start") begun = true
      give(chunk as ReplyChunk) // the metadata is the one given above
    }
  } catch (error) {
    if (!begun) give({ type: "start", messageId: id, messageMetadata: metadata })
    if (signal.aborted) cutShort(signal, give)
    else give({ type: "error", errorText: explain(error) })
  }

  function explain(error: unknown) {
    const cause = RetryError.isInstance(error) ? error.lastError : error
    const refused = trouble.report(cause)
    if (refused) return writeFailure("model-refused", refused.reference)
    const reference = randomUUID().slice(0, 8)
    const status = APICallError.isInstance(cause) ? cause.statusCode : undefined
    log.error(
      { ...describeModelError(cause), reference, answer: id, model: model.name },
      "the model did not reply",
    )
    return writeFailure(status === 429 || status === 503 ? "model-busy" : "model-failed", reference)
  }
}

/** Parts that only an answer has. */
const ANSWERING = new Set(["text-delta", "reasoning-delta", "tool-call"])

function cutShort({ reason }: AbortSignal, give: (chunk: ReplyChunk) => void) {
  const stop = reason instanceof ReplyStopped ? reason.reason : "interrupted"
  for (const chunk of stopChunks(stop)) give(chunk)
}

function usageOf({
  inputTokens,
  outputTokens,
}: {
  inputTokens: number | undefined
  outputTokens: number | undefined
}) {
  return {
    ...(inputTokens !== undefined && { inputTokens }),
    ...(outputTokens !== undefined && { outputTokens }),
  }
}
