import { randomUUID } from "node:crypto"
import { isStepCount, RetryError, streamText, toUIMessageChunk, type ModelMessage, type ToolSet } from "ai"
import type { Scope } from "#server/scope.ts"
import type { ReplyChunk, ReplyMetadata, StopReason } from "./contract.ts"
import { writeFailure } from "./failure-contract.ts"
import { fitConversation, type Conversation, type Extent, type Fitted } from "./fit.ts"
import type { ModelAbilities } from "./model-abilities.ts"
import { readRefusal, type Cause, type Refusal } from "./model-refusal.ts"
import { describeModelError, type ModelTrouble } from "./model-trouble.ts"
import { ATTEMPTS, nextAttempt } from "./next-attempt.ts"
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
  abilities: ModelAbilities
}

interface ReplyOptions {
  /** The reply's id in the stream. */
  id: string
  conversation: Conversation
  tools: ToolSet
  metadata: ReplyMetadata
  /** Aborted with `ReplyStopped`. */
  signal: AbortSignal
}

type Give = (chunk: ReplyChunk) => void

/**
 * The model's reply as chunks of the UI message stream. If the model refuses the request before it
 * has replied, the request is sent again without what it refused. Never throws: every failure
 * becomes an `error` chunk with a sentence for the user, and the cause is logged under the id in
 * that sentence. A reply that ends early gives the reason in its metadata, because to the browser
 * the `abort` chunk alone looks like a normal end.
 */
export async function generateReply(generator: Generator, options: ReplyOptions, give: Give): Promise<void> {
  const { config, abilities, log, model } = generator
  const { id, conversation, metadata, signal } = options
  let extent: Extent = {
    tokens: abilities.conversationTokens(),
    images: "all",
    tools: abilities.hasTools,
    history: "all",
  }
  let isWithoutTools = false
  for (let attempts = 1; ; attempts++) {
    const fitted = fitConversation(conversation, extent)
    const tools = extent.tools ? options.tools : {}
    const hasTools = Object.keys(tools).length > 0
    const recalled = { ...metadata, ...(fitted.recall && { recall: fitted.recall }) }
    // At once: those who wait for the reply learn of it before the model says something.
    if (attempts === 1) give({ type: "start", messageId: id, messageMetadata: recalled })
    else give({ type: "message-metadata", messageMetadata: recalled })
    const outcome = await attempt(generator, { ...options, messages: fitted.messages, tools }, give)
    if (outcome.replied && isWithoutTools) abilities.learnNoTools()
    if (!("error" in outcome)) return
    const error = RetryError.isInstance(outcome.error) ? outcome.error.lastError : outcome.error
    const refusal = readRefusal(error, { images: fitted.images !== "none", tools: hasTools })
    const sent = { extent, fitted, tools: hasTools }
    const mayAdapt = !outcome.replied && attempts < ATTEMPTS && !signal.aborted
    const next = mayAdapt ? nextAttempt(refusal, sent, abilities) : null
    if (next && !(refusal.cause === "tools" && config.chat.tools === "on")) {
      const { cause } = refusal
      const reference = randomUUID().slice(0, 8)
      const told = { ...describeModelError(error), cause, reference, answer: id, model: model.name }
      log.warn(told, "the model refused a request; it is sent again without what was refused")
      if (cause === "tools") isWithoutTools = true
      extent = next
      continue
    }
    if (signal.aborted) return cutShort(signal, give)
    return give({ type: "error", errorText: explain(generator, error, refusal, { id, fitted }) })
  }
}

/** `replied` says whether chunks have been given. */
type Outcome = { replied: boolean } | { replied: boolean; error: unknown }

interface Sending extends Omit<ReplyOptions, "conversation" | "metadata"> {
  messages: ModelMessage[]
}

/** Gives nothing before the model has replied with something. The start has been given. */
async function attempt(
  { model, config, abilities, log, trouble }: Generator,
  { id, messages, tools, signal }: Sending,
  give: Give,
): Promise<Outcome> {
  const held: ReplyChunk[] = []
  let replied = false
  try {
    const maxOutputTokens = abilities.outputTokens()
    const result = streamText({
      model: model.open(),
      instructions: config.chat.systemPrompt,
      messages,
      tools,
      stopWhen: isStepCount(config.chat.maxSteps),
      ...(maxOutputTokens !== undefined && { maxOutputTokens }),
      maxRetries: 1, // a second attempt would use up the time limit
      streamRetries: 0, // text sent before the retry would stay, and be sent twice
      abortSignal: signal,
      onError: () => {}, // the SDK would print it; the loop below sees it as a part
    })
    for await (const part of result.stream) {
      if (part.type === "abort") {
        release()
        cutShort(signal, give)
        return { replied }
      }
      if (part.type === "error") {
        if (signal.aborted) continue // the abort part follows
        return { replied, error: part.error }
      }
      if (part.type === "tool-error")
        log.warn({ err: part.error, tool: part.toolName, answer: id }, "chat tool failed")
      if (ANSWERING.has(part.type)) trouble.end()
      const chunk = toUIMessageChunk(part, {
        tools,
        responseMessageId: id,
        messageMetadata:
          part.type === "finish"
            ? { ...usageOf(part.totalUsage), finishReason: part.finishReason }
            : undefined,
        onError: () => writeFailure("tool-failed"),
      })
      if (!chunk || chunk.type === "start") continue
      held.push(chunk as ReplyChunk) // the metadata is the one given above
      if (replied || ANSWERING.has(part.type) || part.type === "finish") release()
    }
    release()
    return { replied }
  } catch (error) {
    return { replied, error }
  }

  function release() {
    if (held.length > 0) replied = true
    for (const chunk of held.splice(0)) give(chunk)
  }
}

/** The sentence for the user. */
function explain(
  { log, model, trouble }: Generator,
  error: unknown,
  refusal: Refusal,
  { id, fitted }: { id: string; fitted: Fitted },
): string {
  const { cause } = refusal
  const isSmall = fitted.images === "none" && fitted.tokens < SMALL
  const isMessages = cause === "request" && !isSmall
  const problem = isMessages ? null : trouble.report(error, refusal)
  if (problem) return writeFailure("model-refused", problem.reference)
  const reference = randomUUID().slice(0, 8)
  const told = { ...describeModelError(error), cause, reference, answer: id, model: model.name }
  log.error(told, "the model did not reply")
  return writeFailure(isMessages ? "message-refused" : (FAILURES[cause] ?? "model-failed"), reference)
}

/** Tokens: a text that no model refuses for its length. */
const SMALL = 1000

const FAILURES: { [Reason in Cause]?: Parameters<typeof writeFailure>[0] } = {
  busy: "model-busy",
  content: "message-withheld",
  context: "message-too-long-for-model",
  image: "image-unreadable",
  images: "images-not-supported",
}

/** Parts that only an answer has. */
const ANSWERING = new Set(["text-delta", "reasoning-delta", "tool-call"])

function cutShort({ reason }: AbortSignal, give: Give) {
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
