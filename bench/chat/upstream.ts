import { once } from "node:events"
import { createServer, type ServerResponse } from "node:http"
import { text } from "node:stream/consumers"
import { answerCommands } from "../program.ts"
import { now } from "../statistics.ts"
import { DELTAS, deltaText, INTERVAL, streamAsked } from "./streams.ts"

// Run as a program: a gateway that speaks OpenAI's protocol and records when it sends each delta.

const asked: number[] = []
const sent: number[] = []

const server = createServer((request, response) => {
  const begun = now()
  void text(request).then((body) => answer(response, streamAsked(body), begun))
})
server.keepAliveTimeout = 65_000 // as Tideline's: no reader picks a connection that is just being closed
server.listen({ port: 0, host: "127.0.0.1", backlog: 4096 })
await once(server, "listening")

const commands = {
  port() {
    const address = server.address()
    if (address === null || typeof address === "string") throw new Error("The upstream has no port.")
    return address.port
  },
  /**
   * Returns when each stream was requested and when each of its deltas was sent, and clears both
   * records.
   */
  times() {
    const times = { asked: Float64Array.from(asked), sent: Float64Array.from(sent) }
    asked.length = 0
    sent.length = 0
    return times
  },
}
export type UpstreamCommands = typeof commands

answerCommands(commands)

/** Sends on schedule even if single timers fire late. */
function answer(response: ServerResponse, stream: number, begun: number): void {
  asked[stream] = begun
  const frame = { id: `chatcmpl-${stream}`, object: "chat.completion.chunk", created: 1, model: "bench" }
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" })
  write({ choices: [{ index: 0, delta: { role: "assistant", content: "" }, finish_reason: null }] })
  let next = 0
  wait()

  function wait() {
    setTimeout(send, Math.max(0, begun + (next + 1) * INTERVAL - now()))
  }
  function send() {
    if (response.destroyed) return
    sent[stream * DELTAS + next] = now()
    write({ choices: [{ index: 0, delta: { content: deltaText(next) }, finish_reason: null }] })
    next++
    if (next < DELTAS) return wait()
    write({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] })
    write({
      choices: [],
      usage: { prompt_tokens: 10, completion_tokens: DELTAS, total_tokens: DELTAS + 10 },
    })
    response.end("data: [DONE]\n\n")
  }
  function write(event: object) {
    response.write(`data: ${JSON.stringify({ ...frame, ...event })}\n\n`)
  }
}
