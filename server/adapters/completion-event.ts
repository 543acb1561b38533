/** What one event of a `/chat/completions` stream says. */
export interface SaidText {
  kind: "text" | "reasoning"
  text: string
  /** False where the event also ends the answer or calls a tool. */
  isAll: boolean
  /** The same event with another text. */
  withText(text: string): string
}

/**
 * Reads an event as the provider does. `nothing` is for one without text; `unclear` for one whose text only the provider can
 * tell, as when it comes in parts.
 */
export function readCompletionEvent(event: string): SaidText | "nothing" | "unclear" {
  if (!event.startsWith("data:")) return event.startsWith(":") ? "nothing" : "unclear"
  const chunk = parse(event.slice(5))
  const choice = chunk?.choices?.[0]
  const delta = choice?.delta
  if (!chunk || !choice || !delta) return "nothing"

  const reasoningKey = delta.reasoning_content == null ? "reasoning" : "reasoning_content"
  const { content, [reasoningKey]: reasoning, refusal, tool_calls: calls } = delta
  if (!isText(content) || !isText(reasoning) || (content && reasoning) || refusal) return "unclear"
  const text = content || reasoning
  if (!text) return "nothing"
  const key = content ? "content" : reasoningKey
  return {
    kind: content ? "text" : "reasoning",
    text,
    isAll: choice.finish_reason == null && !(Array.isArray(calls) && calls.length > 0),
    withText(other) {
      const [, ...choices] = chunk.choices ?? []
      const changed = { ...choice, delta: { ...delta, [key]: other } }
      return `data: ${JSON.stringify({ ...chunk, choices: [changed, ...choices] })}\n\n`
    },
  }
}

/** As far as it matters here. The provider checks what it is given. */
interface Chunk {
  choices?: { finish_reason?: unknown; delta?: Delta | null }[]
}

type Delta = Partial<
  Record<"content" | "reasoning_content" | "reasoning" | "refusal" | "tool_calls", unknown>
>

function parse(json: string): Chunk | null {
  try {
    const chunk: unknown = JSON.parse(json)
    return typeof chunk === "object" && chunk !== null && !("error" in chunk) ? chunk : null
  } catch {
    return null
  }
}

function isText(value: unknown): value is string | null | undefined {
  return value == null || typeof value === "string"
}
