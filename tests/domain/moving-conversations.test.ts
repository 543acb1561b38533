import { asc, eq } from "drizzle-orm"
import { beforeEach, describe, expect, it } from "vitest"
import {
  chatMessages,
  chatReplacedMessages,
  chatShares,
  chatThreads,
  chatTurns,
  type Attachment,
  type ReplyPart,
} from "#db/schema/chat.ts"
import { files } from "#db/schema/files.ts"
import { PERSONAL, spaceMembers, spaces } from "#db/schema/spaces.ts"
import { listMessages } from "#server/chat/messages.ts"
import { copyThread, moveThread } from "#server/chat/move.ts"
import { listReplaced } from "#server/chat/replaced.ts"
import { searchThreads } from "#server/chat/search.ts"
import { threadLinks } from "#server/chat/shares.ts"
import { createLink } from "#server/links/links.ts"
import { findLink } from "#server/links/visits.ts"
import { createThread, findThread } from "#server/chat/threads.ts"
import { uploadFile } from "#server/files/upload.ts"
import { listFiles } from "#server/files/list.ts"
import { openUploadProgress } from "#server/files/upload-progress.ts"
import { openRunningRequests } from "#server/running-requests.ts"
import { aSpace } from "../support/domain-spaces.ts"
import { listThreads } from "../support/chat-lists.ts"
import { aFile } from "../support/file-drawer.ts"
import { shareChatServices, type ChatScope } from "../support/chat-services.ts"

const COPY = { attachments: "copy" } as const

const { chat, ada, grace } = await shareChatServices()
const ron = await chat.scopeOf("ron")
const stella = await chat.scopeOf("stella")

/** Ada owns it, Grace edits, Ron reads. */
let spaceId: string
beforeEach(async () => {
  await chat.db.delete(spaces)
  for (const table of [chatThreads, files]) await chat.db.delete(table)
  spaceId = await aSpace(chat.db, [ada, "owner"], [grace, "editor"], [ron, "reader"])
})

describe("moving a conversation", () => {
  it("into a space shows it with all its rows to the members, and no longer among one's own", async () => {
    const { threadId } = await converse(grace)
    const moved = await moveThread(grace, threadId, { spaceId, ...COPY })
    expect(moved).toMatchObject({ _id: threadId, spaceId })
    expect(await titlesIn(grace)).toEqual([])
    expect(await titlesIn(ron, spaceId)).toEqual(["About tides"])
    const { entries } = await listMessages(ron, threadId)
    expect(entries.map(({ content }) => content)).toEqual(["When?", "At noon."])
    await expect(findThread(stella, threadId)).rejects.toMatchObject({ status: 404 })
  })

  it("out of a space makes it one's own, if nobody else has written in it", async () => {
    const { threadId } = await converse(grace, spaceId)
    await moveThread(grace, threadId, COPY)
    expect(await titlesIn(grace)).toEqual(["About tides"])
    expect(await titlesIn(ada, spaceId)).toEqual([])
    expect((await searchThreads(grace, { q: "noon" })).results).toHaveLength(1)
    for (const table of [chatMessages, chatTurns])
      expect(await chat.db.select({ key: table.spaceKey }).from(table)).toEqual(
        Array.from({ length: table === chatTurns ? 1 : 2 }, () => ({ key: PERSONAL })),
      )
    await expect(findThread(ada, threadId)).rejects.toMatchObject({ status: 404 })

    const other = await converse(grace, spaceId)
    await expect(moveThread(ada, other.threadId, COPY)).rejects.toMatchObject({
      status: 409,
      reason: "conversation-of-several",
    })
    expect(await titlesIn(ron, spaceId)).toEqual(["About tides"])
  })

  it("waits for nobody: while a reply is generated it is refused, as is a copy", async () => {
    const { threadId, replyId } = await converse(grace)
    await chat.db.update(chatTurns).set({ status: "running" }).where(eq(chatTurns._id, replyId))
    for (const verb of [moveThread, copyThread])
      await expect(verb(grace, threadId, { spaceId, ...COPY })).rejects.toMatchObject({
        status: 409,
        reason: "reply-running",
      })
  })

  it("leaves the next messages to the rules of its next place", async () => {
    const { threadId } = await converse(grace)
    await moveThread(grace, threadId, { spaceId, ...COPY })
    await chat.db
      .insert(chatMessages)
      .values({ userId: ada.viewer.user._id, threadId, role: "user", content: "And then?" })
    expect((await listMessages(ron, threadId)).entries.at(-1)).toMatchObject({
      content: "And then?",
      userId: ada.viewer.user._id,
    })
    await expect(moveThread(grace, threadId, COPY)).rejects.toMatchObject({
      reason: "conversation-of-several",
    })
  })

  it("ends its public links", async () => {
    const { threadId } = await converse(grace)
    const { url } = await createLink(grace, threadLinks, threadId, { shows: "live" })
    const find = () => findLink(chat, threadLinks, url.split("/").at(-1) ?? "", new Request(url))
    expect((await find()).thing._id).toBe(threadId)
    await moveThread(grace, threadId, { spaceId, ...COPY })
    expect(await chat.db.$count(chatShares)).toBe(0)
    await expect(find()).rejects.toThrow()
  })
})

