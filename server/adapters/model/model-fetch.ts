import { createParser } from "eventsource-parser"
import { createPace } from "./pace.ts"
import { paceBytes } from "./paced-bytes.ts"

/**
 * The `fetch` for requests to a model server. It follows no redirect, which would send the
 * conversation to an address that nobody configured: the provider receives the redirect itself, and
 * fails with its status. It requests no compression, because a compressor may delay text; a
 * compressed response is decompressed nevertheless. Streams are paced.
 */
export function createModelFetch(): typeof fetch {
  const pace = createPace()
  return async (input, init = {}) => {
    const headers = new Headers(init.headers)
    headers.set("accept-encoding", "identity")
    const response = await fetch(input, { ...init, headers, redirect: "manual" })
    const { body, status, statusText } = response
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream")
    if (!response.ok || !isStream || !body) return response
    const endOf = (error: unknown) => (init?.signal?.aborted ? null : brokenEvent(error))
    const paced = paceBytes(body, { pace, endOf }).pipeThrough(withoutNullErrors())
    return new Response(paced, { status, statusText, headers: response.headers })
  }
}

/**
 * An error in a model server's stream, as both of its interfaces report it. The empty lines
 * terminate an event that was cut off.
 */
function brokenEvent(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error)
  const message = `The connection to the model server broke: ${cause}`
  const told = { type: "connection_error", code: "connection_error", message, param: null }
  return `\n\ndata: ${JSON.stringify({ type: "error", sequence_number: 0, error: told })}\n\n`
}

/**
 * Some servers send `"error": null` in every event, and the provider treats any `error` as a
 * failure.
 */
function withoutNullErrors(): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder()
  const encoder = new TextEncoder()
  let read = ""
  const parser = createParser({
    onEvent({ data }) {
      read += `data: ${repair(data).replaceAll("\n", "\ndata: ")}\n\n`
    },
  })

  function feed(text: string, controller: TransformStreamDefaultController<Uint8Array>) {
    parser.feed(text)
    if (read !== "") controller.enqueue(encoder.encode(read))
    read = ""
  }

  return new TransformStream({
    transform: (bytes, controller) => feed(decoder.decode(bytes, { stream: true }), controller),
    // The last event may lack the empty line that ends it.
    flush: (controller) => feed(`${decoder.decode()}\n\n`, controller),
  })
}

function repair(data: string): string {
  if (!/"error"\s*:\s*null/.test(data)) return data
  try {
    const { error, ...chunk } = JSON.parse(data) as Record<string, unknown>
    return error === null ? JSON.stringify(chunk) : data
  } catch {
    return data // the provider reports what is wrong with it
  }
}
