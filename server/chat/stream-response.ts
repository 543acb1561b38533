import { UI_MESSAGE_STREAM_HEADERS } from "ai"
import type { AnswerChunk } from "./contract.ts"

/** A UI message stream (server-sent events, protocol v1). `leave` is called when the reader goes away before the end. */
export function streamResponse(
  chunks: AsyncIterable<AnswerChunk>,
  { headers, leave }: { headers: Record<string, string>; leave(): void },
): Response {
  const iterator = chunks[Symbol.asyncIterator]()
  const encoder = new TextEncoder()
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await iterator.next()
      controller.enqueue(encoder.encode(`data: ${done ? "[DONE]" : JSON.stringify(value)}\n\n`))
      if (done) controller.close()
    },
    async cancel() {
      leave()
      await iterator.return?.()
    },
  })
  return new Response(body, { headers: { ...UI_MESSAGE_STREAM_HEADERS, ...headers } })
}
