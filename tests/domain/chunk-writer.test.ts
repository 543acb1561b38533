import { asc, eq } from "drizzle-orm"
import { expect, it } from "vitest"
import type { Database } from "#db/client.ts"
import { chatChunks, chatMessages, chatTurns, type ReplyDelta } from "#db/schema/chat.ts"
import { createChunkWriter } from "#server/chat/chunk-writer.ts"
import { createThread } from "#server/chat/threads.ts"
import { shareChatServices } from "../support/chat-services.ts"

const { chat, ada } = await shareChatServices()

it("stores the first text immediately, and the rest in order, for the owner of the turn", async () => {
  const turn = await runningTurn()
  const said = speech()
  const chunks = createChunkWriter(chat).open(turn.answerId, said.drain)
  said.say("The ")
  chunks.grew()
  await expect.poll(() => stored(turn.answerId)).toEqual(["The "])
  for (const word of ["sea ", "is ", "deep."]) {
    said.say(word)
    chunks.grew()
  }
  await expect.poll(() => stored(turn.answerId)).toEqual(["The ", "sea is deep."])
  const [row] = await chat.db.select().from(chatChunks).where(eq(chatChunks.turnId, turn.answerId))
  expect(row).toMatchObject({ userId: ada.viewer.user._id, threadId: turn.threadId, seq: 0 })
})

it("writes the chunks of many turns in few statements", async () => {
  const statements: unknown[] = []
  const counting = spyOn(chat.db, (run) => {
    statements.push(null)
    return run()
  })
  const writer = createChunkWriter({ ...chat, db: counting })
  const turns = await Promise.all(Array.from({ length: 20 }, () => runningTurn()))
  const speeches = turns.map(({ answerId }) => {
    const said = speech()
    return { said, answerId, chunks: writer.open(answerId, said.drain) }
  })
  for (let word = 0; word < 10; word++) {
    for (const { said, chunks } of speeches) {
      said.say(`${word} `)
      chunks.grew()
    }
  }
  for (const { answerId } of speeches) {
    await expect.poll(async () => (await stored(answerId)).join("")).toBe("0 1 2 3 4 5 6 7 8 9 ")
  }
  expect(statements.length).toBeLessThan(5)
})

it("retries what could not be stored, and stores nothing twice", async () => {
  const turn = await runningTurn()
  let failures = 0
  const failing = spyOn(chat.db, async (run) => {
    failures += 1
    if (failures === 1) throw lost()
    const result = await run()
    if (failures === 2) throw lost() // The write succeeded, but its response was lost.
    return result
  })
  const said = speech()
  const chunks = createChunkWriter({ ...chat, db: failing }).open(turn.answerId, said.drain)
  said.say("The sea ")
  chunks.grew()
  await expect.poll(() => failures).toBeGreaterThan(0)
  said.say("is deep.")
  chunks.grew()
  await expect.poll(async () => (await stored(turn.answerId)).join("")).toBe("The sea is deep.")
})

it("stores the chunks of other turns if one turn's cannot be stored", async () => {
  const [bad, good] = [await runningTurn(), await runningTurn()]
  const writer = createChunkWriter(chat)
  const poison = writer.open(bad.answerId, () => [{ type: "text", id: "0", text: "a\0b" }])
  const said = speech()
  const chunks = writer.open(good.answerId, said.drain)
  said.say("The sea.")
  poison.grew()
  chunks.grew()
  await expect.poll(() => stored(good.answerId)).toEqual(["The sea."])
  expect(await stored(bad.answerId)).toEqual([])
  poison.close()
})

it("stores nothing for a turn that has ended or was deleted", async () => {
  const [ended, gone, running] = [await runningTurn(), await runningTurn(), await runningTurn()]
  await chat.db.update(chatTurns).set({ status: "interrupted" }).where(eq(chatTurns._id, ended.answerId))
  await chat.db.delete(chatMessages).where(eq(chatMessages._id, gone.answerId))
  const writer = createChunkWriter(chat)
  for (const { answerId } of [ended, gone, running]) {
    const said = speech()
    said.say("Words.")
    writer.open(answerId, said.drain).grew()
  }
  await expect.poll(() => stored(running.answerId)).toEqual(["Words."])
  expect(await stored(ended.answerId)).toEqual([])
  expect(await stored(gone.answerId)).toEqual([])
})

function speech() {
  let text = ""
  return {
    say: (more: string) => (text += more),
    drain(): ReplyDelta[] {
      const said = text
      text = ""
      return said === "" ? [] : [{ type: "text", id: "0", text: said }]
    },
  }
}

async function stored(turnId: string) {
  const rows = await chat.db
    .select({ delta: chatChunks.delta })
    .from(chatChunks)
    .where(eq(chatChunks.turnId, turnId))
    .orderBy(asc(chatChunks.seq))
  return rows.map(({ delta }) => delta.map((each) => (each.type === "tool" ? "" : each.text)).join(""))
}

async function runningTurn() {
  const { _id: threadId } = await createThread(ada, { title: "Tides" })
  const userId = ada.viewer.user._id
  const [question, answer] = await chat.db
    .insert(chatMessages)
    .values([
      { userId, threadId, role: "user", content: "How deep is the sea?" },
      { userId, threadId, role: "assistant", content: "" },
    ])
    .returning()
  if (!question || !answer) throw new Error("No messages were stored.")
  await chat.db.insert(chatTurns).values({
    _id: answer._id,
    userId,
    threadId,
    questionId: question._id,
    requestId: "q1",
    status: "running",
    model: "a model",
  })
  return { threadId, answerId: answer._id }
}

/** The database with `around` wrapped around every statement that the writer runs. */
function spyOn(db: Database, around: (run: () => Promise<unknown>) => Promise<unknown>): Database {
  return new Proxy(db, {
    get(target, name) {
      if (name !== "execute") return Reflect.get(target, name)
      return (statement: Parameters<Database["execute"]>[0]) => around(async () => target.execute(statement))
    },
  })
}

function lost() {
  return Object.assign(new Error("The connection was lost."), { code: "CONNECTION_CLOSED" })
}
