import { AbstractChat, DefaultChatTransport, type FileUIPart, type UIMessage } from "ai"
import { beforeAll, beforeEach, describe, expect, it } from "vitest"
import type { ThreadSummary } from "#server/chat/contract.ts"
import type { Asked } from "#server/chat/request.ts"
import type { EntryPage, ReplacedPage } from "#server/chat/read-operations.ts"
import { post, postAsync } from "../support/api.ts"
import { ada as adaLovelace, grace as graceHopper, type Person } from "../support/people.ts"
import { openScriptedGateway } from "../support/scripted-gateway.ts"
import { withResource } from "../support/with-resource.ts"
import { withTideline } from "../support/with-tideline.ts"

const PIXEL = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
)

const GIF = Buffer.from("GIF89a\x01\0\x01\0\0\0\0;", "latin1")

const gateway = withResource(openScriptedGateway)
let spaceId: string

const { sql, ada, grace } = withTideline({
  settings: () => ({
    ...gateway.env,
    CHAT_MODEL: "example/model-1",
    CHAT_RATE_LIMIT: "10000",
    SPACES: "on",
  }),
  people: { ada: adaLovelace, grace: graceHopper },
})

beforeAll(async () => {
  await grace("/api/chat/threads")
  const made = await ada("/api/spaces", post({ name: "Engines" }))
  spaceId = ((await made.json()) as { space: { _id: string } }).space._id
  await sql`
    insert into space_members (space_id, user_id, role)
    select ${spaceId}, _id, 'editor' from users where email = ${graceHopper.email}`
})
beforeEach(() => {
  gateway.answers.length = 0
})

