import type { ReplyDelta, ChatTurn } from "#db/schema/chat.ts"
import { beginFold, type ReplyChunk, type ReplyMetadata, type FoldedReply } from "./contract.ts"
import { storableJson, storableText } from "./storable.ts"

/** A finished reply, as it is stored. */
export type EndedReply = FoldedReply &
  Pick<ChatTurn, "failure" | "inputTokens" | "outputTokens" | "finishReason" | "recall"> & {
    /** `completed` unless the stream said otherwise. */
    status: Exclude<ChatTurn["status"], "running">
  }

type Takers = { [Type in ReplyChunk["type"]]?: (chunk: Extract<ReplyChunk, { type: Type }>) => unknown }

/** The text so far, which grows with each chunk of the stream. */
export function createReplyRecord() {
  const fold = beginFold()
  let pending: ReplyDelta[] = []
  const pendingTexts = new Map<string, ReplyDelta & { type: "text" | "reasoning" }>()
  const streaming = new Map<string, string>()
  const metadata: ReplyMetadata = {}
  let texts = 0
  let failure: string | null = null

  const takers: Takers = {
    "text-delta": ({ id, delta }) => addText("text", id, delta),
    "text-end": ({ id }) => streaming.delete(`text ${id}`),
    "reasoning-delta": ({ id, delta }) => addText("reasoning", id, delta),
    "reasoning-end": ({ id }) => streaming.delete(`reasoning ${id}`),
    "tool-input-start": ({ toolCallId, toolName }) => addTool(toolCallId, { name: toolName }),
    "tool-input-available": ({ toolCallId, toolName, input }) =>
      addTool(toolCallId, { name: toolName, input }),
    "tool-input-error": ({ toolCallId, toolName, input, errorText }) =>
      addTool(toolCallId, { name: toolName, input, error: errorText }),
    "tool-output-available": ({ toolCallId, output }) => addTool(toolCallId, { output }),
    "tool-output-error": ({ toolCallId, errorText }) => addTool(toolCallId, { error: errorText }),
    error: ({ errorText }) => (failure = errorText),
    start: ({ messageMetadata }) => Object.assign(metadata, messageMetadata),
    finish: ({ messageMetadata }) => Object.assign(metadata, messageMetadata),
    "message-metadata": ({ messageMetadata }) => Object.assign(metadata, messageMetadata),
  }

  return {
    take(chunk: ReplyChunk) {
      // Each function handles the chunks of one type.
      const take = takers[chunk.type] as ((chunk: ReplyChunk) => void) | undefined
      take?.(chunk)
    },
    /** The text since the last call, in one piece. */
    drain(): ReplyDelta[] {
      const said = pending
      pending = []
      pendingTexts.clear()
      for (const delta of said) if (delta.type !== "tool") keepHalfCharacter(delta)
      return storableJson(said.filter((delta) => delta.type === "tool" || delta.text !== ""))
    },
    read(): EndedReply {
      const { content, parts } = fold.read()
      return {
        content: storableText(content),
        parts: storableJson(parts),
        status: metadata.stop ?? (failure === null ? "completed" : "failed"),
        failure: failure === null ? null : storableText(failure),
        inputTokens: metadata.inputTokens ?? null,
        outputTokens: metadata.outputTokens ?? null,
        finishReason: metadata.finishReason ?? null,
        recall: metadata.recall ?? null,
      }
    },
  }

  /**
   * A part begins with its first character: some providers open an empty text part around each tool
   * call, and reuse ids.
   */
  function addText(type: "text" | "reasoning", streamId: string, text: string) {
    if (text === "") return
    const key = `${type} ${streamId}`
    const id = streaming.get(key) ?? String(texts++)
    streaming.set(key, id)
    fold.add({ type, id, text })
    append({ type, id, text })
  }

  function addTool(callId: string, known: Omit<ReplyDelta & { type: "tool" }, "type" | "callId">) {
    const delta = { type: "tool", callId, ...known } as const
    fold.add(delta)
    pending.push(delta)
  }

  function append(delta: ReplyDelta & { type: "text" | "reasoning" }) {
    const before = pendingTexts.get(delta.id)
    if (before) {
      before.text += delta.text
      return
    }
    pendingTexts.set(delta.id, delta)
    pending.push(delta)
  }

  /** The first half of a surrogate pair waits for the second: alone it cannot be stored. */
  function keepHalfCharacter(delta: ReplyDelta & { type: "text" | "reasoning" }) {
    const half = /[\uD800-\uDBFF]$/.exec(delta.text)?.[0]
    if (half === undefined) return
    delta.text = delta.text.slice(0, -1)
    append({ ...delta, text: half })
  }
}
