import type { Config } from "#server/config.ts"
import type { Log } from "#server/log.ts"
import { TOOLS_TOKENS, estimateTokens } from "./tokens.ts"

/** What a model can do less than the settings say, as its server has stated since the start. */
export interface LearnedLimits {
  withoutTools: boolean
  /** Tokens. */
  context: number | null
}

/** Of the context, the part that is kept for the reply at most. */
const FOR_REPLY = 0.5

/** A smaller limit in a refusal is not the model's context. */
const LEAST_CONTEXT = 256

export type ModelAbilities = ReturnType<typeof createModelAbilities>

/**
 * What this process knows about its model: the settings, and what the model server's refusals have
 * taught since the process started.
 */
export function createModelAbilities({
  config: { chat },
  log,
  model,
}: {
  config: Pick<Config, "chat">
  log: Log
  model: { name: string }
}) {
  let withoutTools = false
  let context: number | null = null
  let output: number | null | undefined

  const hasTools = () => chat.tools !== "off" && !withoutTools
  const contextTokens = () => context ?? chat.contextTokens
  const outputTokens = () => {
    if (output === null) return undefined
    const most = Math.min(chat.maxOutputTokens, Math.floor(contextTokens() * FOR_REPLY))
    return Math.min(most, output ?? most)
  }

  return {
    get hasTools() {
      return hasTools()
    },
    /** The tokens that a conversation may take, beside the instructions, the tools and the reply. */
    conversationTokens() {
      const reply = outputTokens() ?? Math.floor(contextTokens() * FOR_REPLY)
      const around = estimateTokens(chat.systemPrompt) + (hasTools() ? TOOLS_TOKENS : 0)
      return Math.max(contextTokens() - reply - around, 0)
    },
    /** The tokens that one step of a reply may take; undefined for the model's own limit. */
    outputTokens,
    learned: (): LearnedLimits => ({ withoutTools, context }),
    learnNoTools() {
      withoutTools = true
      log.warn(
        { model: model.name },
        "the model does not support tools, so it gets none until this process restarts; CHAT_TOOLS=off saves the attempt",
      )
    },
    /** The model's context as its server states it. Ignored if it is no less than what is known. */
    learnContext(tokens: number) {
      if (tokens >= contextTokens() || tokens < LEAST_CONTEXT) return
      context = tokens
      log.warn(
        { model: model.name, tokens, setting: chat.contextTokens },
        "the model's context is smaller than CHAT_CONTEXT_TOKENS",
      )
    },
    /** Null if the server accepts no limit. */
    learnOutput(tokens: number | null) {
      output = tokens
      log.warn({ model: model.name, tokens }, "the model does not write as much as CHAT_MAX_OUTPUT_TOKENS")
    },
  }
}
