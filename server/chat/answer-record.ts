import type { AnswerPart, ChatTurn } from "#db/schema/chat.ts"
import type { AnswerChunk, AnswerMetadata } from "./contract.ts"
import { storableJson, storableText } from "./storable.ts"

/** What was said so far: grows with each chunk of the stream. */
export interface AnswerRecord {
  take(chunk: AnswerChunk): void
  /** How many chunks were taken, so that nothing is stored twice. */
  readonly version: number
  read(): Pick<ChatTurn, "parts" | "failure" | "inputTokens" | "outputTokens"> & {
    content: string
    /** `completed` until the stream says otherwise. */
    status: Exclude<ChatTurn["status"], "running">
  }
}

type Takers = { [Type in AnswerChunk["type"]]?: (chunk: Extract<AnswerChunk, { type: Type }>) => unknown }

export function createAnswerRecord(): AnswerRecord {
  const parts: AnswerPart[] = []
  const streaming = new Map<string, AnswerPart & { type: "text" | "reasoning" }>()
  const tools = new Map<string, AnswerPart & { type: "tool" }>()
  const metadata: AnswerMetadata = {}
  let failure: string | null = null
  let version = 0

  const takers: Takers = {
    "text-delta": ({ id, delta }) => addText("text", id, delta),
    "text-end": ({ id }) => streaming.delete(id),
    "reasoning-delta": ({ id, delta }) => addText("reasoning", id, delta),
    "reasoning-end": ({ id }) => streaming.delete(id),
    "tool-input-start": ({ toolCallId, toolName }) => toolPart(toolCallId, toolName),
    "tool-input-available": ({ toolCallId, toolName, input }) =>
      Object.assign(toolPart(toolCallId, toolName), { input }),
    "tool-input-error": ({ toolCallId, toolName, input, errorText }) =>
      Object.assign(toolPart(toolCallId, toolName), { input, error: errorText }),
    "tool-output-available": ({ toolCallId, output }) => Object.assign(toolPart(toolCallId), { output }),
    "tool-output-error": ({ toolCallId, errorText }) =>
      Object.assign(toolPart(toolCallId), { error: errorText }),
    error: ({ errorText }) => (failure = errorText),
    start: ({ messageMetadata }) => Object.assign(metadata, messageMetadata),
    finish: ({ messageMetadata }) => Object.assign(metadata, messageMetadata),
    "message-metadata": ({ messageMetadata }) => Object.assign(metadata, messageMetadata),
  }

  return {
    get version() {
      return version
    },
    take(chunk) {
      version++
      // Each taker takes the chunks of its own type.
      const take = takers[chunk.type] as ((chunk: AnswerChunk) => void) | undefined
      take?.(chunk)
    },
    read() {
      const texts = parts.filter((part) => part.type === "text").map((part) => part.text)
      return {
        content: storableText(texts.join("\n\n")),
        parts: parts.length === texts.length && texts.length < 2 ? null : storableJson(parts),
        status: metadata.stop ?? (failure === null ? "completed" : "failed"),
        failure: failure === null ? null : storableText(failure),
        inputTokens: metadata.inputTokens ?? null,
        outputTokens: metadata.outputTokens ?? null,
      }
    },
  }

  /** A part begins with its first character: some providers open an empty text around each tool call. */
  function addText(type: "text" | "reasoning", id: string, delta: string) {
    if (delta === "") return
    const part = streaming.get(id)
    if (part) {
      part.text += delta
      return
    }
    const begun = { type, text: delta }
    streaming.set(id, begun)
    parts.push(begun)
  }

  function toolPart(callId: string, name = "unknown") {
    const known = tools.get(callId)
    if (known) return known
    const begun: AnswerPart & { type: "tool" } = { type: "tool", callId, name }
    tools.set(callId, begun)
    parts.push(begun)
    return begun
  }
}
