import type { ModelMessage } from "ai"
import type { Services, Viewer } from "#server/scope.ts"
import { writeFailure } from "./failure-contract.ts"
import { generateReply } from "./generate-reply.ts"
import { recallMessages } from "./messages.ts"
import { createModelTrouble } from "./model-trouble.ts"
import type { Replies } from "./replies.ts"
import { nameThread } from "./title.ts"
import { chatTools } from "./tools.ts"

export function createReplies(
  services: Pick<Services, "model" | "config" | "log" | "blobs">,
): Replies<Viewer> {
  const { model, log, blobs } = services
  const trouble = createModelTrouble(log)
  const generator = { ...services, trouble }

  return {
    model: model.name,
    trouble,
    generate({ db, viewer }, reply, give) {
      const tools = chatTools({ db, viewer, blobs }, null)
      return generateReply(generator, { ...reply, tools, metadata: { model: model.name } }, give)
    },
    async continueThread({ db, viewer }, { answerId, threadId, spaceId, questionId, signal }, give) {
      const scope = { db, viewer, blobs }
      const metadata = { model: model.name, questionId }
      let messages: ModelMessage[]
      try {
        messages = await recallMessages(scope, { threadId, spaceId, questionId })
      } catch (error) {
        log.error({ err: error, answer: answerId }, "could not read a conversation")
        give({ type: "start", messageId: answerId, messageMetadata: metadata })
        give({ type: "error", errorText: writeFailure("conversation-unread") })
        return
      }
      const tools = chatTools(scope, spaceId)
      await generateReply(generator, { id: answerId, messages, tools, metadata, signal }, give)
    },
    nameThread: ({ db, viewer }, threadId, signal) => nameThread({ db, viewer }, generator, threadId, signal),
  }
}