describe("useChat in a stored conversation", () => {
  it("edits a message under its own id, and keeps what it was", async () => {
    const { chat, threadId } = await openChat()
    await reply(chat.sendMessage({ text: "OLD" }), "To the old one.")
    const [question] = chat.messages
    await reply(chat.sendMessage({ text: "NEW", messageId: question?.id ?? "" }), "To the new one.")
    expect(gateway.answers[1]?.request).toContain("NEW")
    expect(gateway.answers[1]?.request).not.toContain("OLD")
    expect(textsOf(chat)).toEqual(["NEW", "To the new one."])
    expect(await contents(threadId)).toEqual(["NEW", "To the new one."])
    const [stored] = await messages(threadId)
    expect(stored?.edited).toBe(true)
    expect(await replacedBy(threadId, stored?._id)).toEqual(["OLD", "To the old one."])
  })

  it("edits an earlier message, and drops what followed", async () => {
    const { chat, threadId } = await openChat()
    await reply(chat.sendMessage({ text: "First" }), "One.")
    await reply(chat.sendMessage({ text: "Second" }), "Two.")
    await reply(chat.sendMessage({ text: "Better", messageId: chat.messages[0]?.id ?? "" }), "Three.")
    expect(textsOf(chat)).toEqual(["Better", "Three."])
    expect(await contents(threadId)).toEqual(["Better", "Three."])
    const [stored] = await messages(threadId)
    expect(await replacedBy(threadId, stored?._id)).toEqual(["First", "One.", "Second", "Two."])
  })

  it("sends the model the new text after a reply that failed", async () => {
    const { chat, threadId } = await openChat()
    const failing = chat.sendMessage({ text: "OLD" })
    ;(await gateway.asked(0)).fail()
    await failing
    expect((await messages(threadId))[1]?.turn?.status).toBe("failed")
    await reply(chat.sendMessage({ text: "NEW", messageId: chat.messages[0]?.id ?? "" }), "Done.")
    expect(gateway.answers.at(-1)?.request).toContain("NEW")
    expect(gateway.answers.at(-1)?.request).not.toContain("OLD")
    expect(await contents(threadId)).toEqual(["NEW", "Done."])
  })

  it("learns of a failure once it can ask again", async () => {
    const { chat, threadId } = await openChat()
    let isTold = false
    const failing = chat.sendMessage({ text: "Hello" }).then(() => (isTold = true))
    const asked = await gateway.asked(0)
    await sql.begin(async (holding) => {
      await holding`select from chat_turns where thread_id = ${threadId} for update`
      asked.fail()
      const ends = () => holding`select from pg_locks where pg_backend_pid() = any(pg_blocking_pids(pid))`
      await expect.poll(async () => (await ends()).length).toBeGreaterThan(0)
      expect(isTold).toBe(false)
    })
    await failing
    expect((await messages(threadId))[1]?.turn?.status).toBe("failed")
  })

  it("sends the model the new text when a changed message is regenerated", async () => {
    const { chat, threadId } = await openChat()
    await reply(chat.sendMessage({ text: "OLD" }), "One.")
    chat.messages = chat.messages.map((message) =>
      message.role === "user" ? { ...message, parts: [{ type: "text", text: "NEW" }] } : message,
    )
    await reply(chat.regenerate(), "Two.")
    expect(gateway.answers[1]?.request).toContain("NEW")
    expect(gateway.answers[1]?.request).not.toContain("OLD")
    expect(await contents(threadId)).toEqual(["NEW", "Two."])
  })

  it("regenerates the last reply, and keeps every one before it as its earlier version", async () => {
    const { chat, threadId } = await openChat()
    await reply(chat.sendMessage({ text: "Hello" }), "One.")
    await reply(chat.regenerate(), "Two.")
    await reply(chat.regenerate(), "Three.")
    expect(await contents(threadId)).toEqual(["Hello", "Three."])
    const [question, last] = await messages(threadId)
    expect([question?.edited, last?.edited]).toEqual([false, true])
    expect(await replacedBy(threadId, last?._id)).toEqual(["One.", "Two."])
    const exported = await (await ada(`/api/chat/threads/${threadId}/export`)).text()
    expect(exported).toContain("One.")
    expect(exported).toContain("Two.")
  })

  it("goes on after a history of megabytes, of which only the last message is read", async () => {
    const { chat, threadId } = await openChat()
    const long = { type: "text", text: "é".repeat(31_000) } as const
    chat.messages = Array.from({ length: 70 }, (_, at) => ({
      id: `${at}`,
      role: at % 2 ? "assistant" : "user",
      parts: [long],
    }))
    await reply(chat.sendMessage({ text: "Now" }), "Then.")
    expect(await contents(threadId)).toEqual(["Now", "Then."])

    const alone = await ada("/api/chat", post({ messages: chat.messages }))
    expect(alone.status).toBe(413)
    expect(await alone.json()).toEqual({ error: "Request body larger than 256 KB" })
  })

  it("regenerates an earlier reply, and keeps what followed it", async () => {
    const { chat, threadId } = await openChat()
    await reply(chat.sendMessage({ text: "First" }), "One.")
    await reply(chat.sendMessage({ text: "Second" }), "Two.")
    await reply(chat.regenerate({ messageId: chat.messages[1]?.id ?? "" }), "Another one.")
    expect(textsOf(chat)).toEqual(["First", "Another one."])
    expect(await contents(threadId)).toEqual(["First", "Another one."])
    const reborn = (await messages(threadId))[1]
    expect(await replacedBy(threadId, reborn?._id)).toEqual(["One.", "Second", "Two."])

    // An edit further up takes the versions over.
    await reply(chat.sendMessage({ text: "Better", messageId: chat.messages[0]?.id ?? "" }), "Three.")
    const [edited] = await messages(threadId)
    expect(await replacedBy(threadId, edited?._id)).toEqual([
      "First",
      "One.",
      "Second",
      "Two.",
      "Another one.",
    ])
  })
})

