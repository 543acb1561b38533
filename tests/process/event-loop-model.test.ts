import { once } from "node:events"
import { createServer, type Server, type ServerResponse } from "node:http"
import { json } from "node:stream/consumers"
import postgres from "postgres"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { startTideline, type TidelineApp } from "../support/app.ts"
import { openLiveSocket, realtimeToken } from "../support/live.ts"
import { recordPasses } from "../support/longest-pass.ts"
import { piece } from "../support/model-server.ts"
import { postJson, signUp, type Person } from "../support/people.ts"
import { portOf } from "../support/port-of.ts"

const { settings, expectShort } = recordPasses()

let gateway: Server
let app: TidelineApp
let sql: postgres.Sql
let ada: Person
beforeAll(async () => {
  gateway = createServer((request, response) => {
    void json(request).then((body) => reply(response, body as Asked))
  }).listen(0, "127.0.0.1")
  await once(gateway, "listening")
  app = await startTideline({
    ...settings,
    AI_GATEWAY_API_KEY: "a key",
    AI_GATEWAY_BASE_URL: `http://127.0.0.1:${portOf(gateway)}/v1`,
    CHAT_RATE_LIMIT: "1000",
  })
  ada = await signUp(app, { name: "Ada", email: "ada@example.org" })
  sql = postgres(app.databaseUrl, { max: 1, onnotice() {} })
  await ada("/onboarding")
  await sql`update users set onboarding_completed = true`
})
afterAll(async () => {
  await sql.end()
  await app.stop()
  gateway.closeAllConnections()
  gateway.close()
})

describe("others wait for a moment at most while a model sends", () => {
  it.each(Object.keys(REPLIES))("%s", async (name) => {
    const made = await postJson(ada, "/api/chat/threads", { title: name })
    const { thread } = (await made.json()) as { thread: { _id: string } }
    const socket = await openLiveSocket(app, await realtimeToken(ada))
    for (const query of ["chat.listMessages", "chat.listTurns", "chat.listChunks"])
      await socket.subscribe(query, { threadId: thread._id }, query.length)

    await expectShort(name, async () => {
      const id = crypto.randomUUID()
      const messages = [{ id, role: "user", parts: [{ type: "text", text: name }] }]
      const asked = await postJson(ada, "/api/chat", { threadId: thread._id, messages })
      expect(asked.status).toBe(200)
      const resumed = ada(`/api/chat/threads/${thread._id}/stream`)
      const [text] = await Promise.all([asked.text(), resumed.then((response) => response.text())])
      expect(text).toContain("[DONE]")
    })
    const path = `/api/chat/threads/${thread._id}`
    const reads = {
      messages: `${path}/messages`,
      export: `${path}/export`,
      page: `/dashboard/chat/${thread._id}`,
    }
    for (const [what, address] of Object.entries(reads))
      await expectShort(`${name}: its ${what}`, async () => {
        const response = await ada(address)
        expect(response.status, await response.text()).toBe(200)
      })
    socket.close()
  })
})

interface Asked {
  messages: { role: string; content: unknown }[]
}

/** Replies with what the last message names, and with a plain text once tools have been called. */
function reply(response: ServerResponse, { messages }: Asked) {
  response.writeHead(200, { "content-type": "text/event-stream" })
  const text = JSON.stringify(messages.findLast(({ role }) => role === "user")?.content ?? "")
  const name = Object.keys(REPLIES).find((each) => text.includes(each))
  const isAnswered = messages.at(-1)?.role === "tool"
  const pieces = name && !isAnswered ? REPLIES[name]?.() : [{ content: "Done." }]
  const events = (pieces ?? []).map((delta) => `data: ${piece(delta)}\n\n`)
  response.end(`${events.join("")}data: ${piece({}, "stop")}\n\ndata: [DONE]\n\n`)
}

const MEGABYTE = 1_000_000

const REPLIES: Record<string, () => object[]> = {
  "a megabyte at once": () => [{ content: "a ".repeat(MEGABYTE / 2) }],
  "a megabyte of emphasis at once": () => [{ content: "_a __a ".repeat(MEGABYTE / 7) }],
  "a megabyte of quotes at once": () => [{ content: '"\\\n'.repeat(MEGABYTE / 3) }],
  "a megabyte of thoughts at once": () => [{ reasoning_content: "a ".repeat(MEGABYTE / 2) }],
  "twenty thousand small pieces": () => Array.from({ length: 20_000 }, () => ({ content: "a " })),
  "text and thoughts by turns": () =>
    Array.from({ length: 6000 }, (_, at) => (at % 2 ? { content: "a" } : { reasoning_content: "a" })),
  "the ends of a thought": () => [
    { content: "<think>" },
    ...Array.from({ length: 5000 }, () => ({ content: "</think " })),
  ],
  "white space": () => Array.from({ length: 5000 }, () => ({ content: "\n".repeat(100) })),
  "a megabyte of arguments": () => [call(0, `{"name":"${"a".repeat(MEGABYTE)}"}`)],
  "arguments in small pieces": () => [
    call(0, '{"name":"'),
    ...Array.from({ length: 5000 }, () => call(0, "a".repeat(100), null)),
    call(0, '"}', null),
  ],
  "nested arguments": () => [call(0, `${'{"name":'.repeat(20_000)}1${"}".repeat(20_000)}`)],
  "many calls": () => Array.from({ length: 500 }, (_, at) => call(at, `{"name":"${at}"}`)),
}

function call(index: number, text: string, name: string | null = "searchFiles") {
  const begun = name === null ? {} : { id: `call_${index}`, type: "function" }
  return { tool_calls: [{ index, ...begun, function: { ...(name !== null && { name }), arguments: text } }] }
}
