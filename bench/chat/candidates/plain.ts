import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { json } from "node:stream/consumers"
import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import {
  convertToModelMessages,
  pipeUIMessageStreamToResponse,
  streamText,
  toUIMessageStream,
  type UIMessage,
} from "ai"

// Run as a program: the chat route as the SDK's documentation shows it for a Node server, without
// authentication or storage.

const [upstream, port] = process.argv.slice(2).map(Number) as [number, number]
const gateway = createOpenAICompatible({
  name: "gateway",
  baseURL: `http://127.0.0.1:${upstream}/v1`,
  apiKey: "bench",
  includeUsage: true,
})

const server = createServer((incoming, outgoing) => {
  void answer(incoming, outgoing)
})
server.keepAliveTimeout = 65_000 // as Tideline's: no reader picks a connection that is just being closed
server.listen({ port, host: "127.0.0.1", backlog: 4096 })

async function answer(incoming: IncomingMessage, outgoing: ServerResponse) {
  const { messages } = (await json(incoming)) as { messages: UIMessage[] }
  const result = streamText({
    model: gateway("bench"),
    messages: await convertToModelMessages(messages),
  })
  await pipeUIMessageStreamToResponse({
    response: outgoing,
    stream: toUIMessageStream({ stream: result.stream }),
  })
}
