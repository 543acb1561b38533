import { UI_MESSAGE_STREAM_HEADERS } from "ai"
import type { ReplyChunk } from "./contract.ts"

/**
 * A UI message stream (server-sent events, protocol v1). `leave` is called when the reader
 * disconnects before the end.
 */
export function streamResponse(
  chunks: AsyncIterable<ReplyChunk>,
  { headers, leave }: { headers: Record<string, string>; leave(): void },
): Response {
  const encoder = new TextEncoder()
  let text = ""
  let isGone = false
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      send(controller).catch((error: unknown) => controller.error(error))
    },
    cancel() {
      isGone = true
      leave()
    },
  })
  return new Response(body, { headers: { ...UI_MESSAGE_STREAM_HEADERS, ...headers } })

  /**
   * Chunks that arrive together are sent in one write. It does not wait for a slow reader, because
   * replies are limited in size.
   */
  async function send(controller: ReadableStreamDefaultController<Uint8Array>) {
    for await (const chunk of chunks) {
      if (isGone) return
      if (text === "") setImmediate(flush, controller)
      text += `data: ${JSON.stringify(chunk)}\n\n`
    }
    if (isGone) return
    text += "data: [DONE]\n\n"
    flush(controller)
    controller.close()
  }

  function flush(controller: ReadableStreamDefaultController<Uint8Array>) {
    if (text === "" || isGone) return
    controller.enqueue(encoder.encode(text))
    text = ""
  }
}
