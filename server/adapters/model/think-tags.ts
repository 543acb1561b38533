import type { StreamPart } from "./merge-deltas.ts"

const OPEN = "<think>"
const CLOSE = "</think>"

/** Characters, white space above all, after which a text does not begin with a tag any more. */
const MOST_HELD = 1000

/** Parts that do not belong to the text between which they arrive. */
const PASSING = new Set<StreamPart["type"]>(["stream-start", "response-metadata", "raw", "ping"])

/**
 * Turns what a model writes between `<think>` tags into reasoning. Only at the beginning of a
 * reply, where models put it: the SDK's own middleware converts every such tag, and so hides a
 * reply that is about the tag.
 */
export function createTagReader() {
  let state: "undecided" | "thinking" | "thought" | "answering" = "undecided"
  let held = ""
  let start: (StreamPart & { type: "text-start" }) | null = null
  const id = "think"

  return {
    /** The parts that replace this one. */
    read(part: StreamPart): StreamPart[] {
      if (state === "answering") return [part]
      if (PASSING.has(part.type)) return [part]
      if (part.type === "text-start") {
        start = part
        return []
      }
      if (part.type === "text-delta") {
        held += part.delta
        return advance(part.id)
      }
      const settled = settle(start?.id)
      return part.type === "text-end" && start ? settled : [...settled, part]
    },
  }

  function advance(textId: string): StreamPart[] {
    if (state === "undecided") {
      const text = held.trimStart()
      if (held.length < MOST_HELD && text.length < OPEN.length && OPEN.startsWith(text)) return []
      if (!text.startsWith(OPEN)) return answer(textId)
      held = text.slice(OPEN.length)
      state = "thinking"
      return [{ type: "reasoning-start", id }, ...think(textId)]
    }
    return state === "thinking" ? think(textId) : answer(textId)
  }

  function think(textId: string): StreamPart[] {
    const end = held.indexOf(CLOSE)
    if (end === -1) return thoughts(held.length - partOf(CLOSE, held))
    const given = thoughts(end)
    held = held.slice(CLOSE.length)
    state = "thought"
    return [...given, { type: "reasoning-end", id }, ...answer(textId)]
  }

  function thoughts(length: number): StreamPart[] {
    const delta = held.slice(0, length)
    held = held.slice(length)
    return delta === "" ? [] : [{ type: "reasoning-delta", id, delta }]
  }

  /** The text after a thought begins with its first word, without the empty lines between. */
  function answer(textId: string): StreamPart[] {
    const delta = state === "thought" ? held.trimStart() : held
    held = delta
    if (delta === "") return []
    const begun: StreamPart[] = start ? [start] : []
    start = null
    held = ""
    state = "answering"
    return [...begun, { type: "text-delta", id: textId, delta }]
  }

  /** At the end, the held text is what it has turned out to be. An empty text is dropped. */
  function settle(textId: string | undefined): StreamPart[] {
    if (state === "thinking") {
      state = "thought"
      return [...thoughts(held.length), { type: "reasoning-end", id }]
    }
    return textId === undefined ? [] : answer(textId)
  }
}

/** The number of characters at the end of the text that may be the beginning of the tag. */
function partOf(tag: string, text: string): number {
  for (let length = Math.min(tag.length - 1, text.length); length > 0; length--)
    if (text.endsWith(tag.slice(0, length))) return length
  return 0
}
