import { once } from "node:events"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { json as readJson } from "node:stream/consumers"
import { eq } from "drizzle-orm"
import { beforeAll, beforeEach, describe, expect, it } from "vitest"
import { chatThreads } from "#db/schema/chat.ts"
import { openGatewayModel } from "#server/adapters/model/gateway.ts"
import { createThread, findThread, changeThread } from "#server/chat/threads.ts"
import { readTitle } from "#server/chat/title.ts"
import { restoreThread, trashThread } from "#server/chat/trash.ts"
import { startReply } from "#server/chat/turn.ts"
import {
  openChatServices,
  readAll,
  shareChatServices,
  withModel,
  type ChatScope,
} from "../support/chat-services.ts"
import { askedModel, openModelServer } from "../support/model-server.ts"
import { portOf } from "../support/port-of.ts"
import { withResource } from "../support/with-resource.ts"

const QUESTION = "Please tell me, as well as you can, how deep the sea is"

const namer = withResource(openNamer)
const { chat, ada } = await shareChatServices()
/** Ada, with a model that generates titles. */
let named: ChatScope
beforeAll(() => void (named = withModel(ada, namer.model)))
beforeEach(() => namer.say("The depth of the sea"))

function nameThread(scope: ChatScope, threadId: string, signal: AbortSignal) {
  return scope.replies.nameThread(scope, threadId, signal)
}

describe("the title of a conversation", () => {
  it("is generated after the first reply, and the conversation keeps its place in the list", async () => {
    const { _id } = await createThread(ada, { question: QUESTION })
    expect((await findThread(ada, _id)).title).toBe("Please tell me, as well as you can, how deep the sea is")
    await ask(named, _id, QUESTION)
    await expect.poll(() => titleOf(_id)).toEqual(["The depth of the sea", "model"])
    const { lastMessageAt } = await findThread(ada, _id)
    expect(namer.asked).toHaveLength(1)
    expect(namer.asked[0]).toMatchObject({ max_tokens: 500 })
    expect(JSON.stringify(namer.asked[0])).toContain(QUESTION)
    expect(JSON.stringify(namer.asked[0])).toContain("An answer.")

    await ask(named, _id, "And the ocean?")
    await nameThread(named, _id, never())
    expect(namer.asked).toHaveLength(1)
    expect((await findThread(ada, _id)).lastMessageAt).toBeGreaterThan(lastMessageAt)
  })

  it("is generated from the beginning of a long exchange only", async () => {
    const _id = await answered(`/long 1 ${"deep ".repeat(3000)}`)
    await nameThread(named, _id, never())
    expect(JSON.stringify(namer.asked[0]).length).toBeLessThan(6000)
  })

  it("is the user's if they rename it while the model generates one", async () => {
    const _id = await answered()
    const held = namer.hold()
    const naming = nameThread(named, _id, never())
    await held.reached
    await changeThread(ada, _id, { title: "Mine" })
    held.release("The model's")
    await naming
    expect(await titleOf(_id)).toEqual(["Mine", "user"])
  })

  it("is the user's even if they save the same title again", async () => {
    const _id = await answered()
    const [title] = await titleOf(_id)
    const held = namer.hold()
    const naming = nameThread(named, _id, never())
    await held.reached
    await changeThread(ada, _id, { title: String(title) })
    held.release("The model's")
    await naming
    expect(await titleOf(_id)).toEqual([title, "user"])
  })

  it("is not generated once the user gave one, or created the conversation with one", async () => {
    const renamed = await answered()
    await changeThread(ada, renamed, { title: "Mine" })
    await nameThread(named, renamed, never())
    const { _id } = await createThread(ada, { title: "The sea", question: QUESTION })
    await ask(ada, _id, QUESTION)
    await nameThread(named, _id, never())
    expect(namer.asked).toEqual([])
    expect(await titleOf(_id)).toEqual(["The sea", "user"])
  })

  it('stays "New conversation" if the user chose that', async () => {
    const { _id } = await createThread(ada, { title: "New conversation" })
    await ask(ada, _id, QUESTION)
    expect(await titleOf(_id)).toEqual(["New conversation", "user"])
  })

  it("is not generated after a failed reply, but after the next one", async () => {
    const { _id } = await createThread(ada, { question: QUESTION })
    await ask(ada, _id, "/fail500", "q1")
    await nameThread(named, _id, never())
    expect(namer.asked).toEqual([])
    await ask(ada, _id, QUESTION, "q2")
    await nameThread(named, _id, never())
    expect(await titleOf(_id)).toEqual(["The depth of the sea", "model"])
  })

  it("is not generated for someone else's conversation or one in the trash", async () => {
    const grace = await chat.scopeOf("grace")
    const _id = await answered()
    await nameThread(withModel(grace, namer.model), _id, never())
    expect(namer.asked).toEqual([])

    const held = namer.hold()
    const naming = nameThread(named, _id, never())
    await held.reached
    await trashThread(ada, _id)
    held.release("The model's")
    await naming
    await restoreThread(ada, _id)
    expect(await titleOf(_id)).toEqual([QUESTION, "question"])
  })

  it.each([
    ["an error", 500, "no title"],
    ["a refusal", 401, "no title"],
  ])("stays as it is if the model server replies with %s", async (_, status, says) => {
    const _id = await answered()
    namer.fail(status)
    await nameThread(named, _id, never())
    expect(await titleOf(_id)).toEqual([QUESTION, "question"])
    expect(chat.logged.some(({ msg }) => String(msg).includes(says))).toBe(true)
    expect(JSON.stringify(chat.logged)).not.toContain("how deep the sea is")
  })

  it.each([302, 307, 308])("is not requested elsewhere if the model server redirects: %i", async (status) => {
    const elsewhere = await openModelServer((response) => response.end())
    const { baseUrl, requests } = await openModelServer((response) =>
      response.writeHead(status, { location: `${elsewhere.baseUrl}/chat/completions` }).end(),
    )
    const { model } = askedModel(baseUrl)
    const _id = await answered()
    await nameThread(withModel(ada, model), _id, never())
    expect({ asked: requests.length, followed: elsewhere.requests.length }).toEqual({
      asked: 1,
      followed: 0,
    })
    expect(await titleOf(_id)).toEqual([QUESTION, "question"])
  })

  it.each(["", "   \n ", "...", "<think>Hm. The sea.", '""'])(
    "stays as it is if the model says %j",
    async (said) => {
      const _id = await answered()
      namer.say(said)
      await nameThread(named, _id, never())
      expect(await titleOf(_id)).toEqual([QUESTION, "question"])
    },
  )

  it("does not delay a shutdown", async () => {
    const closing = await openChatServices()
    const someone = withModel(await closing.scopeOf("ada"), namer.model)
    const { _id } = await createThread(someone, { question: QUESTION })
    const held = namer.hold()
    await ask(someone, _id, QUESTION)
    await held.reached
    await closing.turns.close()
    expect((await findThread(someone, _id)).title).toBe(QUESTION)
    expect(closing.logged).toEqual([])
    held.release("Too late")
    await closing.close()
  })

  it("is not requested from the development gateway", async () => {
    const begun = chat.gateway.activity.begun
    const _id = await answered()
    await nameThread(ada, _id, never())
    expect(chat.gateway.activity.begun).toBe(begun + 1)
    expect(await titleOf(_id)).toEqual([QUESTION, "question"])
  })
})

