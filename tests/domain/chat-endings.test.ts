import { eq } from "drizzle-orm"
import { describe, expect, it } from "vitest"
import { chatMessages, chatTurns } from "#db/schema/chat.ts"
import { shortfallOf } from "#server/chat/contract.ts"
import { endLostTurns } from "#server/chat/lost-turns.ts"
import { listMessages } from "#server/chat/messages.ts"
import { createThread } from "#server/chat/threads.ts"
import { askInBackground, startReply } from "#server/chat/turn.ts"
import { shareChatServices, readAll, withModel } from "../support/chat-services.ts"
import { askedModel, openModelServer, piece, readReply, sendStream } from "../support/model-server.ts"

const { ada, chat } = await shareChatServices()

describe("the finish reason of a reply", () => {
  it.each([
    ["is empty", [], "stop", "stop", "empty"],
    ["is blank", [" \n"], "stop", "stop", "empty"],
    ["is filtered completely", [], "content_filter", "content-filter", "withheld"],
    ["is cut by a filter", ["Half"], "content_filter", "content-filter", "filtered"],
    ["is cut by its length", ["Half"], "length", "length", "length"],
    ["is cut by its length before it begins", [], "length", "length", "used-up"],
    ["is complete", ["Whole."], "stop", "stop", null],
    ["ends for a server-specific reason", ["Whole."], "eos", "other", null],
  ] as const)("is stored and shown to the reader where it %s", async (_, words, reason, kept, shortfall) => {
    const { baseUrl } = await openModelServer((response) => say(response, words, reason))
    const scope = withModel(ada, askedModel(baseUrl).model)
    const { _id: threadId } = await createThread(ada, { title: "Tides" })
    const question = { requestId: "q1", text: "How deep is the sea?", again: false }
    const chunks = await readAll((await startReply(scope, threadId, question)).chunks)
    expect(chunks.at(-1)).toMatchObject({
      type: "finish",
      finishReason: kept,
      messageMetadata: { finishReason: kept },
    })
    const answer = (await listMessages(ada, threadId)).entries[1]
    expect(answer?.turn).toMatchObject({ status: "completed", finishReason: kept })
    if (!answer?.turn) throw new Error("The answer was not stored.")
    expect(shortfallOf(answer.turn, answer.content.trim() !== "")).toBe(shortfall)
  })

  it("is stored if the step limit was reached during tool calls", async () => {
    const call = [{ index: 0, id: "call_1", function: { name: "currentTime", arguments: "{}" } }]
    const { baseUrl, requests } = await openModelServer((response) =>
      sendStream(response, [event({ tool_calls: call }), event({}, "tool_calls")]),
    )
    const scope = withModel(ada, askedModel(baseUrl).model)
    const { _id: threadId } = await createThread(ada, { title: "Tides" })
    const question = { requestId: "q1", text: "What time is it?", again: false }
    await readAll((await startReply(scope, threadId, question)).chunks)
    const answer = (await listMessages(ada, threadId)).entries[1]
    expect(requests).toHaveLength(5)
    expect(answer?.turn).toMatchObject({ status: "completed", finishReason: "tool-calls" })
    expect(answer?.turn && shortfallOf(answer.turn, false)).toBe("steps")
  })
})

