import { DefaultChatTransport, readUIMessageStream, type UIMessage } from "ai"
import { describe, expect, it } from "vitest"
import type { Entry } from "#server/chat/read-operations.ts"
import { ada, grace, openBrowser, postJson, signUp } from "../support/people.ts"
import { withTideline } from "../support/with-tideline.ts"

const { app, person } = withTideline({
  settings: { CHAT_RATE_LIMIT: "1000", CHAT_TURNS_AT_ONCE: "50" },
  people: { person: ada },
})

describe("resumeStream of the AI SDK", () => {
  it.each(["/long 60", "/tool", "/reasoning", "Hello"])("sends the whole reply to %s", async (text) => {
    const threadId = await newThread()
    await ask(threadId, text)
    const resumed = await resume(threadId)
    const stored = await storedReply(threadId)
    // A reply may have ended before it is requested.
    if (resumed) expect(textOf(resumed)).toBe(stored.content)
  })

  it("sends a growing reply from its first word to how it ended", async () => {
    const threadId = await newThread()
    await ask(threadId, "/slow")
    const resuming = readReply(await connect(threadId))
    await expect.poll(() => textStored(threadId)).not.toBe("")
    const late = readReply(await connect(threadId))
    await stopReply(threadId)
    const [first, second] = await Promise.all([resuming, late])
    const { content, turn } = await storedReply(threadId)
    expect(turn?.status).toBe("stopped")
    for (const message of [first, second]) {
      expect(message).toMatchObject({ metadata: { stop: "stopped", model: turn?.model } })
      expect(message && textOf(message)).toBe(content)
    }
  })

  it("sends the token counts and the finish reason that the stored reply has", async () => {
    const threadId = await newThread()
    await ask(threadId, "/long 400")
    const resumed = await resume(threadId)
    const { content, turn } = await storedReply(threadId)
    expect(turn).toMatchObject({ status: "completed", finishReason: "stop" })
    const { model, inputTokens, outputTokens, finishReason } = turn ?? {}
    expect(resumed).toMatchObject({ metadata: { model, inputTokens, outputTokens, finishReason } })
    expect(resumed && textOf(resumed)).toBe(content)
  })

  it("ends when the conversation is moved to the trash", async () => {
    const threadId = await newThread()
    await ask(threadId, "/slow")
    const resuming = readReply(await connect(threadId))
    await expect.poll(() => textStored(threadId)).not.toBe("")
    expect((await person(`/api/chat/threads/${threadId}`, { method: "DELETE" })).status).toBe(204)
    expect(await resuming).toMatchObject({ metadata: { stop: "stopped" } })
  })

  it("reports that there is nothing to resume", async () => {
    expect(await resume(await newThread())).toBeNull()
  })

  it("is for the conversation's owner only", async () => {
    const threadId = await newThread()
    await ask(threadId, "/slow")
    const other = await signUp(app, grace)
    const path = `/api/chat/${threadId}/stream`
    expect((await other(path)).status).toBe(404)
    expect((await openBrowser(app)(path)).status).toBe(401)
    expect((await person("/api/chat/not-an-id/stream")).status).toBe(404)
    await stopReply(threadId)
  })

  it("refuses an eleventh concurrent stream, and frees the slot of one that was closed", async () => {
    const threadId = await newThread()
    await ask(threadId, "/slow")
    const path = `/api/chat/${threadId}/stream`
    const open = await Promise.all(Array.from({ length: 10 }, () => person(path)))
    expect(open.map(({ status }) => status)).toEqual(open.map(() => 200))
    expect((await person(path)).status).toBe(409)
    await open[0]?.body?.cancel()
    await expect
      .poll(async () => {
        const response = await person(path)
        await response.body?.cancel()
        return response.status
      })
      .not.toBe(409)
    await stopReply(threadId)
    for (const response of open.slice(1)) await response.body?.cancel()
  })
})

async function newThread(): Promise<string> {
  const made = await postJson(person, "/api/chat/threads", { title: "Tides" })
  return ((await made.json()) as { thread: { _id: string } }).thread._id
}

async function ask(threadId: string, text: string) {
  const question = { id: "q1", role: "user", parts: [{ type: "text", text }] }
  const asked = await person("/api/chat", {
    method: "POST",
    headers: { "content-type": "application/json", prefer: "respond-async" },
    body: JSON.stringify({ threadId, messages: [question] }),
  })
  expect(asked.status).toBe(202)
}

function send(address: string | URL | Request, init?: RequestInit): Promise<Response> {
  return person(address instanceof Request ? address.url : address.toString(), init)
}

/** The reply as the SDK has it at the end of the stream; null if there was nothing to resume. */
async function resume(threadId: string): Promise<UIMessage | null> {
  return readReply(await connect(threadId))
}

function connect(threadId: string) {
  const transport = new DefaultChatTransport({ api: "/api/chat", fetch: send })
  return transport.reconnectToStream({ chatId: threadId })
}

async function readReply(stream: Awaited<ReturnType<typeof connect>>): Promise<UIMessage | null> {
  if (!stream) return null
  let last: UIMessage | null = null
  for await (const message of readUIMessageStream({ stream })) last = message
  return last
}

async function stopReply(threadId: string) {
  await person(`/api/chat/threads/${threadId}/stop`, { method: "POST" })
}

async function textStored(threadId: string): Promise<string> {
  return (await lastEntry(threadId)).content
}

async function storedReply(threadId: string): Promise<Entry> {
  await expect.poll(async () => (await lastEntry(threadId)).turn?.status).not.toBe("running")
  return lastEntry(threadId)
}

async function lastEntry(threadId: string): Promise<Entry> {
  const page = await person(`/api/chat/threads/${threadId}/messages`)
  const { entries } = (await page.json()) as { entries: Entry[] }
  const last = entries.at(-1)
  if (!last) throw new Error("Nothing was said.")
  return last
}

function textOf({ parts }: UIMessage): string {
  const texts = parts.flatMap((part) => (part.type === "text" ? [part.text] : []))
  return texts.join("\n\n")
}
