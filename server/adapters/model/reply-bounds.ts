import type { StreamPart } from "./merge-deltas.ts"

/** Of one step of a reply. What a model is asked for is far less, but not every server keeps to it. */
const MOST_CHARACTERS = 500_000
const MOST_PARTS = 200

/** Characters of the input of one tool call, and its levels of nested lists and objects. */
const LONGEST_INPUT = 32_000
const DEEPEST_INPUT = 100

/**
 * Bounds what each reader of a reply has to take in. The rest of a text is left out, and the reply
 * says that it ended because of its length. The input of a tool call that is too large is cut, so
 * that the model is told that it is invalid.
 */
export function createReplyBounds() {
  let characters = 0
  let parts = 0
  let isFull = false
  const begun = new Set<string>()
  const inputs = new Map<string, number>()

  return {
    /** The parts that replace this one. */
    read(part: StreamPart): StreamPart[] {
      const { type } = part
      if (type === "finish")
        return [isFull ? { ...part, finishReason: { unified: "length", raw: undefined } } : part]
      if (type === "tool-call") {
        const key = keyOf({ type, id: part.toolCallId })
        return begun.has(key) || begin(key) ? [{ ...part, input: fitInput(part.input) }] : []
      }
      if (type === "text-start" || type === "reasoning-start" || type === "tool-input-start")
        return begin(keyOf(part)) ? [part] : []
      if (type === "text-delta" || type === "reasoning-delta")
        return begun.has(keyOf(part)) ? withText(part) : []
      if (type === "tool-input-delta") return begun.has(keyOf(part)) ? withInput(part) : []
      if (type === "tool-input-end") return begun.has(keyOf(part)) ? [part] : []
      if (type === "text-end" || type === "reasoning-end") return begun.delete(keyOf(part)) ? [part] : []
      return [part]
    },
  }

  function begin(key: string): boolean {
    if (parts >= MOST_PARTS) isFull = true
    if (isFull) return false
    parts++
    begun.add(key)
    return true
  }

  function withText<Part extends StreamPart & { type: "text-delta" | "reasoning-delta" }>(
    part: Part,
  ): Part[] {
    const left = MOST_CHARACTERS - characters
    characters += part.delta.length
    if (part.delta.length <= left) return [part]
    isFull = true
    return left > 0 ? [{ ...part, delta: part.delta.slice(0, left).toWellFormed() }] : []
  }

  function withInput(part: StreamPart & { type: "tool-input-delta" }): StreamPart[] {
    const length = (inputs.get(part.id) ?? 0) + part.delta.length
    inputs.set(part.id, length)
    return length <= LONGEST_INPUT ? [part] : []
  }
}

/** A text and a thought may have one id. */
function keyOf({ type, id }: { type: string; id: string }): string {
  return `${type.split("-", 1)[0]} ${id}`
}

function fitInput(input: string): string {
  return input.length <= LONGEST_INPUT && !isTooDeep(input) ? input : `${input.slice(0, 200)}…`
}

function isTooDeep(json: string): boolean {
  let depth = 0
  let isText = false
  for (let at = 0; at < json.length; at++) {
    const character = json[at]
    if (character === '"') isText = !isText
    else if (isText) at += character === "\\" ? 1 : 0
    else if (character === "[" || character === "{") depth++
    else if (character === "]" || character === "}") depth--
    if (depth > DEEPEST_INPUT) return true
  }
  return false
}