describe("the limits of a reply", () => {
  it("are set by the operator", async () => {
    const { baseUrl, requests } = await openModelServer((response) => say(response, ["Deep."], "stop"))
    await readReply(askedModel(baseUrl))
    await readReply(askedModel(baseUrl, { CHAT_MAX_OUTPUT_TOKENS: "64000" }))
    expect(requests.map(({ body }) => body["max_tokens"])).toEqual([8192, 64_000])
  })

  it("use the parameter name that the model server requires, once it has said so", async () => {
    const { baseUrl, requests } = await openModelServer((response, { body }) => {
      if ("max_completion_tokens" in body) return say(response, ["Deep."], "stop")
      const message =
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
      response.writeHead(400, { "content-type": "application/json" })
      response.end(JSON.stringify({ error: { message, param: "max_tokens", code: "unsupported_parameter" } }))
    })
    const scope = askedModel(baseUrl)
    expect(await readReply(scope)).toMatchObject({ text: "Deep.", error: null })
    expect(await readReply(scope)).toMatchObject({ text: "Deep.", error: null })
    expect(requests.map(({ body }) => [body["max_tokens"], body["max_completion_tokens"]])).toEqual([
      [8192, undefined],
      [undefined, 8192],
      [undefined, 8192],
    ])
    expect(scope.trouble.current()).toBeNull()
  })

  it("allow a dashboard reply minutes, during which nothing interrupts it", async () => {
    const asked = Promise.withResolvers<void>()
    const goOn = Promise.withResolvers<void>()
    const { baseUrl } = await openModelServer(async (response) => {
      asked.resolve()
      await goOn.promise
      await say(response, ["Deep."], "stop")
    })
    const scope = withModel(ada, askedModel(baseUrl).model)
    const { _id: threadId } = await createThread(ada, { title: "Tides" })
    const question = { requestId: "q1", text: "How deep is the sea?", again: false }
    const before = Date.now()
    const { answerId } = await askInBackground(scope, threadId, question)
    await asked.promise
    const [turn] = await chat.db.select().from(chatTurns).where(eq(chatTurns._id, answerId))
    expect((turn?.deadline ?? 0) - before).toBeGreaterThanOrEqual(300_000)

    // As if it had been sent four minutes ago, and another process looked at it.
    const longAgo = Date.now() - 240_000
    await chat.db.update(chatTurns).set({ _creationTime: longAgo }).where(eq(chatTurns._id, answerId))
    await chat.db.update(chatMessages).set({ _creationTime: longAgo }).where(eq(chatMessages._id, answerId))
    await endLostTurns({ db: chat.db, turns: { ...chat.turns, has: () => false } }, new Set())
    expect((await listMessages(ada, threadId)).entries[1]?.turn?.status).toBe("running")
    goOn.resolve()
    await expect
      .poll(async () => (await listMessages(ada, threadId)).entries[1])
      .toMatchObject({ content: "Deep.", turn: { status: "completed" } })
  })
})

describe("a model server that refuses", () => {
  it.each([
    [400, "CHAT_MODEL"],
    [401, "AI_GATEWAY_API_KEY"],
    [403, "AI_GATEWAY_API_KEY"],
    [404, "AI_GATEWAY_BASE_URL"],
    [307, "AI_GATEWAY_BASE_URL"],
  ])("is reported to the operator once, and never blames a user: %i", async (status, setting) => {
    const { baseUrl } = await openModelServer((response) => {
      response.writeHead(status, {
        "content-type": "application/json",
        location: "https://elsewhere.example",
      })
      response.end(JSON.stringify({ error: { message: "key sk-1234 of Ada is bad" } }))
    })
    const scope = askedModel(baseUrl)
    const first = await readReply(scope)
    const trouble = scope.trouble.current()
    const second = await readReply(scope)
    expect(first.error).toBe(
      `The model server refused the request. Only the administrator of this site can fix this. (Reference ${trouble?.reference})`,
    )
    expect(second.error).toBe(first.error)
    expect(scope.trouble.current()).toBe(trouble)
    expect(trouble).toMatchObject({ status, what: { message: expect.stringContaining(setting) as string } })
    expect(scope.logged.filter(({ level }) => level === 50)).toMatchObject([
      { msg: trouble?.what.message, reference: trouble?.reference, statusCode: status },
    ])
  })

  it("is reported again if the reason changes, and cleared once it replies", async () => {
    const { baseUrl } = await openModelServer((response, _, number) => {
      const status = [401, 404][number]
      if (status === undefined) return say(response, ["Deep."], "stop")
      response.writeHead(status, { "content-type": "application/json" }).end("{}")
    })
    const scope = askedModel(baseUrl)
    await readReply(scope)
    await readReply(scope)
    expect(scope.trouble.current()?.status).toBe(404)
    expect((await readReply(scope)).text).toBe("Deep.")
    expect(scope.trouble.current()).toBeNull()
    expect(scope.logged.map(({ level }) => level)).toEqual([50, 50, 30])
  })

  it.each([429, 500, 503])("temporarily is not reported to the operator: %i", async (status) => {
    const { baseUrl } = await openModelServer((response) => {
      response.writeHead(status, { "content-type": "application/json", "retry-after": "0" }).end("{}")
    })
    const scope = askedModel(baseUrl)
    expect((await readReply(scope)).error).toMatch(/Try again/)
    expect(scope.trouble.current()).toBeNull()
  })
})

function say(
  response: Parameters<typeof sendStream>[0],
  words: readonly string[],
  finishReason: string,
): Promise<void> {
  return sendStream(response, [...words.map((content) => event({ content })), event({}, finishReason)])
}

function event(delta: object, finishReason: string | null = null): string {
  return `data: ${piece(delta, finishReason)}\n\n`
}
