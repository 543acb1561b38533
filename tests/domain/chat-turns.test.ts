import { eq } from "drizzle-orm"
import { describe, expect, it } from "vitest"
import { openDatabase } from "#db/client.ts"
import { chatMessages, chatTurns } from "#db/schema/chat.ts"
import { files, blobs } from "#db/schema/files.ts"
import { users } from "#db/schema/users.ts"
import { readConfig } from "#server/config.ts"
import { listMessages } from "#server/chat/messages.ts"
import { stopReply } from "#server/chat/stop.ts"
import { createThread, findThread } from "#server/chat/threads.ts"
import { restoreThread, trashThread } from "#server/chat/trash.ts"
import { createReplies } from "#server/chat/replies.ts"
import { answerOnce, startReply } from "#server/chat/turn.ts"
import {
  openChatServices,
  readAll,
  shareChatServices,
  textOf,
  type ChatScope as Scope,
} from "../support/chat-services.ts"

const { chat, ada } = await shareChatServices()

describe("a message in a conversation", () => {
  it("is stored with its reply, as it was streamed", async () => {
    const threadId = await thread(ada)
    const chunks = await ask(ada, threadId, "How deep is the sea?")
    const start = chunks[0]
    const { entries } = await listMessages(ada, threadId)
    expect(entries).toMatchObject([
      { role: "user", content: "How deep is the sea?", requestId: "q1", turn: null },
      {
        role: "assistant",
        content: textOf(chunks),
        requestId: "q1",
        turn: { status: "completed", model: "development/no-model", parts: null, failure: null },
      },
    ])
    expect(entries[1]?.turn?.outputTokens).toBeGreaterThan(0)
    expect(start).toMatchObject({
      type: "start",
      messageId: entries[1]?._id,
      messageMetadata: { questionId: entries[0]?._id, model: "development/no-model" },
    })
    expect(chunks.at(-1)).toMatchObject({ type: "finish", finishReason: "stop" })
  })

  it("names a conversation that has no title, and no other", async () => {
    const untitled = await createThread(ada, {})
    await ask(ada, untitled._id, "  How deep\nis the sea?")
    expect((await findThread(ada, untitled._id)).title).toBe("How deep is the sea?")

    const titled = await createThread(ada, { title: "The sea" })
    await ask(ada, titled._id, "How deep is it?")
    expect((await findThread(ada, titled._id)).title).toBe("The sea")
  })

  it("moves the conversation to the top", async () => {
    const threadId = await thread(ada)
    const before = await findThread(ada, threadId)
    await ask(ada, threadId, "Hello")
    expect((await findThread(ada, threadId)).lastMessageAt).toBeGreaterThan(before.lastMessageAt)
  })

  it("is sent to the model with the earlier messages from the database", async () => {
    const threadId = await thread(ada)
    await ask(ada, threadId, "First", "q1")
    const chunks = await ask(ada, threadId, "Second", "q2")
    expect(textOf(chunks)).toContain("This request holds 3 messages")
  })

  it("is idempotent: resending the same id returns the stored reply", async () => {
    const threadId = await thread(ada)
    const first = await ask(ada, threadId, "Hello", "q1")
    const begun = chat.gateway.activity.begun
    const second = await ask(ada, threadId, "Hello", "q1")
    expect(textOf(second)).toBe(textOf(first))
    expect(second[0]).toEqual(first[0])
    expect(chat.gateway.activity.begun).toBe(begun)
    expect((await listMessages(ada, threadId)).entries).toHaveLength(2)
  })

  it("gets a new reply on request", async () => {
    const threadId = await thread(ada)
    await ask(ada, threadId, "Hello", "q1")
    const [question, answer] = (await listMessages(ada, threadId)).entries
    await readAll((await startReply(ada, threadId, { requestId: "q1", text: "Hello", again: true })).chunks)
    const { entries } = await listMessages(ada, threadId)
    expect(entries).toHaveLength(2)
    expect(entries[0]?._id).toBe(question?._id)
    expect(entries[1]?._id).not.toBe(answer?._id)
  })

  it("gets no new reply once another message follows it that the sender may not know of", async () => {
    const threadId = await thread(ada)
    await ask(ada, threadId, "First", "q1")
    await ask(ada, threadId, "Second", "q2")
    await expect(
      startReply(ada, threadId, { requestId: "q1", text: "First", again: true }),
    ).rejects.toMatchObject({ status: 409 })
    expect((await listMessages(ada, threadId)).entries).toHaveLength(4)
  })

  it("is refused while another reply in the conversation is being generated", async () => {
    const threadId = await thread(ada)
    const asked = await Promise.allSettled(
      ["q1", "q2", "q3"].map((requestId) =>
        startReply(ada, threadId, { requestId, text: "/long 50", again: false }),
      ),
    )
    const taken = asked.filter((outcome) => outcome.status === "fulfilled")
    const refused = asked.filter((outcome) => outcome.status === "rejected")
    expect([taken.length, refused.length]).toEqual([1, 2])
    for (const { reason } of refused) expect(reason).toMatchObject({ status: 409 })
    await Promise.all(taken.map(({ value }) => readAll(value.chunks)))
    expect((await listMessages(ada, threadId)).entries).toHaveLength(2)
  })

  it("cannot be sent to somebody else's conversation, or to one that does not exist", async () => {
    const grace = await chat.scopeOf("grace")
    const threadId = await thread(ada)
    for (const id of [threadId, crypto.randomUUID(), "nonsense"]) {
      await expect(
        startReply(grace, id, { requestId: "q1", text: "Hello", again: false }),
      ).rejects.toMatchObject({
        status: 404,
      })
    }
    expect((await listMessages(ada, threadId)).entries).toEqual([])
  })
})

