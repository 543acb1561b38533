import type { Extent, Fitted } from "./fit.ts"
import type { ModelAbilities } from "./model-abilities.ts"
import type { Refusal } from "./model-refusal.ts"

interface Attempt {
  extent: Extent
  fitted: Fitted
  /** Whether it offered tools. */
  tools: boolean
}

/** How often one message is sent, at most. */
export const ATTEMPTS = 8

/** A conversation below this many tokens is not worth halving again. */
const LITTLE = 400

/**
 * What to send after a refusal so that the model can reply to the last message: null if there is
 * nothing left to leave out. What the refusal states about the model is remembered.
 */
export function nextAttempt(
  { cause, limit }: Refusal,
  { extent, fitted, tools }: Attempt,
  abilities: ModelAbilities,
): Extent | null {
  switch (cause) {
    case "context":
      if (limit !== null) abilities.learnContext(limit)
      return shorten(extent, fitted, abilities)
    case "output": {
      const before = abilities.outputTokens()
      if (before === undefined) return null
      abilities.learnOutput(limit !== null && limit < before ? limit : null)
      return extent
    }
    case "tools":
      return tools ? { ...extent, tools: false } : null
    case "images":
    case "image":
      return fitted.images === "history" ? { ...extent, images: "last" } : null
    case "content":
    case "request":
      return leaveOut(extent, fitted, tools && cause === "request")
    case "failed":
      // A server can also break at a message instead of refusing it.
      return fitted.failed > 0 ? { ...extent, history: "replied" } : null
    case "busy":
    case "key":
    case "model":
    case "redirect":
    case "unpaid":
      return null
    default:
      return cause satisfies never
  }
}

function shorten(extent: Extent, { before, tokens }: Fitted, abilities: ModelAbilities): Extent | null {
  if (before === 0) return null
  const fits = Math.min(extent.tokens, abilities.conversationTokens())
  if (fits < tokens) return { ...extent, tokens: fits }
  return tokens < LITTLE ? { ...extent, history: "none" } : { ...extent, tokens: Math.floor(tokens / 2) }
}

/** First what may have been refused before, then everything but the message itself. */
function leaveOut(extent: Extent, { before, failed }: Fitted, tools: boolean): Extent | null {
  if (failed > 0) return { ...extent, history: "replied" }
  if (before > 0) return { ...extent, history: "none" }
  return tools ? { ...extent, tools: false } : null
}
