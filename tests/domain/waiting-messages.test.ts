import { asc, eq } from "drizzle-orm"
import { beforeEach, describe, expect, it, onTestFinished } from "vitest"
import { chatMessages, chatTurns, chatWaiting } from "#db/schema/chat.ts"
import { spaces } from "#db/schema/spaces.ts"
import { answerNext, startAnsweringWaiting } from "#server/chat/answer-waiting.ts"
import { moveThread } from "#server/chat/move.ts"
import { openTurn } from "#server/chat/open-turn.ts"
import type { SentMessage } from "#server/chat/resent.ts"
import { trashThread } from "#server/chat/trash.ts"
import { withdrawMessage } from "#server/chat/waiting.ts"
import { readConfig } from "#server/config.ts"
import { deleteOldRows } from "#server/old-rows.ts"
import { removeMember } from "#server/spaces/members.ts"
import { aSpace } from "../support/domain-spaces.ts"
import { listWaiting } from "../support/chat-lists.ts"
import { shareChatServices, type ChatScope } from "../support/chat-services.ts"

const { chat, ada, grace } = await shareChatServices()
const bob = await chat.scopeOf("bob")
/** What a process has to go on for anybody. */
const process = { ...chat, dbFor: () => chat.db }

let spaceId: string
let threadId: string

/** A conversation of Ada's space in which a reply is in progress that no process generates. */
beforeEach(async () => {
  await chat.db.delete(spaces)
  spaceId = await aSpace(chat.db, [ada, "owner"], [grace, "editor"], [bob, "reader"])
  threadId = crypto.randomUUID()
  await openTurn(ada, threadId, message("the first", { createsThread: true, spaceId }), 60_000)
})