describe("useChat that sends files", () => {
  it("stores them with the message in a conversation, once however often it is sent", async () => {
    const { chat, threadId } = await openChat()
    const text = filePart("tides.txt", "text/plain", Buffer.from("High water at noon."))
    await reply(
      chat.sendMessage({ text: "When?", files: [text, filePart("sea.png", "image/png", PIXEL)] }),
      "Now.",
    )
    const [stored] = await messages(threadId)
    expect(stored?.attachments).toMatchObject([
      { fileName: "tides.txt", mimeType: "text/plain", size: 19 },
      { fileName: "sea.png", mimeType: "image/png", size: PIXEL.length },
    ])
    expect(gateway.answers[0]?.request).toContain("High water at noon.")
    expect(gateway.answers[0]?.request).toContain(PIXEL.toString("base64"))
    const fileId = stored?.attachments?.[0]?.fileId
    expect(await (await ada(`/api/files/${fileId}`)).text()).toBe("High water at noon.")

    const before = await countFiles()
    const body = { threadId, messages: chat.messages.slice(0, 1) }
    expect((await ada("/api/chat", post(body))).status).toBe(200)
    await sql`delete from idempotency_keys`
    await reply(chat.regenerate(), "Again.")
    expect(await contents(threadId)).toEqual(["When?", "Again."])
    expect((await messages(threadId))[0]?.attachments).toEqual(stored?.attachments)
    expect(await countFiles()).toBe(before)
  })

  it("gives them to the model without storing them in another conversation", async () => {
    const chat = new Chat(null)
    const before = await countFiles()
    const long = Buffer.from(`The beginning. ${"é".repeat(200_000)}`)
    await reply(
      chat.sendMessage({ text: "Read", files: [filePart("long.txt", "text/plain", long)] }),
      "Read it.",
    )
    expect(gateway.answers[0]?.request).toContain("The beginning.")
    await reply(chat.sendMessage({ text: "See", files: [filePart("sea.png", "image/png", PIXEL)] }), "Seen.")
    expect(gateway.answers[1]?.request).toContain(PIXEL.toString("base64"))
    expect(gateway.answers[1]?.request).toContain("The beginning.")
    expect(textsOf(chat)).toEqual(["Read", "Read it.", "See", "Seen."])
    expect(await countFiles()).toBe(before)
  })

  it("stores them in the space of the conversation", async () => {
    const chat = new Chat(await makeThread(ada, spaceId))
    await reply(
      chat.sendMessage({ files: [filePart("ours.txt", "text/plain", Buffer.from("Ours."))] }),
      "Yours.",
    )
    const listed = await grace(`/api/files?spaceId=${spaceId}&q=ours.txt`)
    expect(await listed.json()).toMatchObject({ files: [{ fileName: "ours.txt" }] })
  })

  it.each([
    ["of another type", filePart("a.bin", "image/png", Buffer.from([0, 1, 2, 3])), "attachment-unreadable"],
    [
      "at a URL",
      { ...filePart("a.png", "image/png", PIXEL), url: "http://127.0.0.1/a.png" },
      "file-not-encoded",
    ],
    [
      "not in base64",
      { ...filePart("a.txt", "text/plain", PIXEL), url: "data:text/plain,a" },
      "file-not-encoded",
    ],
    [
      "in spoilt base64",
      { ...filePart("a.txt", "text/plain", PIXEL), url: "data:text/plain;base64,YW!=" },
      "file-not-encoded",
    ],
    [
      "too large an image",
      filePart("a.gif", "image/gif", Buffer.concat([GIF, Buffer.alloc(5 * 1024 * 1024)])),
      "image-too-large",
    ],
  ])("refuses one %s, and stores nothing", async (_, part, reason) => {
    const threadId = await makeThread(ada)
    const before = await countFiles()
    for (const place of [{ threadId }, {}]) {
      const message = { id: "q1", role: "user", parts: [part] }
      const refused = await ada("/api/chat", post({ ...place, messages: [message] }))
      expect([refused.status, await refused.json()]).toEqual([400, expect.objectContaining({ reason })])
    }
    expect(await contents(threadId)).toEqual([])
    expect(await countFiles()).toBe(before)
  })

  it("stores none with a message that a running reply refuses, or beyond the quota", async () => {
    const { chat, threadId } = await openChat()
    const sending = chat.sendMessage({ text: "First" })
    const first = await gateway.asked(0)
    const before = await countFiles()
    const message = {
      id: "q2",
      role: "user",
      parts: [filePart("late.txt", "text/plain", Buffer.from("Late."))],
    }
    expect((await ada("/api/chat", post({ threadId, messages: [message] }))).status).toBe(409)
    first.finish()
    await sending
    const [usage] = await sql`
      update file_usage set used = used + 1e12 from users
      where users._id = user_id and email = ${adaLovelace.email} returning used`
    expect(usage).toBeDefined()
    const full = await ada("/api/chat", post({ threadId, messages: [message] }))
    expect([full.status, await full.json()]).toEqual([
      507,
      expect.objectContaining({ reason: "not-enough-space" }),
    ])
    await sql`update file_usage set used = used - 1e12 where used > 1e12`
    expect(await countFiles()).toBe(before)
  })

  it("cannot replace with them what is no message", async () => {
    const threadId = await makeThread(ada)
    const part = filePart("a.txt", "text/plain", Buffer.from("A."))
    const message = { id: "q1", role: "user", parts: [part] }
    for (const replaces of ["\0", "nonsense", ""]) {
      const refused = await ada("/api/chat", post({ threadId, messages: [message], replaces }))
      expect([refused.status, await refused.json()]).toEqual([
        404,
        expect.objectContaining({ error: "There is no such question, or it is not yours." }),
      ])
    }
    expect(await contents(threadId)).toEqual([])
  })

  it("sends as many bytes as ten attachments may have", async () => {
    const { chat, threadId } = await openChat()
    const large = Buffer.concat([PIXEL, Buffer.alloc(5_000_000)])
    const files = Array.from({ length: 4 }, (_, at) =>
      filePart(`${at}.png`, "image/png", Buffer.concat([large, Buffer.from([at])])),
    )
    await reply(chat.sendMessage({ text: "See", files }), "Seen.")
    expect((await messages(threadId))[0]?.attachments).toHaveLength(4)
  })
})

