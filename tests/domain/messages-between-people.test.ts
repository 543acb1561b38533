import { asc, eq } from "drizzle-orm"
import { beforeEach, describe, expect, it } from "vitest"
import { chatMessages, chatTurns } from "#db/schema/chat.ts"
import { notifications } from "#db/schema/notifications.ts"
import { spaces } from "#db/schema/spaces.ts"
import { users } from "#db/schema/users.ts"
import { addresseeOf } from "#server/chat/addressee-contract.ts"
import { isToPeople } from "#server/chat/addressee.ts"
import { listMessages } from "#server/chat/messages.ts"
import { copyThread, moveThread } from "#server/chat/move.ts"
import { openTurn } from "#server/chat/open-turn.ts"
import { recallMessages } from "#server/chat/recall.ts"
import { listReplaced } from "#server/chat/replaced.ts"
import type { SentMessage } from "#server/chat/resent.ts"
import { searchThreads } from "#server/chat/search.ts"
import { threadLinks } from "#server/chat/shares.ts"
import { createLink } from "#server/links/links.ts"
import { visitThreadShare } from "#server/chat/share-visits.ts"
import { changeThread, findThread } from "#server/chat/threads.ts"
import { aSpace } from "../support/domain-spaces.ts"
import { shareChatServices, type ChatScope } from "../support/chat-services.ts"

const { chat, ada, grace } = await shareChatServices()
const bob = await chat.scopeOf("bob")
for (const [{ viewer }, name] of [
  [ada, "Ada Lovelace"],
  [grace, "Grace Hopper"],
  [bob, "Bob Stone"],
] as const)
  await chat.db.update(users).set({ name }).where(eq(users._id, viewer.user._id))

let spaceId: string
let threadId: string

beforeEach(async () => {
  await chat.db.delete(spaces)
  spaceId = await aSpace(chat.db, [ada, "owner"], [grace, "editor"], [bob, "reader"])
  threadId = crypto.randomUUID()
  await send(ada, "the first", { createsThread: true, spaceId })
  await endReply()
})

describe("the addressee of a message", () => {
  const names = ["Ada Lovelace", "Ada", "ada@example.org"]
  const asks = (text: string, peopleOnly = false) => addresseeOf(text, names, peopleOnly).asksModel

  it("is the model, unless the message opens with a member's mention", () => {
    expect(asks("How deep is the sea?")).toBe(true)
    expect(asks("Can you help @Ada with this?")).toBe(true)
    expect(addresseeOf(" \n@ada, can you check?", names, false)).toEqual({ asksModel: false, name: "Ada" })
    expect(asks("@ada@example.org please")).toBe(false)
    expect(asks("@Adams can you check?")).toBe(true)
  })

  it("is nobody but people in a conversation that is for people only, unless the assistant is named", () => {
    expect(asks("How deep is the sea?", true)).toBe(false)
    expect(asks("@assistant how deep is the sea?", true)).toBe(true)
    expect(asks("@Ada I don't know. @Assistant, do you?", true)).toBe(true)
    expect(asks("@Ada and @ASSISTANT?")).toBe(true)
    expect(asks("@assistants are many", true)).toBe(false)
  })
})