describe("messages that wait in a conversation of a space", () => {
  it("are replied to in the order in which they were stored, however many arrive at one moment", async () => {
    const sent = Array.from({ length: 6 }, (_, at) => [send(ada, `ada ${at}`), send(grace, `grace ${at}`)])
    await Promise.all(sent.flat())
    const line = await listWaiting(bob, threadId)
    expect(line.map(({ place }) => place)).toEqual(Array.from({ length: 12 }, (_, at) => at + 1))
    const answering = startAnsweringWaiting(process)
    onTestFinished(() => answering.stop())
    await endReply()
    await expect.poll(() => listWaiting(bob, threadId), { timeout: 30_000 }).toEqual([])
    await expect.poll(statuses, { timeout: 30_000 }).not.toContain("running")
    expect(await questions()).toEqual(["the first", ...line.map(({ content }) => content)])
    expect((await statuses()).slice(1)).toEqual(line.map(() => "completed"))
  })

  it("are overtaken by nobody, although no reply is in progress for a moment", async () => {
    await send(grace, "second")
    await endReply()
    await expect(openTurn(ada, threadId, message("no"), 60_000)).rejects.toMatchObject(RUNNING)
    const again = { ...message("the first"), requestId: "the first", again: true }
    await expect(openTurn(ada, threadId, { ...again, mayWait: true }, 60_000)).rejects.toMatchObject(RUNNING)
    expect(await send(ada, "third")).toMatchObject({ kind: "waiting", ahead: 1 })
    await answerNext(process, threadId)
    await expect.poll(questions).toEqual(["the first", "second"])
  })

  it("are stored once, and replied to once by several processes that try", async () => {
    const first = await send(grace, "second")
    await send(ada, "third")
    expect(await send(grace, "second")).toEqual(first)
    await endReply()
    await Promise.all([1, 2, 3].map(() => answerNext(process, threadId)))
    expect(await questions()).toEqual(["the first", "second"])
    expect((await listWaiting(ada, threadId)).map(({ content }) => content)).toEqual(["third"])
  })

  it("wait again, as the last, when they are sent again after they were taken out of the line", async () => {
    const withdrawn = idOf(await send(grace, "second"))
    await withdrawMessage(ada, withdrawn)
    await send(ada, "third")
    expect(await send(grace, "second")).toMatchObject({ kind: "waiting", ahead: 1 })
    expect(await listWaiting(bob, threadId)).toMatchObject([
      { content: "third", state: "waiting" },
      { content: "second", state: "waiting", _id: expect.not.stringMatching(withdrawn) },
    ])
    for (const _ of [1, 2]) {
      await endReply()
      await answerNext(process, threadId)
    }
    expect(await questions()).toEqual(["the first", "third", "second"])
  })

  it("count again when they are sent again", async () => {
    const plan = atOnce(grace, 1)
    await withdrawMessage(ada, idOf(await send(plan, "second")))
    await send(plan, "third")
    await expect(send(plan, "second")).rejects.toMatchObject({ reason: "reply-running-elsewhere" })
  })

  it("are not taken for somebody else's that have the same id, whether those wait or were withdrawn", async () => {
    const first = idOf(await send(ada, "q1"))
    const same = message("another text", { requestId: "q1", mayWait: true })
    await expect(openTurn(grace, threadId, same, 60_000)).rejects.toMatchObject(TAKEN)
    await withdrawMessage(grace, first)
    await expect(openTurn(grace, threadId, same, 60_000)).rejects.toMatchObject(TAKEN)
    expect(await listWaiting(ada, threadId)).toMatchObject([{ content: "q1", state: "withdrawn" }])
  })

  it("count among the replies that their author's plan allows at a time", async () => {
    const plan = atOnce(grace, 2)
    await send(plan, "second")
    await send(plan, "third")
    await expect(send(plan, "fourth")).rejects.toMatchObject({ reason: "too-many-replies-elsewhere" })
    expect(await send(plan, "second")).toMatchObject({ kind: "waiting", ahead: 0 })
    await expect(
      openTurn(plan, crypto.randomUUID(), message("own", { createsThread: true }), 60_000),
    ).rejects.toMatchObject({ reason: "too-many-replies-elsewhere" })
  })

  it("are passed over, and say so for an hour, if their author may no longer write", async () => {
    await send(grace, "second")
    await send(ada, "third")
    await removeMember(ada, spaceId, grace.viewer.user._id)
    await endReply()
    await answerNext(process, threadId)
    await expect.poll(questions).toEqual(["the first", "third"])
    expect(await listWaiting(ada, threadId)).toMatchObject([{ content: "second", state: "passed" }])
    await deleteOldRows(chat, chatWaiting, Date.now() + 59 * 60_000)
    expect(await listWaiting(ada, threadId)).toHaveLength(1)
    await deleteOldRows(chat, chatWaiting, Date.now() + 61 * 60_000)
    expect(await listWaiting(ada, threadId)).toEqual([])
  })

  it("are withdrawn by their author and by editors, for whom the author still has the text", async () => {
    const own = idOf(await send(grace, "second"))
    const hers = idOf(await send(grace, "third"))
    await expect(withdrawMessage(bob, own)).rejects.toMatchObject({ reason: "space-reader" })
    await withdrawMessage(grace, own)
    await withdrawMessage(ada, hers)
    expect(await listWaiting(grace, threadId)).toMatchObject([{ content: "third", state: "withdrawn" }])
    await endReply()
    await answerNext(process, threadId)
    expect(await questions()).toEqual(["the first"])
    for (const id of [own, "no id"])
      await expect(withdrawMessage(ada, id)).rejects.toMatchObject({ reason: "no-such-waiting-message" })
    expect(await send(grace, "fourth")).toMatchObject({ kind: "fresh" })
  })

  it("keep the conversation where it is, and are gone when it is deleted", async () => {
    const waiting = idOf(await send(ada, "second"))
    await endReply()
    await expect(moveThread(ada, threadId, { attachments: "copy" })).rejects.toMatchObject(RUNNING)
    await trashThread(ada, threadId)
    await expect(withdrawMessage(ada, waiting)).rejects.toMatchObject({ reason: "no-such-waiting-message" })
  })

  it("are only new messages, of people who may write there", async () => {
    await expect(send(bob, "may I?")).rejects.toMatchObject({ reason: "space-reader" })
    await expect(
      openTurn(ada, threadId, { ...message("edit"), mayWait: true, replaces: "x" }, 60_000),
    ).rejects.toMatchObject(RUNNING)
    expect(await chat.db.$count(chatWaiting)).toBe(0)
  })

  it("wait in a personal conversation too, where nobody else sees or withdraws them", async () => {
    threadId = crypto.randomUUID()
    await openTurn(ada, threadId, message("mine", { createsThread: true }), 60_000)
    await expect(openTurn(ada, threadId, message("no"), 60_000)).rejects.toMatchObject(RUNNING)
    const next = idOf(await send(ada, "next"))
    expect(await listWaiting(ada, threadId)).toMatchObject([{ content: "next", state: "waiting" }])
    await expect(listWaiting(grace, threadId)).rejects.toMatchObject({ status: 404 })
    await expect(withdrawMessage(grace, next)).rejects.toMatchObject({ status: 404 })
    await withdrawMessage(ada, next)
    expect(await listWaiting(ada, threadId)).toEqual([])

    await send(ada, "second")
    await endReply()
    await answerNext(process, threadId)
    expect(await questions()).toEqual(["mine", "second"])
  })
})