describe("a reply", () => {
  it("is stored completely if its reader disconnects", async () => {
    const threadId = await thread(ada)
    const { chunks } = await startReply(ada, threadId, { requestId: "q1", text: "/long 60", again: false })
    for await (const chunk of chunks) if (chunk.type === "text-delta") break
    await expect.poll(() => statusOf(threadId), { timeout: 10_000 }).toBe("completed")
    expect(await contentOf(threadId)).toMatch(/word 60$/)
  })

  it("is stored completely for each of forty readers who disconnect at the same moment", async () => {
    const threads = await Promise.all(Array.from({ length: 40 }, () => thread(ada)))
    await Promise.all(
      threads.map(async (threadId) => {
        const { chunks } = await startReply(ada, threadId, {
          requestId: "q1",
          text: "/long 40",
          again: false,
        })
        for await (const chunk of chunks) if (chunk.type === "text-delta") break
      }),
    )
    for (const threadId of threads) {
      await expect.poll(() => statusOf(threadId), { timeout: 20_000 }).toBe("completed")
      expect(await contentOf(threadId)).toMatch(/word 40$/)
    }
  })

  it("ends when it is stopped, keeps its text so far and aborts the model's request", async () => {
    const threadId = await thread(ada)
    const aborted = chat.gateway.activity.aborted
    const { chunks } = await startReply(ada, threadId, { requestId: "q1", text: "/long 9000", again: false })
    const read: Awaited<ReturnType<typeof readAll>> = []
    for await (const chunk of chunks) {
      read.push(chunk)
      if (read.filter(({ type }) => type === "text-delta").length === 10) void stopReply(ada, threadId)
    }
    expect(read.slice(-2)).toEqual([
      { type: "message-metadata", messageMetadata: { stop: "stopped" } },
      { type: "abort" },
    ])
    expect(await statusOf(threadId)).toBe("stopped")
    expect(await contentOf(threadId)).toBe(textOf(read))
    await expect.poll(() => chat.gateway.activity.aborted).toBe(aborted + 1)
    expect(await stopReply(ada, threadId)).toBe(false)
  })

  it("cannot be stopped by somebody else", async () => {
    const grace = await chat.scopeOf("grace")
    const threadId = await thread(ada)
    const { chunks } = await startReply(ada, threadId, { requestId: "q1", text: "/long 30", again: false })
    await expect(stopReply(grace, threadId)).rejects.toMatchObject({ status: 404 })
    await readAll(chunks)
    expect(await statusOf(threadId)).toBe("completed")
  })

  it("ends at the time limit, and says so in the stream and in its row", async () => {
    const threadId = await thread(ada)
    const question = { requestId: "q1", text: "/long 9000", again: false }
    const { chunks } = await startReply(ada, threadId, question, { timeLimit: 1000 })
    const read = await readAll(chunks)
    expect(read.slice(-2)).toEqual([
      { type: "message-metadata", messageMetadata: { stop: "timeout" } },
      { type: "abort" },
    ])
    expect(textOf(read)).toContain("Development")
    expect(await statusOf(threadId)).toBe("timeout")
    expect(await contentOf(threadId)).toBe(textOf(read))
  })

  it("keeps its text when the connection to the model is reset", async () => {
    const threadId = await thread(ada)
    const read = await ask(ada, threadId, "/reset")
    expect(read.map(({ type }) => type)).toContain("error")
    expect(textOf(read)).toContain("The connection is reset")
    expect(await statusOf(threadId)).toBe("failed")
    expect(await contentOf(threadId)).toBe(textOf(read))
  })

  it.each([
    ["/fail401", "The model server refused the request. Only the administrator of this site can fix this."],
    ["/fail500", "The model couldn't reply. Try again."],
  ])("hides why the model failed on %s, and logs it under the id it shows", async (text, words) => {
    const threadId = await thread(ada)
    const read = await ask(ada, threadId, text)
    const error = read.find((chunk) => chunk.type === "error")
    expect(error?.errorText.replace(/[0-9a-f]{8}/, "id")).toBe(`${words} (Reference id)`)
    const reference = error?.errorText.match(/Reference (\w+)/)?.[1]
    const entry = chat.logged.find((line) => line["reference"] === reference)
    expect(entry).toMatchObject({ statusCode: Number(text.slice(-3)) })
    expect(JSON.stringify(entry)).not.toContain(chat.gateway.key)
    expect((await listMessages(ada, threadId)).entries[1]?.turn).toMatchObject({
      status: "failed",
      failure: error?.errorText,
    })
  })

  it("says that the model is busy if the gateway says so", async () => {
    const read = await ask(ada, await thread(ada), "/fail429")
    expect(read.find((chunk) => chunk.type === "error")?.errorText).toMatch(/^The model is busy/)
  })

  it("can be requested again with the same id after it failed", async () => {
    const threadId = await thread(ada)
    await ask(ada, threadId, "/fail500", "q1")
    await ask(ada, threadId, "/fail500", "q1")
    expect((await listMessages(ada, threadId)).entries.map(({ role }) => role)).toEqual(["user", "assistant"])
  })

  it("stores tools and reasoning beside its text", async () => {
    const threadId = await thread(ada)
    await ask(ada, threadId, '/tool currentTime {"timeZone":"Europe/Lisbon"}', "q1")
    await ask(ada, threadId, "/reasoning", "q2")
    const { entries } = await listMessages(ada, threadId)
    expect(entries[1]?.turn?.parts).toMatchObject([
      {
        type: "tool",
        name: "currentTime",
        input: { timeZone: "Europe/Lisbon" },
        output: { timeZone: "Europe/Lisbon", utc: expect.stringMatching(/Z$/) },
      },
      { type: "text" },
    ])
    expect(entries[3]?.turn?.parts).toMatchObject([
      { type: "reasoning", text: "First a thought. Then a second thought." },
      { type: "text", text: entries[3]?.content },
    ])
  })

  it("takes no more steps than configured", async () => {
    const maxSteps = 1
    const config = { ...ada.config, chat: { ...ada.config.chat, maxSteps } }
    const scope = { ...ada, replies: createReplies({ ...ada, config }) }
    const begun = chat.gateway.activity.begun
    await ask(scope, await thread(ada), "/tool currentTime")
    expect(chat.gateway.activity.begun).toBe(begun + maxSteps)
  })

  it("is interrupted when its process stops, and keeps its text", async () => {
    const closing = await openChatServices()
    const someone = await closing.scopeOf("ada")
    const threadId = await thread(someone)
    const { chunks } = await startReply(someone, threadId, {
      requestId: "q1",
      text: "/long 9000",
      again: false,
    })
    for await (const chunk of chunks) if (chunk.type === "text-delta") break
    await closing.turns.close()
    const { entries } = await listMessages(someone, threadId)
    expect(entries[1]).toMatchObject({ turn: { status: "interrupted" } })
    expect(entries[1]?.content).not.toBe("")
    await closing.close()
  })

  it("that a dead process left running counts as interrupted, and no longer blocks the next", async () => {
    const threadId = await thread(ada)
    await ask(ada, threadId, "First", "q1")
    const [, answer] = (await listMessages(ada, threadId)).entries
    const longAgo = Date.now() - 36_000
    await chat.db
      .update(chatTurns)
      .set({ status: "running", _creationTime: longAgo, deadline: Date.now() - 1000 })
      .where(eq(chatTurns._id, answer?._id ?? ""))
    await chat.db
      .update(chatMessages)
      .set({ _creationTime: longAgo })
      .where(eq(chatMessages._id, answer?._id ?? ""))
    expect((await listMessages(ada, threadId)).entries[1]?.turn?.status).toBe("interrupted")

    await ask(ada, threadId, "Second", "q2")
    const { entries } = await listMessages(ada, threadId)
    expect(entries.map(({ turn }) => turn?.status)).toEqual([
      undefined,
      "interrupted",
      undefined,
      "completed",
    ])
  })

  it("ends when its conversation is moved to the trash, and its text is kept for a restore", async () => {
    const threadId = await thread(ada)
    const { chunks } = await startReply(ada, threadId, { requestId: "q1", text: "/long 9000", again: false })
    const reading = readAll(chunks)
    await trashThread(ada, threadId)
    expect((await reading).at(-1)?.type).toBe("abort")
    await expect(findThread(ada, threadId)).rejects.toMatchObject({ status: 404 })
    await restoreThread(ada, threadId)
    expect(await statusOf(threadId)).toBe("stopped")
  })
})