describe("a message to the people of a space", () => {
  it("is stored, found and notified, and opens no turn", async () => {
    const sent = await send(ada, "@Grace can you check the harmonica?")
    expect(sent).toEqual({ kind: "stored", questionId: expect.any(String) })
    const { entries } = await listMessages(bob, threadId)
    expect(entries.at(-1)).toMatchObject({
      role: "user",
      content: "@Grace can you check the harmonica?",
      mentions: ["Grace"],
      requestId: "@Grace can you check the harmonica?",
      turn: null,
    })
    expect(await chat.db.$count(chatTurns, eq(chatTurns.threadId, threadId))).toBe(1)
    expect(await notified()).toEqual([grace.viewer.user._id])
    const { results } = await searchThreads(grace, { q: "harmonica", spaceId, everywhere: undefined })
    expect(results).toMatchObject([{ thread: { _id: threadId } }])
  })

  it("can begin a conversation, which has its title", async () => {
    threadId = crypto.randomUUID()
    const sent = await send(grace, "@Ada are you there?", { createsThread: true, spaceId })
    expect(sent).toMatchObject({ kind: "stored" })
    expect(await findThread(ada, threadId)).toMatchObject({ title: "@Ada are you there?", spaceId })
  })

  it("is stored once, also when it is sent by two requests that arrive together", async () => {
    const sent = await Promise.all([1, 2, 3].map(() => send(ada, "@Grace hello")))
    expect(new Set(sent.map((each) => "questionId" in each && each.questionId)).size).toBe(1)
    expect(await contents()).toEqual(["the first", "", "@Grace hello"])
    await expect(send(grace, "@Grace hello")).rejects.toMatchObject(TAKEN)
    await expect(send(grace, "@Ada mine", { requestId: "@Grace hello" })).rejects.toMatchObject(TAKEN)
  })

  it("waits for no reply and counts as none", async () => {
    await send(ada, "a question")
    await send(ada, "a second question", { mayWait: true })
    expect(await send(grace, "@Ada while you wait")).toMatchObject({ kind: "stored" })
    expect(await contents()).toEqual(["the first", "", "a question", "", "@Ada while you wait"])
  })

  it("is none in a personal conversation", async () => {
    threadId = crypto.randomUUID()
    expect(await send(ada, "@Grace hello", { createsThread: true })).toMatchObject({ kind: "fresh" })
    await expect(changeThread(ada, threadId, { peopleOnly: true })).rejects.toMatchObject({
      reason: "conversation-personal",
    })
  })

  it("is every message of a conversation that an editor has set to people only", async () => {
    await expect(changeThread(bob, threadId, { peopleOnly: true })).rejects.toMatchObject({ status: 403 })
    expect(await changeThread(grace, threadId, { peopleOnly: true })).toMatchObject({ peopleOnly: true })
    expect(await send(ada, "Lunch?")).toMatchObject({ kind: "stored" })
    expect(await send(ada, "@assistant Lunch?")).toMatchObject({ kind: "fresh" })
    await endReply()
    await changeThread(ada, threadId, { peopleOnly: false })
    expect(await send(ada, "How deep is the sea?")).toMatchObject({ kind: "fresh" })
  })
})

describe("changing the title of a conversation, and whether it is for people only", () => {
  it("changes both or neither", async () => {
    const before = await findThread(ada, threadId)
    // The database refuses it. A title of a request is never empty.
    await expect(changeThread(ada, threadId, { title: "", peopleOnly: true })).rejects.toThrow()
    expect(await findThread(ada, threadId)).toEqual(before)
    const changes = { title: "Lunch", peopleOnly: true }
    expect(await changeThread(ada, threadId, changes)).toEqual({ ...before, ...changes })
  })
})

