import { eq } from "drizzle-orm"
import { afterAll, beforeAll, expect, it } from "vitest"
import { chatMessages, chatTurns } from "#db/schema/chat.ts"
import { TURN_LIFETIME } from "#server/chat/contract.ts"
import { endLostTurns } from "#server/chat/lost-turns.ts"
import { createThread } from "#server/chat/threads.ts"
import { openChatRoom } from "../support/chat-room.ts"

let room: Awaited<ReturnType<typeof openChatRoom>>
beforeAll(async () => {
  room = await openChatRoom()
})
afterAll(() => room.close())

it("ends an answer whose process died, and no answer that is still being given", async () => {
  const ada = await room.scopeOf("ada")
  const { _id: threadId } = await createThread(ada, { title: "Tides" })
  const userId = ada.viewer.user._id
  const [question, answer] = await ada.db
    .insert(chatMessages)
    .values([
      { userId, threadId, role: "user", content: "How deep is the sea?" },
      { userId, threadId, role: "assistant", content: "It is" },
    ])
    .returning()
  if (!question || !answer) throw new Error("No messages were stored.")
  const turn = { _id: answer._id, userId, threadId, questionId: question._id, requestId: "q1" }
  const [begun] = await ada.db
    .insert(chatTurns)
    .values({ ...turn, status: "running", model: "a model" })
    .returning()
  const at = begun?._creationTime ?? 0
  const status = async () => {
    const [row] = await ada.db.select().from(chatTurns).where(eq(chatTurns._id, answer._id))
    return row?.status
  }

  await endLostTurns(ada.db, { now: at + TURN_LIFETIME })
  expect(await status()).toBe("running")
  await endLostTurns(ada.db, { now: at + TURN_LIFETIME + 1 })
  expect(await status()).toBe("interrupted")
})