describe("a message outside of any conversation", () => {
  it("gets a reply and leaves no row", async () => {
    const before = await chat.db.$count(chatMessages)
    const { chunks } = answerOnce(ada, [{ role: "user", content: "Hello" }])
    const read = await readAll(chunks)
    expect(textOf(read)).toContain("> Hello")
    expect(read[0]).toMatchObject({ type: "start", messageId: expect.any(String) })
    expect(await chat.db.$count(chatMessages)).toBe(before)
  })

  it("is counted by how its reply ended, like one of a conversation", async () => {
    const before = chat.turns.ended()
    await readAll(answerOnce(ada, [{ role: "user", content: "Hello" }]).chunks)
    await readAll(answerOnce(ada, [{ role: "user", content: "/fail500" }]).chunks)
    const { chunks, stop } = answerOnce(ada, [{ role: "user", content: "/slow" }])
    for await (const chunk of chunks) if (chunk.type === "text-delta") stop("stopped")
    const { completed, failed, stopped } = chat.turns.ended()
    expect({
      completed: completed - before.completed,
      failed: failed - before.failed,
      stopped: stopped - before.stopped,
    }).toEqual({ completed: 1, failed: 1, stopped: 1 })
  })

  it("gets no more of its reply once the reader disconnects", async () => {
    const aborted = chat.gateway.activity.aborted
    const { chunks, stop } = answerOnce(ada, [{ role: "user", content: "/long 9000" }])
    for await (const chunk of chunks) if (chunk.type === "text-delta") stop("stopped")
    await expect.poll(() => chat.gateway.activity.aborted).toBe(aborted + 1)
  })
})

