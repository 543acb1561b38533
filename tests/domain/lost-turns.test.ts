import { eq } from "drizzle-orm"
import { expect, it } from "vitest"
import { chatChunks, chatMessages, chatTurns, type ReplyDelta } from "#db/schema/chat.ts"
import { endLostTurns } from "#server/chat/lost-turns.ts"
import { listMessages } from "#server/chat/messages.ts"
import { createThread } from "#server/chat/threads.ts"
import { shareChatServices } from "../support/chat-services.ts"

const { chat, ada } = await shareChatServices()

/** No process has this number: they begin at 1. */
const DEAD = 0

it("ends a reply whose process died at the second check, with the text stored so far", async () => {
  const { threadId, answerId } = await abandonedTurn({ process: DEAD })
  const suspects = await endLostTurns(ada, new Set())
  expect(await turnOf(answerId)).toMatchObject({ status: "running", endedAt: null })
  await endLostTurns(ada, suspects)
  expect(await turnOf(answerId)).toMatchObject({ status: "interrupted", endedAt: expect.any(Number) })
  const { entries } = await listMessages(ada, threadId)
  expect(entries[1]).toMatchObject({
    content: "It is deep.",
    turn: {
      parts: [
        { type: "reasoning", text: "Hm." },
        { type: "text", text: "It is deep." },
      ],
    },
  })
  expect(await chat.db.$count(chatChunks, eq(chatChunks.turnId, answerId))).toBe(0)
})

it("ends a reply as stopped if the user had stopped it before the process died", async () => {
  const { answerId } = await abandonedTurn({ process: DEAD, stopRequestedAt: Date.now() })
  await endLostTurns(ada, await endLostTurns(ada, new Set()))
  expect(await turnOf(answerId)).toMatchObject({ status: "stopped" })
})

it("leaves a reply of a live process alone, until it exceeds the longest possible time", async () => {
  const { answerId } = await abandonedTurn({ process: chat.turns.process })
  await endLostTurns(ada, await endLostTurns(ada, new Set()))
  expect(await turnOf(answerId)).toMatchObject({ status: "running" })

  const longAgo = Date.now() - 36_000
  await ada.db.update(chatTurns).set({ _creationTime: longAgo }).where(eq(chatTurns._id, answerId))
  await endLostTurns(ada, new Set())
  expect(await turnOf(answerId)).toMatchObject({ status: "interrupted" })
})

it("keeps the text that an earlier version wrote into the message", async () => {
  const { threadId, answerId } = await abandonedTurn({ process: null }, [])
  await ada.db.update(chatMessages).set({ content: "It is" }).where(eq(chatMessages._id, answerId))
  const longAgo = Date.now() - 36_000
  await ada.db.update(chatTurns).set({ _creationTime: longAgo }).where(eq(chatTurns._id, answerId))
  await endLostTurns(ada, new Set())
  expect((await listMessages(ada, threadId)).entries[1]).toMatchObject({
    content: "It is",
    turn: { status: "interrupted" },
  })
})

it("ends a reply once if several processes find it", async () => {
  const { threadId, answerId } = await abandonedTurn({ process: DEAD })
  await Promise.all(Array.from({ length: 5 }, () => endLostTurns(ada, new Set([answerId]))))
  expect((await listMessages(ada, threadId)).entries[1]).toMatchObject({ content: "It is deep." })
})

const SAID: ReplyDelta[][] = [
  [
    { type: "reasoning", id: "0", text: "Hm." },
    { type: "text", id: "1", text: "It is " },
  ],
  [{ type: "text", id: "1", text: "deep." }],
]

async function abandonedTurn(
  { process, stopRequestedAt = null }: { process: number | null; stopRequestedAt?: number | null },
  said = SAID,
) {
  const { _id: threadId } = await createThread(ada, { title: "Tides" })
  const userId = ada.viewer.user._id
  const [question, answer] = await ada.db
    .insert(chatMessages)
    .values([
      { userId, threadId, role: "user", content: "How deep is the sea?" },
      { userId, threadId, role: "assistant", content: "" },
    ])
    .returning()
  if (!question || !answer) throw new Error("No messages were stored.")
  const turn = { _id: answer._id, userId, threadId, questionId: question._id, requestId: "q1" }
  await ada.db
    .insert(chatTurns)
    .values({ ...turn, status: "running", model: "a model", process, stopRequestedAt })
  for (const [seq, delta] of said.entries())
    await ada.db.insert(chatChunks).values({ userId, threadId, turnId: answer._id, seq, delta })
  return { threadId, answerId: answer._id }
}

async function turnOf(answerId: string) {
  const [turn] = await ada.db.select().from(chatTurns).where(eq(chatTurns._id, answerId))
  return turn
}