describe("useChat that stops a stored reply", () => {
  it("goes on with the next message, and the reply keeps its text", async () => {
    const { chat, threadId } = await openChat()
    const sending = chat.sendMessage({ text: "First" })
    const first = await gateway.asked(0)
    first.say("Half a reply")
    await expect.poll(() => textsOf(chat).at(-1)).toBe("Half a reply")
    await chat.stop()
    await sending
    await reply(chat.sendMessage({ text: "Second" }), "To the second.")
    expect(first.aborted).toBe(true)
    expect(await contents(threadId)).toEqual(["First", "Half a reply", "Second", "To the second."])
    expect((await messages(threadId)).map(({ turn }) => turn?.status)).toEqual([
      undefined,
      "stopped",
      undefined,
      "completed",
    ])
    expect(gateway.answers[1]?.request).toContain("Half a reply")
  })

  it("generates another reply to the same message", async () => {
    const { chat, threadId } = await openChat()
    const sending = chat.sendMessage({ text: "First" })
    ;(await gateway.asked(0)).say("Half a reply")
    await expect.poll(() => textsOf(chat).at(-1)).toBe("Half a reply")
    await chat.stop()
    await sending
    await reply(chat.regenerate(), "Another.")
    expect(await contents(threadId)).toEqual(["First", "Another."])
  })

  it("leaves the reply alone that is read again after a reload", async () => {
    const { chat, threadId } = await openChat()
    const sending = chat.sendMessage({ text: "First" })
    const first = await gateway.asked(0)
    first.say("Half ")
    await expect.poll(() => textsOf(chat).at(-1)).toBe("Half ")
    await chat.stop()
    await sending
    await expect.poll(() => leftAt(threadId)).not.toBeNull()
    const again = await ada(`/api/chat/${threadId}/stream`)
    expect(again.status).toBe(200)
    const refused = await ada("/api/chat", post(asking(threadId, "q2", "Second")))
    expect([refused.status, first.aborted]).toEqual([409, false])
    first.say("a reply")
    first.finish()
    expect(await again.text()).toContain("a reply")
    expect(await contents(threadId)).toEqual(["First", "Half a reply"])
  })

  it("finishes the reply if no message follows, and does not begin it again when it is resent", async () => {
    const { chat, threadId } = await openChat()
    const sending = chat.sendMessage({ text: "First" })
    const first = await gateway.asked(0)
    await expect.poll(async () => (await messages(threadId)).length).toBe(2)
    await chat.stop()
    await sending
    await expect.poll(() => leftAt(threadId)).not.toBeNull()
    const resent = await ada("/api/chat", post({ threadId, messages: chat.messages.slice(0, 1) }))
    expect([resent.status, first.aborted]).toEqual([409, false])
    const waiting = { ...asking(threadId, "q2", "Second"), mayWait: true }
    expect((await ada("/api/chat", postAsync(waiting))).status).toBe(202)
    first.say("All of it.")
    first.finish()
    ;(await gateway.asked(1)).finish()
    await expect.poll(() => contents(threadId)).toEqual(["First", "All of it.", "Second", ""])
  })
})

