import { eq } from "drizzle-orm"
import { describe, expect, it } from "vitest"
import type { Database } from "#db/client.ts"
import { chatChunks, chatTurns } from "#db/schema/chat.ts"
import type { EndedReply } from "#server/chat/reply-record.ts"
import { endAbandonedTurn, endTurn } from "#server/chat/end-turn.ts"
import { listMessages } from "#server/chat/messages.ts"
import { stopReply } from "#server/chat/stop.ts"
import { createThread } from "#server/chat/threads.ts"
import { askInBackground, startReply } from "#server/chat/turn.ts"
import { shareChatServices, readAll } from "../support/chat-services.ts"

const { chat, ada } = await shareChatServices()

describe("a reply that another process took for lost", () => {
  it("is completed by its owner all the same", async () => {
    const { threadId, answerId, chunks } = await begin("/long 150")
    const reading = readAll(chunks)
    await expect.poll(() => answerIn(threadId)).toMatchObject({ content: expect.stringMatching(/word \d/) })
    await chat.db.transaction((tx) => endAbandonedTurn(tx, answerId))
    expect(await answerIn(threadId)).toMatchObject({ turn: { status: "interrupted" } })
    await reading
    expect(await answerIn(threadId)).toMatchObject({
      content: expect.stringMatching(/word 150$/),
      turn: { status: "completed" },
    })
    expect(await chat.db.$count(chatChunks, eq(chatChunks.turnId, answerId))).toBe(0)
  })

  it("does not affect a later message sent in its place", async () => {
    const { threadId, answerId, chunks } = await begin("/long 150")
    const reading = readAll(chunks)
    await chat.db.transaction((tx) => endAbandonedTurn(tx, answerId))
    const question = { requestId: "q1", text: "/long 150", again: false }
    const again = await askInBackground(ada, threadId, question)
    expect(again.answerId).not.toBe(answerId)
    await reading
    await expect
      .poll(() => answerIn(threadId))
      .toMatchObject({ _id: again.answerId, turn: { status: "completed" } })
    expect((await listMessages(ada, threadId)).entries).toHaveLength(2)
  })
})

describe("the end of a reply", () => {
  const said: EndedReply = {
    content: "The sea.",
    parts: [{ type: "tool", callId: "c", name: "currentTime", output: "noon" }],
    status: "completed",
    failure: null,
    recall: null,
    finishReason: "stop",
    inputTokens: 1,
    outputTokens: 2,
  }

  it("is retried until PostgreSQL is back, without keeping its reader waiting", async () => {
    const { threadId, answerId } = await stopped()
    let tries = 0
    let held = 0
    const db = failingFor(() => (tries += 1) < 4 && "CONNECTION_CLOSED")
    await endTurn({ ...ada, db }, answerId, said, () => (held += 1))
    expect([tries, held]).toEqual([4, 3])
    expect(await answerIn(threadId)).toMatchObject({ content: "The sea.", turn: { parts: said.parts } })
  })

  it("keeps at least the text if the database refuses the rest", async () => {
    const { threadId, answerId } = await stopped()
    const unstorable = { ...said, parts: [{ type: "text" as const, text: "a\0b" }] }
    await endTurn(ada, answerId, unstorable, () => {})
    expect(await answerIn(threadId)).toMatchObject({
      content: "The sea.",
      turn: { status: "completed", parts: null },
    })
  })

  it("stops retrying what can never be stored", async () => {
    const { answerId } = await stopped()
    await expect(endTurn(ada, answerId, { ...said, content: "a\0b" }, () => {})).rejects.toThrow()
  })

  it("does not change how another reply ended", async () => {
    const { threadId, answerId } = await stopped()
    await chat.db.update(chatTurns).set({ process: 1 }).where(eq(chatTurns._id, answerId))
    const before = await answerIn(threadId)
    await endTurn(ada, answerId, said, () => {})
    expect(await answerIn(threadId)).toEqual(before)
  })
})

async function begin(text: string) {
  const { _id: threadId } = await createThread(ada, { title: "Tides" })
  const { chunks } = await startReply(ada, threadId, { requestId: "q1", text, again: false })
  const answer = await answerIn(threadId)
  if (!answer) throw new Error("No answer was begun.")
  return { threadId, answerId: answer._id, chunks }
}

/** A reply of this process that may still be completed. */
async function stopped() {
  const { threadId, answerId } = await begin("/slow")
  await stopReply(ada, threadId)
  return { threadId, answerId }
}

async function answerIn(threadId: string) {
  return (await listMessages(ada, threadId)).entries.at(-1)
}

/** The database, with transactions that fail with the code returned by `fails`. */
function failingFor(fails: () => string | false): Database {
  return new Proxy(chat.db, {
    get(target, name) {
      if (name !== "transaction") return Reflect.get(target, name)
      return async (work: Parameters<Database["transaction"]>[0]) => {
        const code = fails()
        if (code) throw Object.assign(new Error("no"), { code })
        return target.transaction(work)
      }
    },
  })
}