describe("the attachments of a conversation that is moved", () => {
  it("are copied along, under names that are free there, also those of earlier versions", async () => {
    const fileId = await upload(grace, "tides.txt")
    await upload(ada, "tides.txt", spaceId)
    const { threadId, questionId } = await converse(grace, undefined, [attachment(fileId, "tides.txt")])
    await chat.db.insert(chatReplacedMessages).values({
      userId: grace.viewer.user._id,
      threadId,
      role: "user",
      content: "Before",
      attachments: [attachment(fileId, "tides.txt")],
      replacedBy: questionId,
      replacedAt: 1,
    })
    await moveThread(grace, threadId, { spaceId, ...COPY })
    const there = await filesIn(ron, spaceId)
    expect(there.map(({ fileName }) => fileName)).toEqual(["tides (1).txt", "tides.txt"])
    const copied = attachment(there[0]!._id, "tides (1).txt")
    expect((await listMessages(ron, threadId)).entries[0]?.attachments).toEqual([copied])
    expect((await listReplaced(ron, threadId, questionId)).entries[0]?.attachments).toEqual([copied])
    expect((await filesIn(grace)).map(({ _id }) => _id)).toEqual([fileId])
  })

  it("are taken off the messages if they are left, do not exist, or are not the mover's to open", async () => {
    const [kept, foreign] = [await upload(grace, "kept.txt"), await upload(ada, "foreign.txt")]
    const gone = crypto.randomUUID()
    const named = [
      attachment(kept, "kept.txt"),
      attachment(foreign, "foreign.txt"),
      attachment(gone, "gone.txt"),
    ]
    const left = await converse(grace, undefined, named)
    await moveThread(grace, left.threadId, { spaceId, attachments: "leave" })
    expect((await listMessages(ron, left.threadId)).entries[0]?.attachments).toBeNull()
    const copied = await converse(grace, undefined, named)
    await moveThread(grace, copied.threadId, { spaceId, ...COPY })
    const [question] = (await listMessages(ron, copied.threadId)).entries
    expect(question?.attachments?.map(({ fileName }) => fileName)).toEqual(["kept.txt"])
    expect(JSON.stringify(await chat.db.select().from(chatMessages))).not.toMatch(/foreign\.txt|gone\.txt/)
  })

  it("that are in its next place already stay as they are", async () => {
    const there = attachment(await upload(ada, "there.txt", spaceId), "there.txt")
    const { threadId } = await converse(grace, undefined, [there])
    await moveThread(grace, threadId, { spaceId, ...COPY })
    expect((await listMessages(ron, threadId)).entries[0]?.attachments).toEqual([there])
    expect(await filesIn(ron, spaceId)).toHaveLength(1)
  })
})

describe("what the model found in another place", () => {
  it("is not shown in a space", async () => {
    const parts: ReplyPart[] = [
      { type: "tool", callId: "1", name: "searchFiles", output: { files: [{ name: "salaries.txt" }] } },
      { type: "tool", callId: "2", name: "currentTime", output: { utc: "now" } },
      { type: "text", text: "At noon." },
    ]
    for (const verb of [moveThread, copyThread]) {
      const { threadId, replyId, questionId } = await converse(grace)
      await chat.db.update(chatTurns).set({ parts }).where(eq(chatTurns._id, replyId))
      const turn = { status: "completed", model: "m", parts, failure: null } as const
      await chat.db.insert(chatReplacedMessages).values({
        userId: grace.viewer.user._id,
        threadId,
        role: "assistant",
        content: "",
        turn: { ...turn, inputTokens: null, outputTokens: null, finishReason: "stop" },
        replacedBy: questionId,
        replacedAt: 1,
      })
      const { _id } = await verb(grace, threadId, { spaceId, ...COPY })
      expect((await listMessages(ron, _id)).entries[1]?.turn?.parts).toEqual(parts.slice(1))
      if (verb === copyThread) continue
      expect((await listReplaced(ron, _id, questionId)).entries[0]?.turn?.parts).toEqual(parts.slice(1))
    }
  })
})

