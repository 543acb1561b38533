import { once } from "node:events"
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http"
import { json } from "node:stream/consumers"
import { onTestFinished } from "vitest"
import { pino } from "pino"
import { openGatewayModel } from "#server/adapters/model/gateway.ts"
import type { ModelMessage } from "ai"
import { postedConversation } from "#server/chat/fit.ts"
import { createModelAbilities } from "#server/chat/model-abilities.ts"
import { generateReply } from "#server/chat/generate-reply.ts"
import type { ReplyChunk } from "#server/chat/contract.ts"
import { createModelTrouble } from "#server/chat/model-trouble.ts"
import { readConfig } from "#server/config.ts"
import { portOf } from "./port-of.ts"

export interface ModelRequest {
  url: string
  headers: IncomingHttpHeaders
  body: Record<string, unknown>
}

/**
 * A model server that responds to each request as the test says. It closes at the end of the test.
 */
export async function openModelServer(
  answer: (response: ServerResponse, request: ModelRequest, number: number) => unknown,
) {
  const requests: ModelRequest[] = []
  const server = createServer((incoming, response) => {
    void json(incoming).then((body) => {
      const request = {
        url: incoming.url ?? "",
        headers: incoming.headers,
        body: body as ModelRequest["body"],
      }
      return answer(response, request, requests.push(request) - 1)
    })
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const baseUrl = `http://127.0.0.1:${portOf(server)}/v1`
  return { baseUrl, requests }
}

/** A model that sends its requests to the server, and what it logs. */
export function askedModel(baseUrl: string, settings: Record<string, string> = {}) {
  const logged: Record<string, unknown>[] = []
  const log = pino({ level: "info" }, { write: (line) => void logged.push(JSON.parse(line)) })
  const config = readConfig({ AUTH_SECRET: "a secret for tests, and for nothing else", ...settings })
  const model = openGatewayModel({
    gateway: { kind: "remote", key: "a key", baseUrl, api: "chat" },
    name: "m",
  })
  const abilities = createModelAbilities({ config, log, model })
  return { model, config, log, logged, trouble: createModelTrouble(log), abilities }
}

/** The whole reply to one message, as chunks and assembled. */
export async function readReply(
  scope: Pick<ReturnType<typeof askedModel>, "model" | "config" | "log" | "trouble" | "abilities">,
  {
    messages = [{ role: "user", content: "How deep is the sea?" }],
    ...options
  }: Partial<Parameters<typeof generateReply>[1]> & { messages?: ModelMessage[] } = {},
  onChunk: (chunk: ReplyChunk) => void = () => {},
) {
  const chunks: ReplyChunk[] = []
  await generateReply(
    scope,
    {
      id: "answer",
      conversation: postedConversation(messages),
      tools: {},
      metadata: {},
      signal: new AbortController().signal,
      ...options,
    },
    (chunk) => {
      chunks.push(chunk)
      onChunk(chunk)
    },
  )
  const textOf = (type: "text-delta" | "reasoning-delta") =>
    chunks.map((chunk) => (chunk.type === type ? chunk.delta : "")).join("")
  const error = chunks.find((chunk) => chunk.type === "error")?.errorText ?? null
  const finish = chunks.find((chunk) => chunk.type === "finish")
  return { chunks, text: textOf("text-delta"), reasoning: textOf("reasoning-delta"), error, finish }
}

/** The JSON of one chunk of a reply, as `/chat/completions` streams it. */
export function piece(delta: object, finishReason: string | null = null, around: object = {}): string {
  const choices = [{ index: 0, delta, finish_reason: finishReason }]
  return JSON.stringify({
    id: "1",
    object: "chat.completion.chunk",
    created: 1,
    model: "m",
    choices,
    ...around,
  })
}

/** Sends each string as a packet of its own, in order, and ends the response. */
export async function sendStream(response: ServerResponse, packets: readonly (string | Uint8Array)[]) {
  if (!response.headersSent) response.writeHead(200, { "content-type": "text/event-stream" })
  for (const packet of packets) {
    await new Promise((sent) => response.write(packet, sent))
    await new Promise(setImmediate)
  }
  response.end()
}