describe("many concurrent messages of one person", () => {
  it("wait without holding the connections that other people's messages need", async () => {
    const [mine, grace] = [await chat.scopeOf("ada"), await chat.scopeOf("grace")]
    const threads = await Promise.all(Array.from({ length: 20 }, () => thread(mine)))
    const hers = await thread(grace)
    const other = openDatabase(chat.databaseUrl, { connections: 1 })
    let asked: Promise<unknown>[] = []
    await other.db.transaction(async (tx) => {
      await tx.select().from(users).where(eq(users._id, mine.viewer.user._id)).for("update")
      asked = threads.map((threadId) => ask(mine, threadId, "Hello"))
      expect(textOf(await ask(grace, hers, "Hello"))).toContain("> Hello")
    })
    await Promise.all(asked)
    await other.close()
  })

  it("are stored together: forty need as many statements as two", async () => {
    const mine = await chat.scopeOf("lovelace")
    const threads = await Promise.all(Array.from({ length: 40 }, () => thread(mine)))
    const texts: string[] = []
    const counted = openDatabase(chat.databaseUrl, {
      connections: 2,
      around(text, run) {
        texts.push(text)
        return run()
      },
    })
    const asked = await Promise.all(
      threads.map((threadId) => ask({ ...mine, db: counted.db }, threadId, `Hello ${threadId}`)),
    )
    await counted.close()
    for (const [at, threadId] of threads.entries()) {
      expect(textOf(asked[at] ?? [])).toContain(`> Hello ${threadId}`)
    }
    expect(texts.filter((text) => text.includes('insert into "chat_turns"'))).toHaveLength(2)
  })

  it("are refused one by one, and one that cannot be stored fails alone", async () => {
    const mine = await chat.scopeOf("hopper")
    const hers = await thread(await chat.scopeOf("grace"))
    const [first, second, third, fourth] = await Promise.all(Array.from({ length: 4 }, () => thread(mine)))
    const question = { requestId: "q1", text: "Hello", again: false }
    const outcomes = await Promise.allSettled(
      [
        // The messages may be stored in two batches: this reply has not ended before the second.
        { threadId: first, question: { ...question, text: "/slow" } },
        { threadId: first, question: { ...question, requestId: "q2" } },
        { threadId: hers, question },
        { threadId: "no id", question },
        { threadId: second, question: { ...question, fileIds: [crypto.randomUUID()] } },
        { threadId: third, question: { ...question, text: "Hello\0" } },
        { threadId: fourth, question },
      ].map(({ threadId = "", question: asked }) => startReply(mine, threadId, asked)),
    )
    const replies = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []))
    replies[0]?.stop("stopped")
    const [, last = []] = await Promise.all(replies.map(({ chunks }) => readAll(chunks)))
    expect(
      outcomes.map((outcome) =>
        outcome.status === "fulfilled" ? "stored" : (outcome.reason.status ?? "failed"),
      ),
    ).toEqual(["stored", 409, 404, 404, 400, "failed", "stored"])
    expect(textOf(last)).toContain("> Hello")
    for (const threadId of [second, third])
      expect((await listMessages(mine, threadId ?? "")).entries).toEqual([])
  })

  it("get no more replies than the limit allows", async () => {
    const limited = await chat.scopeOf("mary")
    const config = readConfig({
      AUTH_SECRET: "a secret for tests, and for nothing else",
      CHAT_TURNS_AT_ONCE: "3",
    })
    const scope = { ...limited, config }
    const threads = await Promise.all(Array.from({ length: 20 }, () => thread(scope)))
    const outcomes = await Promise.allSettled(
      threads.map((threadId) =>
        startReply(scope, threadId, { requestId: "q1", text: "/slow", again: false }),
      ),
    )
    const given = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []))
    const refused = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason] : []))
    expect(given).toHaveLength(3)
    for (const reason of refused) expect(reason).toMatchObject({ status: 409 })
    for (const answer of given) {
      answer.stop("stopped")
      await readAll(answer.chunks)
    }
  })
})