describe("a message in a conversation of a space", () => {
  it("is not taken for somebody else's that has the same id and a reply", async () => {
    await expect(
      openTurn(grace, threadId, message("mine", { requestId: "the first", mayWait: true }), 60_000),
    ).rejects.toMatchObject(TAKEN)
    await endReply()
    for (const text of ["mine", "the first"])
      await expect(
        openTurn(grace, threadId, message(text, { requestId: "the first" }), 60_000),
      ).rejects.toMatchObject(TAKEN)
    expect(await openTurn(ada, threadId, message("the first"), 60_000)).toMatchObject({ kind: "answered" })
  })

  it("can be given another reply by somebody else, and is still its author's", async () => {
    await endReply("failed")
    await expect(
      openTurn(grace, threadId, message("mine", { requestId: "the first" }), 60_000),
    ).rejects.toMatchObject(TAKEN)
    expect(await openTurn(grace, threadId, message("the first"), 60_000)).toMatchObject({ kind: "fresh" })
    await endReply()
    expect(await openTurn(ada, threadId, message("the first"), 60_000)).toMatchObject({ kind: "answered" })
    expect(await openTurn(grace, threadId, message("the first", { again: true }), 60_000)).toMatchObject({
      kind: "fresh",
    })
    expect(await questions()).toEqual(["the first"])
  })
})

const TAKEN = { status: 409, reason: "message-id-taken" }
const RUNNING = { status: 409, reason: "reply-running" }

/** Its text is its id, too. */
function message(text: string, more: Partial<SentMessage> = {}): SentMessage {
  return { requestId: text, text, again: false, ...more }
}

function send(author: ChatScope, text: string) {
  return openTurn(author, threadId, message(text, { mayWait: true }), 60_000)
}

function atOnce(author: ChatScope, replies: number): ChatScope {
  const secret = "a secret for tests, and for nothing else"
  return { ...author, config: readConfig({ AUTH_SECRET: secret, CHAT_TURNS_AT_ONCE: String(replies) }) }
}

function idOf(turn: Awaited<ReturnType<typeof send>>): string {
  if (turn.kind !== "waiting") throw new Error("It does not wait.")
  return turn.waitingId
}

async function endReply(status: "completed" | "failed" = "completed") {
  const ended = { status, endedAt: Date.now() }
  await chat.db.update(chatTurns).set(ended).where(eq(chatTurns.threadId, threadId))
}

async function questions(): Promise<string[]> {
  const rows = await chat.db
    .select({ role: chatMessages.role, content: chatMessages.content })
    .from(chatMessages)
    .where(eq(chatMessages.threadId, threadId))
    .orderBy(asc(chatMessages._id))
  return rows.filter(({ role }) => role === "user").map(({ content }) => content)
}

async function statuses() {
  const rows = await chat.db
    .select({ status: chatTurns.status })
    .from(chatTurns)
    .where(eq(chatTurns.threadId, threadId))
    .orderBy(asc(chatTurns._id))
  return rows.map(({ status }) => status)
}