describe("a title suggested by the model", () => {
  it.each([
    ["The depth of the sea", "The depth of the sea"],
    ['"The depth of the sea."\n\nI hope this helps!', "The depth of the sea"],
    ["**Title: The sea**", "The sea"],
    ["# Titre : La mer\n", "La mer"],
    ["<think>They ask of the sea.\nA title.</think>\n\nThe sea", "The sea"],
    ["The sea\u0000\u001b[31m\rand more", "The sea"],
    ["\u202eaes ehT\u202c", "aes ehT"],
    ["a\ud800b", "a\ufffdb"],
    ["「海の深さ」", "海の深さ"],
    ["<script>alert(1)</script>", "<script>alert(1)</script>"],
    ["x".repeat(10_000), `${"x".repeat(60)}…`],
    ["word ".repeat(5000), `${"word ".repeat(12).trim()}…`],
  ])("%j becomes %j", (said, title) => {
    expect(readTitle(said)).toBe(title)
  })

  it.each(["", "\n\n", "***", "🌊", "<think>never ends"])("%j is ignored", (said) => {
    expect(readTitle(said)).toBeNull()
  })
})

async function answered(text = QUESTION) {
  const { _id } = await createThread(ada, { question: text })
  await ask(ada, _id, text)
  return _id
}

async function ask(
  scope: ChatScope,
  threadId: string,
  text: string,
  requestId: string = crypto.randomUUID(),
) {
  await readAll((await startReply(scope, threadId, { requestId, text, again: false })).chunks)
}

async function titleOf(threadId: string) {
  const [thread] = await chat.db.select().from(chatThreads).where(eq(chatThreads._id, threadId))
  return [thread?.title, thread?.titleSource]
}

function never() {
  return new AbortController().signal
}

/** A gateway that streams one reply to every message, and generates titles as it is told to. */
async function openNamer() {
  const asked: unknown[] = []
  let next: () => Promise<{ status: number; title: string }>
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const body = (await readJson(request)) as { stream?: boolean }
    const frame = { id: "1", object: "chat.completion", created: 1, model: "m" }
    if (body.stream) {
      const chunk = {
        ...frame,
        choices: [{ index: 0, delta: { content: "An answer." }, finish_reason: "stop" }],
      }
      response.writeHead(200, { "content-type": "text/event-stream" })
      return response.end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`)
    }
    asked.push(body)
    const { status, title } = await next()
    const message = { role: "assistant", content: title }
    response.writeHead(status, { "content-type": "application/json" })
    return response.end(JSON.stringify({ ...frame, choices: [{ index: 0, message, finish_reason: "stop" }] }))
  }
  const server = createServer((request, response) => void serve(request, response)).listen(0, "127.0.0.1")
  await once(server, "listening")
  const baseUrl = `http://127.0.0.1:${portOf(server)}/v1`
  const say = (title: string, status = 200) => {
    asked.length = 0
    next = () => Promise.resolve({ status, title })
  }
  return {
    model: openGatewayModel({ gateway: { kind: "remote", key: "k", baseUrl, api: "chat" }, name: "m" }),
    asked,
    say,
    fail: (status: number) => say("", status),
    /** The next title is held back until it is released. */
    hold() {
      const reached = Promise.withResolvers<void>()
      const released = Promise.withResolvers<string>()
      next = async () => {
        reached.resolve()
        return { status: 200, title: await released.promise }
      }
      return { reached: reached.promise, release: (title: string) => released.resolve(title) }
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, "close")
    },
  }
}
