import { asc, eq } from "drizzle-orm"
import { beforeEach, describe, expect, it } from "vitest"
import { chatReads, chatTurns } from "#db/schema/chat.ts"
import { spaces } from "#db/schema/spaces.ts"
import { moveThread } from "#server/chat/move.ts"
import { openTurn } from "#server/chat/open-turn.ts"
import { markThreadRead } from "#server/chat/reads.ts"
import { findThread } from "#server/chat/threads.ts"
import { aSpace, join } from "../support/domain-spaces.ts"
import { shareChatServices, type ChatScope } from "../support/chat-services.ts"

const { chat, ada, grace } = await shareChatServices()
const bob = await chat.scopeOf("bob")
const eve = await chat.scopeOf("eve")

let spaceId: string
let threadId: string

beforeEach(async () => {
  await chat.db.delete(spaces)
  spaceId = await aSpace(chat.db, [ada, "owner"], [grace, "editor"], [bob, "reader"])
  threadId = crypto.randomUUID()
  await send(ada, "a question")
  await chat.db.update(chatTurns).set({ status: "completed", endedAt: 1 })
})

describe("how far somebody has read a conversation of a space", () => {
  it("is everything for who writes in it, and nothing for the others", async () => {
    expect((await findThread(bob, threadId)).messageCount).toBe(2)
    await send(grace, "a message", { toPeople: true })
    expect((await findThread(bob, threadId)).messageCount).toBe(3)
    expect(await reads()).toEqual([
      [ada.viewer.user._id, 2],
      [grace.viewer.user._id, 3],
    ])
  })

  it("is everything once they have seen it, and never less", async () => {
    await Promise.all([markThreadRead(bob, threadId), markThreadRead(bob, threadId)])
    await send(ada, "a message", { toPeople: true })
    await markThreadRead(bob, threadId)
    expect(await reads()).toEqual([
      [ada.viewer.user._id, 3],
      [bob.viewer.user._id, 3],
    ])
  })

  it("is not stored for people who may not see it, or for a personal conversation", async () => {
    await expect(markThreadRead(eve, threadId)).rejects.toMatchObject({ status: 404 })
    threadId = crypto.randomUUID()
    await openTurn(ada, threadId, { ...message("mine"), createsThread: true }, 60_000)
    await markThreadRead(ada, threadId)
    expect(await reads()).toEqual([])
  })

  it("goes with the conversation to another space", async () => {
    const other = await aSpace(chat.db, [ada, "owner"])
    await moveThread(ada, threadId, { spaceId: other, attachments: "copy" })
    const [row] = await chat.db.select().from(chatReads).where(eq(chatReads.threadId, threadId))
    expect(row).toMatchObject({ spaceKey: other, messageCount: 2 })
  })
})

describe("what somebody moves into a space", () => {
  it("is not unread for them, and all of it is for the others", async () => {
    threadId = crypto.randomUUID()
    await openTurn(ada, threadId, { ...message("mine"), createsThread: true }, 60_000)
    await chat.db.update(chatTurns).set({ status: "completed", endedAt: 1 })
    await moveThread(ada, threadId, { spaceId, attachments: "copy" })
    expect(await reads()).toEqual([[ada.viewer.user._id, 2]])
  })
})

describe("a message that waited", () => {
  it("marks nothing as read that was written while its author was away", async () => {
    await join(chat.db, spaceId, eve, "editor")
    await send(ada, "another question")
    const waiting = await send(eve, "after it", { mayWait: true })
    if (waiting.kind !== "waiting") throw new Error("The message does not wait.")
    const { waitingId } = waiting
    await send(grace, "a message", { toPeople: true })
    await chat.db.update(chatTurns).set({ status: "completed", endedAt: 1 })
    await send(eve, "after it", { waitingId })
    expect((await reads()).map(([userId]) => userId)).not.toContain(eve.viewer.user._id)
  })
})

const message = (text: string) => ({ requestId: text, text, again: false })

function send(
  author: ChatScope,
  text: string,
  more: { toPeople?: boolean; mayWait?: boolean; waitingId?: string } = {},
) {
  return openTurn(author, threadId, { ...message(text), createsThread: true, spaceId, ...more }, 60_000)
}

async function reads() {
  const rows = await chat.db
    .select({ userId: chatReads.userId, count: chatReads.messageCount })
    .from(chatReads)
    .where(eq(chatReads.threadId, threadId))
    .orderBy(asc(chatReads._id))
  return rows.map(({ userId, count }) => [userId, count])
}
