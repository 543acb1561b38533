import { once } from "node:events"
import { createServer, type ServerResponse } from "node:http"
import { text as readText } from "node:stream/consumers"
import { portOf } from "./port-of.ts"

/** An OpenAI-compatible gateway that sends what the test tells it to, when it tells it to. */
export interface ScriptedGateway {
  /** The settings of a server that is to use it. */
  env: Record<string, string>
  /** The replies that were requested, in order. */
  answers: ScriptedReply[]
  /** Resolves with the reply of this number, from 0, once it has been requested. */
  asked(number: number): Promise<ScriptedReply>
  close(): Promise<void>
}

export interface ScriptedReply {
  /** The body of the request. */
  request: string
  /** All the text sent so far. */
  said: string
  /** The client disconnected before the end. */
  aborted: boolean
  /** Sends a chunk of the reply. */
  say(text: string): void
  /**
   * Sends `word 1 word 2 ...` at this interval (ms) until the client disconnects or the reply ends.
   */
  talk(interval: number): void
  finish(): void
  /** Reports an error in the middle of the reply. */
  fail(): void
}

export async function openScriptedGateway(): Promise<ScriptedGateway> {
  const answers: ScriptedReply[] = []
  const waiting = new Set<() => void>()
  const server = createServer((request, response) => {
    void readText(request).then((body) => {
      answers.push(begin(response, body))
      for (const look of waiting) look()
    })
  }).listen(0, "127.0.0.1")
  await once(server, "listening")

  return {
    env: { AI_GATEWAY_API_KEY: "a key", AI_GATEWAY_BASE_URL: `http://127.0.0.1:${portOf(server)}/v1` },
    answers,
    asked: (number) =>
      new Promise((resolve) => {
        const look = () => {
          const answer = answers[number]
          if (!answer) return
          waiting.delete(look)
          resolve(answer)
        }
        waiting.add(look)
        look()
      }),
    async close() {
      const closed = once(server, "close")
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

function begin(response: ServerResponse, request: string): ScriptedReply {
  let timer: NodeJS.Timeout | undefined
  response.writeHead(200, { "content-type": "text/event-stream" })
  const answer: ScriptedReply = {
    request,
    said: "",
    aborted: false,
    say(text) {
      answer.said += text
      send({ content: text }, null)
    },
    talk(interval) {
      let word = 0
      timer = setInterval(() => answer.say(`word ${(word += 1)} `), interval)
    },
    finish() {
      clearInterval(timer)
      send({}, "stop")
      response.end("data: [DONE]\n\n")
    },
    fail() {
      clearInterval(timer)
      response.end(`data: ${JSON.stringify({ error: { message: "It broke", type: "server_error" } })}\n\n`)
    },
  }
  response.once("close", () => {
    clearInterval(timer)
    answer.aborted = !response.writableFinished
  })
  send({ role: "assistant", content: "" }, null)
  return answer

  function send(delta: object, finishReason: string | null) {
    const choices = [{ index: 0, delta, finish_reason: finishReason }]
    const event = { id: "1", object: "chat.completion.chunk", created: 0, model: "scripted", choices }
    response.write(`data: ${JSON.stringify(event)}\n\n`)
  }
}
