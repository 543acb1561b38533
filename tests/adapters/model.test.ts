import { generateText, streamText, tool, type LanguageModel } from "ai"
import { once } from "node:events"
import { createServer, type IncomingMessage } from "node:http"
import { toStandardJsonSchema } from "@valibot/to-json-schema"
import * as v from "valibot"
import { afterEach, describe, expect, it } from "vitest"
import { openDevelopmentGateway } from "#server/adapters/model/development-gateway.ts"
import { openGatewayModel } from "#server/adapters/model/gateway.ts"
import { portOf } from "../support/port-of.ts"
import { withResource } from "../support/with-resource.ts"

const LABEL = "Development gateway: no language model is connected."

const gateway = withResource(openDevelopmentGateway)

describe("a model behind a gateway", () => {
  it("streams a reply and reports the tokens it used", async () => {
    const { text, deltas, usage } = await ask("How deep is the sea?")
    expect(text).toContain("> How deep is the sea?")
    expect(deltas).toBeGreaterThan(1)
    expect(usage.inputTokens).toBeGreaterThan(0)
    expect(usage.outputTokens).toBeGreaterThan(5)
  })

  it("calls tools and receives their results", async () => {
    const words: unknown[] = []
    const result = streamText({
      model: model(),
      prompt: '/tool lookUp {"word":"tide"}',
      tools: {
        lookUp: tool({
          inputSchema: toStandardJsonSchema(v.object({ word: v.string() })),
          execute: ({ word }) => {
            words.push(word)
            return { meaning: `what ${word} means` }
          },
        }),
      },
      stopWhen: ({ steps }) => steps.length === 2,
    })
    expect(await result.text).toContain('{"meaning":"what tide means"}')
    expect(words).toEqual(["tide"])
  })

  it("streams its reasoning if the model sends any", async () => {
    const result = streamText({ model: model(), prompt: "/reasoning" })
    await result.consumeStream()
    expect(await result.reasoningText).toBe("First a thought. Then a second thought.")
  })

  it("stops at its output limit", async () => {
    const result = streamText({ model: model(), prompt: "/long 300", maxOutputTokens: 40 })
    await result.consumeStream()
    expect(await result.finishReason).toBe("length")
    expect((await result.usage).outputTokens).toBe(40)
  })

  it.each([
    ["/fail401", 401],
    ["/fail429", 429],
    ["/fail500", 500],
  ])("fails with the gateway's status on %s", async (prompt, statusCode) => {
    await expect(generateText({ model: model(), prompt, maxRetries: 0 })).rejects.toMatchObject({
      statusCode,
    })
  })

  it("fails when the connection is reset in the middle of a reply", async () => {
    const result = streamText({ model: model(), prompt: "/reset", onError: () => {} })
    let text = ""
    const read = async () => {
      for await (const part of result.stream) {
        if (part.type === "text-delta") text += part.text
        if (part.type === "error") throw part.error
      }
    }
    await expect(read()).rejects.toThrow()
    expect(text).toContain("The connection is reset")
    expect(text).not.toContain("no end")
  })

  it("fails when a reply is cut off", async () => {
    const broken = await openBrokenGateway()
    const parts: string[] = []
    const result = streamText({ model: broken.model, prompt: "Hello", maxRetries: 0, onError: () => {} })
    for await (const part of result.stream) parts.push(part.type)
    expect(parts).toContain("error")
  })

  it("is unavailable without a key", () => {
    const missing = openGatewayModel({ gateway: { kind: "missing" }, name: "example/model-1" })
    expect(missing).toMatchObject({ name: "example/model-1", available: false, isDevelopment: false })
    expect(() => missing.open()).toThrow("AI_GATEWAY_API_KEY")
  })

  it.each([
    ["chat", "/v1/chat/completions"],
    ["responses", "/v1/responses"],
  ] as const)("speaks the API that the setting names: %s", async (api, path) => {
    const seen: IncomingMessage[] = []
    const port = await listen((request, answer) => {
      seen.push(request)
      answer(404, "{}")
    })
    const { available, open } = openGatewayModel({
      gateway: { kind: "remote", key: "a key", baseUrl: `http://127.0.0.1:${port}/v1`, api },
      name: "example/model-1",
    })
    expect(available).toBe(true)
    await expect(generateText({ model: open(), prompt: "Hello", maxRetries: 0 })).rejects.toThrow()
    expect(seen.map(({ url, headers }) => [url, headers.authorization])).toEqual([[path, "Bearer a key"]])
  })
})

