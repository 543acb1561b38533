import type { ModelMessage } from "ai"
import type { Scope } from "#server/scope.ts"
import type { ReplyChunk } from "./contract.ts"
import { writeFailure } from "./failure-contract.ts"
import { postedConversation, type Conversation } from "./fit.ts"
import { generateReply } from "./generate-reply.ts"
import { createModelAbilities, type ModelAbilities } from "./model-abilities.ts"
import { recallMessages } from "./recall.ts"
import { createModelTrouble, type ModelTrouble } from "./model-trouble.ts"
import { nameThread } from "./title.ts"
import { chatTools } from "./tools.ts"

type Asker = Scope<"db" | "viewer">

/** The configured model, with what it needs to reply to a user. */
export interface Replies {
  /** The model's name. */
  readonly model: string
  readonly trouble: ModelTrouble
  readonly abilities: ModelAbilities
  /** Replies to the given messages. Never throws: see `generateReply`. */
  generate(
    scope: Asker,
    reply: { id: string; messages: ModelMessage[]; signal: AbortSignal },
    give: (chunk: ReplyChunk) => void,
  ): Promise<void>
  /** Replies to a message of a conversation, as the viewer. Never throws. */
  continueThread(
    scope: Asker,
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
  nameThread(scope: Asker, threadId: string, signal: AbortSignal): Promise<void>
}

declare module "#server/scope.ts" {
  interface Services {
    replies: Replies
  }
}

export function createReplies(
  services: Scope<"model" | "config" | "log" | "blobs" | "thumbnailer">,
): Replies {
  const { model, log, blobs, thumbnailer } = services
  const trouble = createModelTrouble(log)
  const abilities = createModelAbilities(services)
  const generator = { ...services, trouble, abilities }

  return {
    model: model.name,
    trouble,
    abilities,
    generate({ db, viewer }, { messages, ...reply }, give) {
      const tools = chatTools({ db, viewer, blobs, log }, null)
      const conversation = postedConversation(messages)
      return generateReply(
        generator,
        { ...reply, conversation, tools, metadata: { model: model.name } },
        give,
      )
    },
    async continueThread({ db, viewer }, { answerId, threadId, spaceId, questionId, signal }, give) {
      const scope = { db, viewer, blobs, log, thumbnailer }
      const metadata = { model: model.name, questionId }
      let conversation: Conversation
      try {
        const tokens = abilities.conversationTokens()
        conversation = await recallMessages(scope, { threadId, spaceId, questionId, answerId, tokens })
      } catch (error) {
        log.error({ err: error, answer: answerId }, "could not read a conversation")
        give({ type: "start", messageId: answerId, messageMetadata: metadata })
        give({ type: "error", errorText: writeFailure("conversation-unread") })
        return
      }
      const tools = chatTools(scope, spaceId)
      await generateReply(generator, { id: answerId, conversation, tools, metadata, signal }, give)
    },
    nameThread: ({ db, viewer }, threadId, signal) => nameThread({ db, viewer }, generator, threadId, signal),
  }
}
