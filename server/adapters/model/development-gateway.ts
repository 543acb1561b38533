import { randomBytes, timingSafeEqual } from "node:crypto"
import { once } from "node:events"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { setTimeout as wait } from "node:timers/promises"
import * as v from "valibot"
import { readMessage, textOf } from "./development-messages.ts"
import { composeReply, type Reply } from "./development-reply.ts"

/** The value of `X-AI-Model` while no model is connected. */
const MODEL = "development/no-model"

/**
 * Characters of one request. The chat sends at most 20 MB of images, which Base64 enlarges by a
 * third.
 */
const BODY_LIMIT = 32 * 1024 * 1024

export interface DevelopmentGateway {
  model: string
  baseUrl: string
  /** Generated at every start; the gateway returns 401 for any other key. */
  key: string
  /** How many replies were started, and how many of them the client aborted. */
  activity: { begun: number; aborted: number }
  close(): Promise<void>
}

/**
 * An OpenAI-compatible gateway on loopback without a language model, for development and tests.
 * Each reply says so first, and then only what can be verified: the question, the offered tools,
 * the result of a tool. Commands that start with a slash produce slow, long, failing or formatted
 * replies; see `composeReply`.
 */
export async function openDevelopmentGateway(): Promise<DevelopmentGateway> {
  const key = randomBytes(24).toString("base64url")
  const activity = { begun: 0, aborted: 0 }
  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy())
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo

  return {
    model: MODEL,
    baseUrl: `http://127.0.0.1:${port}/v1`,
    key,
    activity,
    async close() {
      const closed = once(server, "close")
      server.close()
      server.closeAllConnections()
      await closed
    },
  }

  async function serve(request: IncomingMessage, response: ServerResponse) {
    if (!carriesKey(request, key))
      return sendError(response, 401, "This gateway's key is made at every start.")
    const path = request.url?.split("?")[0]
    if (request.method === "GET" && path === "/v1/models") {
      return sendJson(response, 200, {
        object: "list",
        data: [{ id: MODEL, object: "model", owned_by: "development" }],
      })
    }
    if (request.method !== "POST" || path !== "/v1/chat/completions")
      return sendError(response, 404, "No such path.")

    const completion = v.safeParse(Completion, await readBody(request))
    if (!completion.success) return sendError(response, 400, v.summarize(completion.issues))

    activity.begun++
    response.once("close", () => {
      if (!response.writableFinished) activity.aborted++
    })
    await reply(response, completion.output)
  }
}

const Completion = v.object({
  stream: v.optional(v.boolean(), false),
  max_tokens: v.optional(v.number(), Number.MAX_SAFE_INTEGER),
  messages: v.pipe(
    v.array(v.object({ role: v.string(), content: v.nullish(v.union([v.string(), v.array(v.unknown())])) })),
    v.minLength(1),
  ),
  tools: v.optional(v.array(v.object({ function: v.object({ name: v.string() }) })), []),
})

type Completion = v.InferOutput<typeof Completion>

async function reply(response: ServerResponse, completion: Completion) {
  const answer = composeReply(
    completion.messages.map(readMessage),
    completion.tools.map((tool) => tool.function.name),
  )
  if (answer.status) {
    if (answer.status === 429) response.setHeader("retry-after", "1")
    return sendError(response, answer.status, `The question asked for status ${answer.status}.`)
  }
  return completion.stream
    ? replyInPieces(response, completion, answer)
    : replyInOne(response, completion, answer)
}

function replyInOne(response: ServerResponse, completion: Completion, answer: Reply) {
  const pieces = answer.pieces.slice(0, completion.max_tokens)
  sendJson(response, 200, {
    ...envelope("chat.completion"),
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content: pieces.join(""),
          ...(answer.reasoning.length > 0 && { reasoning_content: answer.reasoning.join("") }),
          ...(answer.toolCall && { tool_calls: [toolCall(answer.toolCall)] }),
        },
        finish_reason: finishReason(answer, completion),
      },
    ],
    usage: usage(completion, pieces.length),
  })
}

async function replyInPieces(response: ServerResponse, completion: Completion, answer: Reply) {
  const frame = envelope("chat.completion.chunk")
  const pieces = answer.pieces.slice(0, completion.max_tokens)
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" })
  await send({ role: "assistant", content: "" })
  for (const piece of answer.reasoning) await send({ reasoning_content: piece })
  for (const [index, piece] of pieces.entries()) {
    if (answer.resetAfter === index) return response.socket?.resetAndDestroy()
    await send({ content: piece })
    if (response.destroyed) return
  }
  if (answer.toolCall) await send({ tool_calls: [{ index: 0, ...toolCall(answer.toolCall) }] })
  write({ ...frame, choices: [{ index: 0, delta: {}, finish_reason: finishReason(answer, completion) }] })
  write({ ...frame, choices: [], usage: usage(completion, pieces.length) })
  response.end("data: [DONE]\n\n")

  async function send(delta: object) {
    write({ ...frame, choices: [{ index: 0, delta, finish_reason: null }] })
    if (answer.pause > 0) await wait(answer.pause)
  }
  function write(event: object) {
    response.write(`data: ${JSON.stringify(event)}\n\n`)
  }
}

function envelope(object: string) {
  return {
    id: `development-${randomBytes(6).toString("hex")}`,
    object,
    created: Math.floor(Date.now() / 1000),
    model: MODEL,
  }
}

function toolCall({ name, input }: NonNullable<Reply["toolCall"]>) {
  return {
    id: `call_${randomBytes(6).toString("hex")}`,
    type: "function",
    function: { name, arguments: input },
  }
}

function finishReason(answer: Reply, { max_tokens }: Completion) {
  if (answer.toolCall) return "tool_calls"
  return answer.pieces.length > max_tokens ? "length" : "stop"
}

/** Words are counted as tokens: there is no tokenizer without a model. */
function usage({ messages }: Completion, completionTokens: number) {
  const promptTokens = messages.reduce((sum, { content }) => sum + textOf(content).split(/\s+/).length, 0)
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  }
}

function carriesKey(request: IncomingMessage, key: string) {
  const given = Buffer.from(request.headers.authorization ?? "")
  const expected = Buffer.from(`Bearer ${key}`)
  return given.length === expected.length && timingSafeEqual(given, expected)
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  let body = ""
  request.setEncoding("utf8")
  for await (const chunk of request) {
    body += String(chunk)
    if (body.length > BODY_LIMIT) return undefined
  }
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

function sendError(response: ServerResponse, status: number, message: string) {
  sendJson(response, status, { error: { message, type: "development_gateway", code: status } })
}

function sendJson(response: ServerResponse, status: number, body: unknown) {
  response.writeHead(status, { "content-type": "application/json; charset=utf-8" }).end(JSON.stringify(body))
}