describe("the development gateway", () => {
  it("says in every reply that no language model is connected", async () => {
    for (const question of ["Hello", "/markdown", "/long 3", "/tool nothing"]) {
      expect((await ask(question)).text).toContain(LABEL)
    }
  })

  it("lists the tools it was offered, and no others", async () => {
    expect((await ask("Hello")).text).toContain("Tools offered: none")
    expect((await ask("/tool nothing")).text).toContain('No tool is called "nothing"')
  })

  it("listens on loopback only", () => {
    expect(gateway.baseUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1$/)
  })

  it("lists its only model", async () => {
    const response = await call("/models")
    expect(await response.json()).toMatchObject({ data: [{ id: "development/no-model" }] })
  })

  it("replies in one response if streaming is not requested", async () => {
    const { text } = await generateText({ model: model(), prompt: "Hello" })
    expect(text).toContain(LABEL)
  })

  it.each([undefined, "Bearer", "Bearer wrong", "Bearer "])("refuses the key %j", async (authorization) => {
    const response = await fetch(`${gateway.baseUrl}/models`, {
      headers: authorization ? { authorization } : {},
    })
    expect(response.status).toBe(401)
  })

  it.each(["{", "{}", '{"messages":[]}', '{"messages":"Hello"}'])("refuses the body %j", async (body) => {
    const response = await call("/chat/completions", { method: "POST", body })
    expect(response.status).toBe(400)
  })

  it("returns 404 for any other path", async () => {
    expect((await call("/embeddings", { method: "POST", body: "{}" })).status).toBe(404)
  })

  it("counts replies that were cut short", async () => {
    const before = { ...gateway.activity }
    const gone = new AbortController()
    const response = await call("/chat/completions", {
      method: "POST",
      body: JSON.stringify({ stream: true, messages: [{ role: "user", content: "/slow" }] }),
      signal: gone.signal,
    })
    await response.body?.getReader().read()
    gone.abort()
    await expect.poll(() => gateway.activity.aborted).toBe(before.aborted + 1)
    expect(gateway.activity.begun).toBe(before.begun + 1)
  })
})

function model(): LanguageModel {
  return openGatewayModel({
    gateway: { kind: "development", key: gateway.key, baseUrl: gateway.baseUrl },
    name: gateway.model,
  }).open()
}

async function ask(prompt: string) {
  const result = streamText({ model: model(), prompt })
  let deltas = 0
  for await (const part of result.stream) if (part.type === "text-delta") deltas++
  return { text: await result.text, deltas, usage: await result.usage }
}

function call(path: string, init: RequestInit = {}) {
  return fetch(gateway.baseUrl + path, { ...init, headers: { authorization: `Bearer ${gateway.key}` } })
}

const servers: { close(): unknown; closeAllConnections(): void }[] = []
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

async function listen(
  serve: (request: IncomingMessage, answer: (status: number, body: string) => void) => void,
): Promise<number> {
  const server = createServer((request, response) => {
    serve(request, (status, body) =>
      response.writeHead(status, { "content-type": "text/event-stream" }).end(body),
    )
  })
  servers.push(server)
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return portOf(server)
}

/** Ends its stream cleanly, but before it has marked the reply as complete. */
async function openBrokenGateway() {
  const delta = { id: "1", object: "chat.completion.chunk", created: 1, model: "m" }
  const chunk = { ...delta, choices: [{ index: 0, delta: { content: "Half an" }, finish_reason: null }] }
  const port = await listen((_, answer) => answer(200, `data: ${JSON.stringify(chunk)}\n\n`))
  const { open } = openGatewayModel({
    gateway: { kind: "remote", key: "a key", baseUrl: `http://127.0.0.1:${port}/v1`, api: "chat" },
    name: "m",
  })
  return { model: open() }
}
