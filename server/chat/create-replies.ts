import type { Services, Viewer } from "#server/scope.ts"
import { writeFailure } from "./failure-contract.ts"
import { postedConversation, type Conversation } from "./fit.ts"
import { generateReply } from "./generate-reply.ts"
import { createModelAbilities } from "./model-abilities.ts"
import { recallMessages } from "./recall.ts"
import { createModelTrouble } from "./model-trouble.ts"
import type { Replies } from "./replies.ts"
import { nameThread } from "./title.ts"
import { chatTools } from "./tools.ts"

export function createReplies(
  services: Pick<Services, "model" | "config" | "log" | "blobs" | "thumbnailer">,
): Replies<Viewer> {
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