describe("copying a conversation", () => {
  it("needs only the right to read, and names the authors where it becomes personal", async () => {
    const { threadId } = await converse(grace, spaceId)
    await chat.db
      .update(spaceMembers)
      .set({ memberName: "Grace" })
      .where(eq(spaceMembers.memberEmail, "grace@example.org"))
    const copy = await copyThread(ron, threadId, COPY)
    expect(copy).toMatchObject({ title: "About tides", spaceId: null })
    const { entries } = await listMessages(ron, copy._id)
    expect(entries.map(({ content, userId }) => [content, userId])).toEqual([
      ["Grace:\n\nWhen?", ron.viewer.user._id],
      ["At noon.", ron.viewer.user._id],
    ])
    expect(entries[1]?.turn).toMatchObject({ status: "completed", model: "m" })
    const { entries: original } = await listMessages(grace, threadId)
    expect(original.map(({ content }) => content)).toEqual(["When?", "At noon."])
  })

  it("into a space keeps the authors, the times and the order of many messages", async () => {
    const { threadId } = await converse(grace)
    await chat.db.insert(chatMessages).values(
      Array.from({ length: 300 }, (_, n) => ({
        userId: grace.viewer.user._id,
        threadId,
        role: "user" as const,
        content: `${n}`,
        _creationTime: 1000 + n,
      })),
    )
    const copy = await copyThread(grace, threadId, { spaceId, ...COPY })
    const rows = await chat.db
      .select({ content: chatMessages.content, at: chatMessages._creationTime })
      .from(chatMessages)
      .where(eq(chatMessages.threadId, copy._id))
      .orderBy(asc(chatMessages._id))
    expect(rows.slice(2)).toEqual(Array.from({ length: 300 }, (_, n) => ({ content: `${n}`, at: 1000 + n })))
    expect(await titlesIn(grace)).toEqual(["About tides"])
    expect(await titlesIn(ron, spaceId)).toEqual(["About tides"])
  })
})

async function converse(scope: ChatScope, to?: string, attachments: Attachment[] | null = null) {
  const { _id: threadId } = await createThread(scope, { title: "About tides", spaceId: to })
  const userId = scope.viewer.user._id
  const said = { userId, threadId }
  const [question, reply] = await chat.db
    .insert(chatMessages)
    .values([
      { ...said, role: "user", content: "When?", attachments },
      { ...said, role: "assistant", content: "At noon." },
    ])
    .returning()
  const [questionId, replyId] = [question!._id, reply!._id]
  await chat.db
    .insert(chatTurns)
    .values({ ...said, _id: replyId, questionId, requestId: "first", status: "completed", model: "m" })
  return { threadId, questionId, replyId }
}

function attachment(fileId: string, fileName: string): Attachment {
  return { fileId, fileName, mimeType: "text/plain", size: 5 }
}

async function upload(scope: ChatScope, fileName: string, to?: string): Promise<string> {
  const uploadProgress = openUploadProgress({ live: { sendToMembers: () => false }, log: scope.log })
  const uploading = { ...scope, process: 1, runningRequests: openRunningRequests(), uploadProgress }
  return (await uploadFile(uploading, aFile(fileName, "12345"), { spaceId: to }))._id
}

async function titlesIn(scope: ChatScope, to?: string) {
  const { threads } = await listThreads(scope, { spaceId: to, limit: 50, cursor: undefined })
  return threads.map(({ title }) => title)
}

async function filesIn(scope: ChatScope, to?: string) {
  const query = { q: "", sort: "name", type: undefined, cursor: undefined, limit: 100 } as const
  return (await listFiles(scope, { ...query, spaceId: to })).files
}