describe("fifty messages outside of any conversation", () => {
  it("are the most that one person can have replied to concurrently, from any number of addresses", async () => {
    const hello = [{ role: "user" as const, content: "/slow" }]
    const answers = Array.from({ length: 50 }, () => answerOnce(ada, hello))
    expect(() => answerOnce(ada, hello)).toThrow(expect.objectContaining({ status: 409 }))
    const grace = await chat.scopeOf("grace")
    const hers = answerOnce(grace, hello)
    for (const answer of [hers, ...answers]) {
      answer.stop("stopped")
      await readAll(answer.chunks)
    }
    const again = answerOnce(ada, [{ role: "user", content: "Hello" }])
    expect(textOf(await readAll(again.chunks))).toContain("> Hello")
  })
})

describe("the model's tools", () => {
  it("find the user's own files by name, and nobody else's", async () => {
    const grace = await chat.scopeOf("grace")
    await addFile(ada, "Tide tables 2026.pdf")
    await addFile(ada, "Budget.xlsx")
    await addFile(grace, "Tide diary.txt")
    const output = await searchFiles(ada, { name: "tide" })
    expect(output).toMatchObject({ files: [{ name: "Tide tables 2026.pdf", bytes: 12 }], more: false })
    expect(await searchFiles(ada, { name: "100%" })).toMatchObject({ files: [] })
    expect(await searchFiles(ada, {})).toMatchObject({
      files: [{ name: "Budget.xlsx" }, { name: "Tide tables 2026.pdf" }],
    })
  })

  it("list at most twenty files", async () => {
    const grace = await chat.scopeOf("grace")
    for (let i = 0; i < 22; i++) await addFile(grace, `file ${i}.txt`)
    const output = await searchFiles(grace, {})
    expect(output).toMatchObject({ more: true })
    expect((output as { files: unknown[] }).files).toHaveLength(20)
  })

  it("fail inside the reply if the model passes invalid arguments, and the reply continues", async () => {
    const threadId = await thread(ada)
    const read = await ask(ada, threadId, '/tool searchFiles {"name":5}')
    expect(read.map(({ type }) => type)).toContain("tool-input-error")
    expect(await statusOf(threadId)).toBe("completed")
  })
})

