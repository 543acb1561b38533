import type { LanguageModel } from "ai"

/** The language model behind the chat. */
export interface Model {
  /** The configured name, as `X-AI-Model` shows it. */
  readonly name: string
  /** False if AI_GATEWAY_API_KEY is missing: the chat returns 500 and says so. */
  readonly available: boolean
  /** True for the development gateway, where no language model is connected. */
  readonly isDevelopment: boolean
  /** Throws if `available` is false. */
  open(): LanguageModel
}