describe("asking the model for a reply to a message between people", () => {
  beforeEach(async () => {
    await send(ada, "@Grace how deep is it?")
    await send(grace, "@Ada 40 metres, I think")
  })

  it("opens one turn, no matter who asks and how often", async () => {
    const asked = await send(grace, "@Grace how deep is it?", { asks: true })
    expect(asked).toMatchObject({ kind: "fresh" })
    const again = await send(ada, "@Grace how deep is it?", { asks: true })
    expect(again).toMatchObject({ kind: "running", answerId: (asked as { answerId: string }).answerId })
    await endReply()
    expect(await send(grace, "@Grace how deep is it?", { asks: true })).toMatchObject({ kind: "answered" })
    expect(await contents()).toEqual(["the first", "", ...SAID, ""])
    expect(await chat.db.$count(chatTurns, eq(chatTurns.threadId, threadId))).toBe(2)
  })

  it("keeps what was said before the reply when another one is requested", async () => {
    await send(ada, "@Grace how deep is it?", { asks: true })
    await endReply()
    expect(await send(ada, "@Grace how deep is it?", { asks: true, again: true })).toMatchObject({
      kind: "fresh",
    })
    expect(await contents()).toEqual(["the first", "", ...SAID, ""])
  })

  it("sends the model what people said in the meantime, with their names, and the message last", async () => {
    const asked = await send(ada, "@Grace how deep is it?", { asks: true })
    if (asked.kind !== "fresh") throw new Error("No turn was opened.")
    const { recalled } = await recallMessages(ada, { ...asked, tokens: 10_000 })
    expect(recalled.flatMap(({ messages }) => messages)).toEqual([
      { role: "user", content: "Ada Lovelace: the first" },
      { role: "user", content: "Grace Hopper: @Ada 40 metres, I think" },
      { role: "user", content: "Ada Lovelace: @Grace how deep is it?" },
    ])
  })

  it("is asked by name with everything that people said", async () => {
    const asked = await send(grace, "@Assistant is that right?")
    if (asked.kind !== "fresh") throw new Error("No turn was opened.")
    const { recalled } = await recallMessages(ada, { ...asked, tokens: 10_000 })
    expect(recalled.at(-2)?.messages).toEqual([
      { role: "user", content: "Grace Hopper: @Ada 40 metres, I think" },
    ])
    expect(recalled.at(-1)?.messages).toEqual([
      { role: "user", content: "Grace Hopper: @Assistant is that right?" },
    ])
  })

  it("is refused while another reply is being generated", async () => {
    await send(ada, "a question")
    const asking = send(ada, "@Grace how deep is it?", { asks: true, mayWait: true })
    await expect(asking).rejects.toMatchObject({ reason: "reply-running" })
  })
})

describe("an edit of a message between people", () => {
  let noteId: string
  beforeEach(async () => {
    noteId = idOf(await send(ada, "@Grace how deep is it?"))
    await send(grace, "@Ada 40 metres, I think")
  })

  it("changes it in its place, and keeps what it was", async () => {
    const { url } = await createLink(ada, threadLinks, threadId, { shows: "copy" })
    const edit = { requestId: "edit", replaces: noteId }
    expect(await send(ada, "@Grace how deep?", edit)).toEqual({ kind: "stored", questionId: noteId })
    expect(await send(ada, "@Grace how deep?", edit)).toEqual({ kind: "stored", questionId: noteId })
    expect(await contents()).toEqual(["the first", "", "@Grace how deep?", "@Ada 40 metres, I think"])
    const { entries } = await listReplaced(bob, threadId, noteId)
    expect(entries.map(({ content }) => content)).toEqual(["@Grace how deep is it?"])
    const visit = { request: new Request("http://localhost"), before: undefined }
    const { conversation } = await visitThreadShare(chat, url.split("/").at(-1) ?? "", visit)
    expect(conversation?.messages.map(({ content }) => content)).toEqual(["the first", "", ...SAID])
  })

  it("is one under its own id too, and notifies only who was not mentioned before", async () => {
    const own = "@Grace how deep is it?"
    await send(ada, "@Grace and @Bob how deep?", { requestId: own })
    expect(await notified()).toEqual(ids(ada, grace, bob))
    await send(ada, "@Bob how deep?", { requestId: own })
    expect(await notified()).toEqual(ids(ada, bob))
    expect((await listReplaced(ada, threadId, noteId)).entries).toHaveLength(2)
  })

  it("is refused from anybody but its author", async () => {
    const edit = { requestId: "edit", replaces: noteId }
    await expect(send(grace, "@Ada mine", edit)).rejects.toMatchObject({ reason: "message-of-another" })
  })

  it("asks the model about it once it names the assistant", async () => {
    const edit = { requestId: "edit", replaces: noteId }
    expect(await send(ada, "@Assistant how deep is it?", edit)).toMatchObject({
      kind: "fresh",
      questionId: noteId,
    })
    expect(await contents()).toEqual([
      "the first",
      "",
      "@Assistant how deep is it?",
      "@Ada 40 metres, I think",
      "",
    ])
  })

  it("turns a question into one, and removes what followed as any edit of a question does", async () => {
    const { entries } = await listMessages(ada, threadId)
    const edit = { requestId: "edit", replaces: entries[0]?._id ?? "" }
    const edited = await send(ada, "@Grace the first", edit)
    expect(edited).toMatchObject({ kind: "stored" })
    expect(await send(ada, "@Grace the first", edit)).toEqual(edited)
    expect(await contents()).toEqual(["@Grace the first"])
  })
})