async function thread(scope: Scope) {
  const { _id } = await createThread(scope, { title: "The sea" })
  return _id
}

async function ask(scope: Scope, threadId: string, text: string, requestId = "q1") {
  const { chunks } = await startReply(scope, threadId, { requestId, text, again: false })
  return readAll(chunks)
}

async function statusOf(threadId: string) {
  const [turn] = await chat.db.select().from(chatTurns).where(eq(chatTurns.threadId, threadId))
  return turn?.status
}

async function contentOf(threadId: string) {
  const { entries } = await listMessages(ada, threadId)
  return entries.at(-1)?.content
}

async function searchFiles(scope: Scope, input: object) {
  const { chunks } = answerOnce(scope, [
    { role: "user", content: `/tool searchFiles ${JSON.stringify(input)}` },
  ])
  const output = (await readAll(chunks)).find((chunk) => chunk.type === "tool-output-available")
  return output?.output
}

async function addFile({ db, viewer }: Scope, fileName: string) {
  const [blob] = await db
    .insert(blobs)
    .values({ key: crypto.randomUUID(), size: 12, sha256: "0".repeat(64) })
    .returning()
  if (!blob) throw new Error("No blob was made.")
  await db
    .insert(files)
    .values({ storageId: blob._id, userId: viewer.user._id, fileName, mimeType: "text/plain", size: 12 })
}