describe("a reply that is tried again", () => {
  it("is kept if it has text, and not if it has none", async () => {
    const threadId = await makeThread(ada)
    for (const said of ["", "Half a reply", ""]) {
      gateway.answers.length = 0
      const asked = await ada("/api/chat", postAsync(asking(threadId, "q1", "Hello")))
      expect(asked.status).toBe(202)
      const answer = await gateway.asked(0)
      if (said) answer.say(said)
      await expect.poll(async () => (await messages(threadId))[1]?.content).toBe(said)
      await ada(`/api/chat/threads/${threadId}/stop`, post({}))
      const [, stopped] = await messages(threadId)
      expect(stopped?.turn?.status).toBe("stopped")
    }
    const [, last] = await messages(threadId)
    expect(last?.edited).toBe(true)
    expect(await replacedBy(threadId, last?._id)).toEqual(["Half a reply"])
  })

  it("is not removed with messages that its sender has not seen", async () => {
    const threadId = await makeThread(ada)
    await exchange(ada, asking(threadId, "q1", "First"), "One.")
    await exchange(ada, asking(threadId, "q2", "Second"), "Two.")
    const again = { ...asking(threadId, "q1", "First"), trigger: "regenerate-message" }
    const refused = await ada("/api/chat", postAsync(again))
    expect(refused.status).toBe(409)
    expect(await contents(threadId)).toEqual(["First", "One.", "Second", "Two."])
  })
})

describe("a changed message in a space", () => {
  it("replaces one's own, and nobody else's", async () => {
    const threadId = await makeThread(ada, spaceId)
    await exchange(ada, asking(threadId, "q1", "OLD"), "One.")
    for (const trigger of ["submit-message", "regenerate-message"]) {
      const taken = await grace("/api/chat", postAsync({ ...asking(threadId, "q1", "MINE"), trigger }))
      expect([taken.status, await taken.json()]).toEqual([
        409,
        expect.objectContaining({ reason: "message-id-taken" }),
      ])
    }
    expect(await contents(threadId)).toEqual(["OLD", "One."])
    await exchange(ada, asking(threadId, "q1", "NEW"), "Two.")
    expect(await contents(threadId)).toEqual(["NEW", "Two."])

    // Anybody who may write can ask for another reply, and both are kept.
    const again = { ...asking(threadId, "q1", "NEW"), trigger: "regenerate-message" }
    await exchange(grace, again, "Three.")
    const [, last] = await messages(threadId)
    expect(await replacedBy(threadId, last?._id)).toEqual(["Two."])
  })

  it("replaces one that waits", async () => {
    const threadId = await makeThread(ada, spaceId)
    await ada("/api/chat", postAsync(asking(threadId, "q1", "First")))
    const first = await gateway.asked(0)
    for (const text of ["OLD", "NEW"]) {
      const waits = { ...asking(threadId, "q2", text), mayWait: true }
      expect((await ada("/api/chat", postAsync(waits))).status).toBe(202)
    }
    first.finish()
    const second = await gateway.asked(1)
    expect(second.request).toContain("NEW")
    expect(second.request).not.toContain("OLD")
    second.finish()
  })
})

