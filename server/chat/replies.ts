import type { ModelMessage } from "ai"
import type { Database } from "#db/client.ts"
import type { ReplyChunk } from "./contract.ts"
import type { ModelAbilities } from "./model-abilities.ts"
import type { ModelTrouble } from "./model-trouble.ts"

interface Asker<Viewer> {
  db: Database
  viewer: Viewer
}

/** The configured model, with what it needs to reply to a user. */
export interface Replies<Viewer> {
  /** The model's name. */
  readonly model: string
  readonly trouble: ModelTrouble
  readonly abilities: ModelAbilities
  /** Replies to the given messages. Never throws: see `generateReply`. */
  generate(
    scope: Asker<Viewer>,
    reply: { id: string; messages: ModelMessage[]; signal: AbortSignal },
    give: (chunk: ReplyChunk) => void,
  ): Promise<void>
  /** Replies to a message of a conversation, as the viewer. Never throws. */
  continueThread(
    scope: Asker<Viewer>,
    reply: {
      answerId: string
      threadId: string
      spaceId: string | null
      questionId: string
      signal: AbortSignal
    },
    give: (chunk: ReplyChunk) => void,
  ): Promise<void>
  /** Never throws: see `nameThread`. */
  nameThread(scope: Asker<Viewer>, threadId: string, signal: AbortSignal): Promise<void>
}
