import type { ReplyChunk } from "./contract.ts"

interface Call {
  id: string
  hasInput: boolean
  hasResult: boolean
}

/**
 * Some models give two tool calls of one reply the same id. Returns a function that gives the second
 * an id of its own, in the order in which a reply's chunks arrive: a result belongs to the first call
 * that has none.
 */
export function createCallIds(): (chunk: ReplyChunk) => ReplyChunk {
  const calls = new Map<string, Call[]>()

  return (chunk) => {
    if (!("toolCallId" in chunk)) return chunk
    const known = calls.get(chunk.toolCallId) ?? []
    calls.set(chunk.toolCallId, known)
    const call = callOf(chunk, known)
    return call.id === chunk.toolCallId ? chunk : { ...chunk, toolCallId: call.id }
  }
}

function callOf(chunk: Extract<ReplyChunk, { toolCallId: string }>, known: Call[]): Call {
  const last = known.at(-1)
  if (chunk.type === "tool-input-start") return begin(chunk.toolCallId, known)
  if (chunk.type === "tool-input-available" || chunk.type === "tool-input-error") {
    const call = last && !last.hasInput ? last : begin(chunk.toolCallId, known)
    call.hasInput = true
    return call
  }
  const call = known.find(({ hasResult }) => !hasResult) ?? last ?? begin(chunk.toolCallId, known)
  if (chunk.type === "tool-input-delta") return last ?? call
  const isLast = !("preliminary" in chunk && chunk.preliminary) && chunk.type !== "tool-approval-request"
  if (isLast) call.hasResult = true
  return call
}

function begin(toolCallId: string, known: Call[]): Call {
  const id = known.length === 0 ? toolCallId : `${toolCallId} (${known.length + 1})`
  const call = { id, hasInput: false, hasResult: false }
  known.push(call)
  return call
}