describe("useChat in a conversation of a space", () => {
  it("finishes without a reply to a message between people, and asks about it with regenerate", async () => {
    const threadId = await makeThread(ada, spaceId)
    const stored: unknown[] = []
    const chat = new Chat(threadId, (part) => stored.push(part))
    await chat.sendMessage({ text: "@Grace how deep is it?" })
    expect([chat.status, textsOf(chat)]).toEqual(["ready", ["@Grace how deep is it?"]])
    expect(gateway.answers).toEqual([])
    const [note] = await messages(threadId)
    expect(note).toMatchObject({ requestId: chat.messages[0]?.id, mentions: ["Grace"], turn: null })
    expect(stored).toEqual([{ type: "data-stored", data: { questionId: note?._id }, transient: true }])

    await chat.sendMessage({ text: "@Grace how deep is it?", messageId: chat.messages[0]?.id ?? "" })
    await chat.sendMessage({ text: "@Grace and how wide?", messageId: chat.messages[0]?.id ?? "" })
    expect(await contents(threadId)).toEqual(["@Grace and how wide?"])
    await exchange(grace, { ...asking(threadId, "g1", "@Assistant do you know?") }, "Forty metres.")
    expect(gateway.answers[0]?.request).toContain("Ada Lovelace: @Grace and how wide?")
    gateway.answers.length = 0

    await reply(chat.regenerate(), "Two miles.")
    expect(textsOf(chat)).toEqual(["@Grace and how wide?", "Two miles."])
    expect(await contents(threadId)).toEqual([
      "@Grace and how wide?",
      "@Assistant do you know?",
      "Forty metres.",
      "Two miles.",
    ])
  })

  it("returns no reply's id, to a message that is sent twice, in a conversation for people only", async () => {
    const threadId = await makeThread(ada, spaceId)
    const only = { ...post({ peopleOnly: true }), method: "PATCH" }
    const changed = await grace(`/api/chat/threads/${threadId}`, only)
    expect([changed.status, await changed.json()]).toEqual([
      200,
      { thread: expect.objectContaining({ peopleOnly: true, title: "The sea" }) },
    ])
    const sent = await Promise.all(
      [1, 2].map(async () => (await ada("/api/chat", postAsync(asking(threadId, "q1", "Lunch?")))).json()),
    )
    const [first] = await messages(threadId)
    const answer = { threadId, questionId: first?._id, answerId: null }
    expect(sent).toEqual([answer, answer])

    const ask = { ...asking(threadId, "q1", "Lunch?"), ask: true }
    const asked = await Promise.all([ada, grace].map((person) => person("/api/chat", postAsync(ask))))
    const begun = await Promise.all(asked.map((response) => response.json()))
    expect(begun[0]).toEqual({ threadId, questionId: first?._id, answerId: expect.any(String) })
    expect(begun[1]).toEqual(begun[0])
    const growing = await ada("/api/chat", post(ask))
    ;(await gateway.asked(0)).say("At noon.")
    gateway.answers[0]?.finish()
    expect(await growing.text()).toContain("At noon.")
    expect(gateway.answers).toHaveLength(1)
    expect(await contents(threadId)).toEqual(["Lunch?", "At noon."])

    const own = await makeThread(ada)
    const refused = await ada(`/api/chat/threads/${own}`, only)
    expect([refused.status, await refused.json()]).toMatchObject([409, { reason: "conversation-personal" }])
  })
})

describe("other attachments under a known id", () => {
  it("replace the message, and the same ones do not", async () => {
    const threadId = await makeThread(ada)
    const [one, other] = [await upload("one.txt"), await upload("other.txt")]
    const withFile = (fileId: string) => ({
      threadId,
      messages: [
        {
          id: "q1",
          role: "user",
          parts: [
            { type: "text", text: "Read" },
            { type: "data-file", data: { fileId } },
          ],
        },
      ],
    })
    const first = await exchange(ada, withFile(one), "One.")
    const same = await ada("/api/chat", postAsync(withFile(one)))
    expect(await same.json()).toEqual(first)
    await exchange(ada, withFile(other), "Two.")
    const [stored] = await messages(threadId)
    expect(stored?.attachments).toMatchObject([{ fileId: other }])
    expect(await replacedBy(threadId, stored?._id)).toEqual(["Read", "One."])
  })
})

