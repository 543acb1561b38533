import { eq } from "drizzle-orm"
import { describe, expect, it } from "vitest"
import { chatMessages, chatThreads, chatTurns } from "#db/schema/chat.ts"
import { exportThread } from "#server/chat/export.ts"
import { listMessages } from "#server/chat/messages.ts"
import { stopReply } from "#server/chat/stop.ts"
import { changeThread, createThread, findThread } from "#server/chat/threads.ts"
import { restoreThread, trashThread } from "#server/chat/trash.ts"
import { startReply } from "#server/chat/turn.ts"
import { deleteOldRows, startDeletingOldRows } from "#server/old-rows.ts"
import { listThreads } from "../support/chat-lists.ts"
import { type ChatScope, shareChatServices, readAll } from "../support/chat-services.ts"

const DAY = 24 * 60 * 60 * 1000
const GONE = { status: 404, message: "There is no such conversation, or it is not yours." }

const { chat, ada, grace } = await shareChatServices()

describe("a conversation in the trash", () => {
  it("cannot be reached except to restore it", async () => {
    const thread = await asked(ada)
    const { _id } = thread
    await trashThread(ada, _id)
    const question = { requestId: "q2", text: "Hello?", again: false }
    for (const attempt of [
      () => findThread(ada, _id),
      () => changeThread(ada, _id, { title: "New" }),
      () => listMessages(ada, _id),
      () => exportThread(ada, _id, { format: "json" }),
      () => stopReply(ada, _id),
      () => startReply(ada, _id, question),
      () => trashThread(ada, _id),
    ]) {
      await expect(attempt()).rejects.toMatchObject(GONE)
    }
    expect((await listThreads(ada)).threads.map((one) => one._id)).not.toContain(_id)
  })

  it("is restored to its place with all its messages", async () => {
    const thread = await asked(ada)
    const before = await listMessages(ada, thread._id)
    const later = await createThread(ada, { title: "Later" })
    await trashThread(ada, thread._id)
    expect(await restoreThread(ada, thread._id)).toEqual(await findThread(ada, thread._id))
    expect(await listMessages(ada, thread._id)).toEqual(before)
    const listed = (await listThreads(ada)).threads.map(({ _id }) => _id)
    expect(listed.indexOf(thread._id)).toBeGreaterThan(listed.indexOf(later._id))
  })

  it("is restored once, and only from the trash", async () => {
    const { _id } = await createThread(ada, { title: "The sea" })
    await expect(restoreThread(ada, _id)).rejects.toMatchObject(GONE)
    await trashThread(ada, _id)
    await restoreThread(ada, _id)
    await expect(restoreThread(ada, _id)).rejects.toMatchObject(GONE)
  })

  it("can neither be put there nor be restored by anyone else", async () => {
    const { _id } = await createThread(ada, { title: "The sea" })
    await expect(trashThread(grace, _id)).rejects.toMatchObject(GONE)
    await trashThread(ada, _id)
    await expect(restoreThread(grace, _id)).rejects.toMatchObject(GONE)
    for (const id of ["nonsense", "", crypto.randomUUID()]) {
      await expect(restoreThread(ada, id)).rejects.toMatchObject(GONE)
      await expect(trashThread(ada, id)).rejects.toMatchObject(GONE)
    }
    expect((await restoreThread(ada, _id)).title).toBe("The sea")
  })

  it("is purged after a day with its messages, and nothing else is", async () => {
    const old = await asked(ada)
    const fresh = await asked(ada)
    const kept = await asked(ada)
    await trashThread(ada, old._id)
    await trashThread(ada, fresh._id)
    await chat.db
      .update(chatThreads)
      .set({ trashedAt: Date.now() - DAY - 1 })
      .where(eq(chatThreads._id, old._id))
    await deleteOldRows(chat, chatThreads)
    await expect(restoreThread(ada, old._id)).rejects.toMatchObject(GONE)
    for (const table of [chatMessages, chatTurns])
      expect(await chat.db.$count(table, eq(table.threadId, old._id))).toBe(0)
    expect(await restoreThread(ada, fresh._id)).toMatchObject({ title: "The sea" })
    expect((await listMessages(ada, fresh._id)).entries).toHaveLength(2)
    expect((await listMessages(ada, kept._id)).entries).toHaveLength(2)
  })

  it("is purged when a process starts, by any number of processes", async () => {
    const old = await Promise.all(Array.from({ length: 5 }, () => createThread(ada, { title: "Old" })))
    for (const { _id } of old) {
      await chat.db.update(chatThreads).set({ trashed: true, trashedAt: 1 }).where(eq(chatThreads._id, _id))
    }
    const started = [startDeletingOldRows(chat), startDeletingOldRows(chat)]
    await expect.poll(() => chat.db.$count(chatThreads, eq(chatThreads.title, "Old"))).toBe(0)
    for (const { stop } of started) await stop()
    expect(chat.logged).toEqual([])
  })
})

async function asked(scope: ChatScope) {
  const { _id } = await createThread(scope, { title: "The sea" })
  await readAll((await startReply(scope, _id, { requestId: "q1", text: "/long 1", again: false })).chunks)
  return findThread(scope, _id)
}
