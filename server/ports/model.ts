import type { LanguageModel } from "ai"

/** The language model behind the chat. */
export interface Model {
  /** The configured name, as `X-AI-Model` shows it. */
  readonly name: string
  /** False when AI_GATEWAY_API_KEY is missing: the chat answers 500 and says so. */
  readonly available: boolean
  /** True for the development gateway, where no language model is connected. */
  readonly isDevelopment: boolean
  /** For one answer, which `hear` follows where the gateway allows it. */
  open(hear?: Hear): LanguageModel
}

/**
 * Told what an answer says while it is said, before the SDK's stream has it. That stream has the same text in the same order:
 * it begins each run of text or of reasoning, and brings the rest of the run in one piece when the run is over.
 */
export type Hear = (piece: HeardPiece) => void

export interface HeardPiece {
  kind: "text" | "reasoning"
  text: string
  /** How many characters of both kinds the answer has before this piece. */
  after: number
}
