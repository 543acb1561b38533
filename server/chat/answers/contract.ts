import type { AnswerDelta, AnswerPart, ChatChunk } from "#db/schema/chat.ts"

export type { AnswerDelta }

/** A piece of an answer that is being given: there are none before it and none after. Pieces come in the order of `seq`. */
export type LiveChunk = Pick<ChatChunk, "_id" | "turnId" | "seq" | "delta">

/** What an answer's pieces come to: its words, and its parts where it is more than its words. */
export interface FoldedAnswer {
  content: string
  parts: AnswerPart[] | null
}

/** What one answer's pieces come to, in whatever order they are given. */
export function foldChunks(chunks: readonly Pick<LiveChunk, "seq" | "delta">[]): FoldedAnswer {
  const fold = beginFold()
  for (const { delta } of chunks.toSorted((a, b) => a.seq - b.seq)) delta.forEach(fold.add)
  return fold.read()
}

/** The same, delta by delta, for who hears an answer as it comes. */
export function beginFold() {
  const parts: AnswerPart[] = []
  const texts = new Map<string, AnswerPart & { type: "text" | "reasoning" }>()
  const tools = new Map<string, AnswerPart & { type: "tool" }>()

  return {
    add(delta: AnswerDelta) {
      if (delta.type === "tool") addTool(delta)
      else addText(delta)
    },
    read(): FoldedAnswer {
      const words = parts.filter((part) => part.type === "text").map((part) => part.text)
      return {
        content: words.join("\n\n"),
        parts: parts.length === words.length && words.length < 2 ? null : parts.map((part) => ({ ...part })),
      }
    },
  }

  function addText({ type, id, text }: AnswerDelta & { type: "text" | "reasoning" }) {
    const known = texts.get(id)
    if (known) {
      known.text += text
      return
    }
    const begun = { type, text }
    texts.set(id, begun)
    parts.push(begun)
  }

  function addTool({ callId, name, ...known }: AnswerDelta & { type: "tool" }) {
    let part = tools.get(callId)
    if (!part) {
      part = { type: "tool", callId, name: "unknown" }
      tools.set(callId, part)
      parts.push(part)
    }
    Object.assign(part, name !== undefined && { name }, known)
  }
}