/** What the SDK's `useChat` keeps, without React. */
class Chat extends AbstractChat<UIMessage> {
  constructor(threadId: string | null, onData: (part: unknown) => void = () => {}) {
    super({
      onData,
      transport: new DefaultChatTransport({
        api: "/api/chat",
        body: threadId ? { threadId } : {},
        fetch: send,
      }),
      state: {
        status: "ready",
        error: undefined,
        messages: [],
        pushMessage(message) {
          this.messages = this.messages.concat(message)
        },
        popMessage() {
          this.messages = this.messages.slice(0, -1)
        },
        replaceMessage(index, message) {
          this.messages = this.messages.with(index, message)
        },
        snapshot: structuredClone,
      },
    })
  }
}

function send(address: string | URL | Request, init?: RequestInit): Promise<Response> {
  return ada(address instanceof Request ? address.url : address.toString(), init)
}

async function openChat() {
  const threadId = await makeThread(ada)
  return { threadId, chat: new Chat(threadId) }
}

/** Answers the latest request to the model, and waits for the client. */
async function reply(sending: Promise<void>, text: string) {
  const number = gateway.answers.length
  const answer = await Promise.race([gateway.asked(number), sending.then(() => null)])
  if (!answer) throw new Error("The model was not asked.")
  answer.say(text)
  answer.finish()
  await sending
}

async function exchange(person: Person, body: object, text: string): Promise<Asked> {
  const number = gateway.answers.length
  const response = await person("/api/chat", postAsync(body))
  expect(response.status).toBe(202)
  const asked = (await response.json()) as Asked
  const answer = await gateway.asked(number)
  answer.say(text)
  answer.finish()
  await expect.poll(async () => (await messages(asked.threadId)).at(-1)?.turn?.status).toBe("completed")
  return asked
}

function textsOf(chat: Chat): string[] {
  return chat.messages.map(({ parts }) =>
    parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n\n"),
  )
}

function asking(threadId: string, id: string, text: string) {
  return { threadId, messages: [{ id, role: "user", parts: [{ type: "text", text }] }] }
}

async function makeThread(person: Person, place?: string): Promise<string> {
  const response = await person("/api/chat/threads", post({ title: "The sea", spaceId: place }))
  return ((await response.json()) as { thread: ThreadSummary }).thread._id
}

async function upload(name: string): Promise<string> {
  const response = await ada(`/api/files?name=${name}`, { method: "POST", body: `The text of ${name}.` })
  return ((await response.json()) as { files: { _id: string }[] }).files[0]?._id ?? ""
}

async function messages(threadId: string) {
  const response = await ada(`/api/chat/threads/${threadId}/messages`)
  return ((await response.json()) as EntryPage).entries
}

async function contents(threadId: string): Promise<string[]> {
  return (await messages(threadId)).map(({ content }) => content)
}

function filePart(filename: string, mediaType: string, bytes: Buffer): FileUIPart {
  return { type: "file", filename, mediaType, url: `data:${mediaType};base64,${bytes.toString("base64")}` }
}

async function countFiles(): Promise<unknown> {
  const [row] = await sql`select count(*)::int as count from files`
  return row?.["count"]
}

async function leftAt(threadId: string): Promise<unknown> {
  const [turn] =
    await sql`select left_at from chat_turns where thread_id = ${threadId} and status = 'running'`
  return turn?.["left_at"]
}

async function replacedBy(threadId: string, messageId = "none"): Promise<string[]> {
  const response = await ada(`/api/chat/threads/${threadId}/messages/${messageId}/replaced`)
  expect(response.status).toBe(200)
  return ((await response.json()) as ReplacedPage).entries.map(({ content }) => content)
}