describe("a conversation with messages between people", () => {
  it("keeps them when it is copied or moved, and asks about them there", async () => {
    await send(grace, "@Ada hello")
    await changeThread(ada, threadId, { peopleOnly: true })
    const copy = await copyThread(ada, threadId, { attachments: "copy" })
    expect(copy.peopleOnly).toBe(false)
    expect((await copyThread(ada, threadId, { spaceId, attachments: "copy" })).peopleOnly).toBe(true)
    threadId = copy._id
    expect(await contents()).toEqual(["the first", "", "Grace Hopper:\n\n@Ada hello"])
    expect(await send(ada, "Any news?")).toMatchObject({ kind: "fresh" })
    await endReply()
    await moveThread(ada, threadId, { spaceId, attachments: "copy" })
    expect((await listMessages(bob, threadId)).entries).toHaveLength(5)
  })
})

it("is no longer for people only once it is personal", async () => {
  await changeThread(ada, threadId, { peopleOnly: true })
  expect((await moveThread(ada, threadId, { attachments: "copy" })).peopleOnly).toBe(false)
})

it("tells nobody outside of a space whose name is one of its members'", async () => {
  const eve = await chat.scopeOf("eve")
  const begun = { requestId: "new", again: false, createsThread: true, spaceId }
  const newThread = crypto.randomUUID()
  expect(await isToPeople(eve, newThread, { ...begun, text: "@Ada hi" })).toBe(false)
  expect(await isToPeople(ada, newThread, { ...begun, text: "@Grace hi" })).toBe(true)
})

const SAID = ["@Grace how deep is it?", "@Ada 40 metres, I think"]
const TAKEN = { status: 409, reason: "message-id-taken" }

/** Its text is its id, too. Whom it is to is decided as it is for a request. */
async function send(author: ChatScope, text: string, more: Partial<SentMessage> = {}) {
  const message = { requestId: text, text, again: false, ...more }
  const toPeople = await isToPeople(author, threadId, message)
  return openTurn(author, threadId, { ...message, toPeople }, 60_000)
}

function idOf(sent: Awaited<ReturnType<typeof send>>): string {
  if (sent.kind !== "stored") throw new Error("It asked the model.")
  return sent.questionId
}

async function endReply() {
  const ended = { status: "completed", endedAt: Date.now() } as const
  await chat.db.update(chatTurns).set(ended).where(eq(chatTurns.threadId, threadId))
}

async function contents(): Promise<string[]> {
  const rows = await chat.db
    .select({ content: chatMessages.content })
    .from(chatMessages)
    .where(eq(chatMessages.threadId, threadId))
    .orderBy(asc(chatMessages._id))
  return rows.map(({ content }) => content)
}

/** Sorted. Those of all messages together. */
async function notified(): Promise<string[]> {
  const rows = await chat.db.select({ userId: notifications.userId }).from(notifications)
  return rows.map(({ userId }) => userId).toSorted()
}

const ids = (...people: ChatScope[]) => people.map(({ viewer }) => viewer.user._id).toSorted()
