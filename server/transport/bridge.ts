import type { IncomingMessage, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { createBodilessRequest, readHeaders, signalOf } from "./bodiless-request.ts"
import { writeBody, writeText } from "./body-writer.ts"
import { watchSlowBody } from "./slow-clients.ts"
import { offerMemory } from "./spent-memory.ts"
import { TextResponse } from "./text-response.ts"

/** A request that cannot be represented, with the status to send. */
export class Unacceptable extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/**
 * Node's request as a web `Request`. Its URL is built from `origin`, never from the Host header,
 * which anyone can set. Throws `Unacceptable`.
 */
export function toRequest(incoming: IncomingMessage, response: ServerResponse, origin: string): Request {
  const method = incoming.method ?? "GET"
  if (!METHODS.has(method)) throw new Unacceptable(501, `${method} is not supported.`)
  const url = toUrl(incoming, origin)
  if (method === "GET" || method === "HEAD") return createBodilessRequest(url, incoming, response)
  const init = {
    method,
    headers: readHeaders(incoming),
    signal: signalOf(response),
    body: readBody(incoming, response),
    duplex: "half",
  }
  return new Request(url, init)
}

const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])

/**
 * Sends a web `Response` at the client's pace. Headers set on `outgoing` before are kept, unless
 * the response has its own. If the client disconnects, the body is cancelled, so that its source
 * can stop.
 */
export async function sendResponse(
  response: Response,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  outgoing.statusCode = response.status
  for (const [name, value] of response.headers) {
    if (name !== "set-cookie") outgoing.setHeader(name, value)
  }
  const cookies = response.headers.getSetCookie()
  if (cookies.length > 0) outgoing.setHeader("set-cookie", cookies)

  if (response instanceof TextResponse && incoming.method !== "HEAD" && !response.bodyUsed) {
    writeText(response.content, incoming, outgoing)
    return
  }
  if (incoming.method === "HEAD" || response.body === null || outgoing.destroyed) {
    await response.body?.cancel()
    outgoing.end()
    return
  }
  await writeBody(response.body, incoming, outgoing)
}

function toUrl(incoming: IncomingMessage, origin: string) {
  const target = incoming.url ?? ""
  const [host = "", ...further] = incoming.headersDistinct["host"] ?? []
  if (!/^\/[!-"$-~]*$/.test(target)) throw new Unacceptable(400, "The request target is not a path.")
  if (further.length > 0) throw new Unacceptable(400, "There is more than one Host header.")
  if (!/^[\w.:[\]-]*$/.test(host)) throw new Unacceptable(400, "The Host header is not a host.")
  const address = origin + target
  // A second slash, including one from a backslash, would make a redirect to this path leave the
  // site.
  if (!URL.canParse(address) || new URL(address).pathname.startsWith("//")) {
    throw new Unacceptable(400, "The request target is not a path.")
  }
  return address
}

/** A final response before the connection closes. The client has a few seconds to read it. */
export function refuseConnection(status: string, socket: Socket) {
  const headers = [
    "Connection: close",
    "Content-Length: 0",
    "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options: nosniff",
  ]
  socket.end(`HTTP/1.1 ${status}\r\n${headers.join("\r\n")}\r\n\r\n`)
  const timer = setTimeout(() => socket.destroy(), 5_000)
  socket.once("close", () => clearTimeout(timer))
}

/**
 * Cancelling leaves the connection open: destroying it, as Node's own conversion does, would lose a
 * refusal in transit. A client that is still sending after its response may continue for a few
 * seconds; then the connection ends.
 */
function readBody(incoming: IncomingMessage, outgoing: ServerResponse) {
  const ignoreData = () => {
    incoming.removeAllListeners("data")
    incoming.removeAllListeners("end")
    incoming.resume()
  }
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        incoming.pause()
        incoming.on("data", (chunk: Buffer) => {
          controller.enqueue(offerMemory(new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength)))
          if ((controller.desiredSize ?? 0) <= 0) incoming.pause()
        })
        incoming.once("end", () => controller.close())
        watchSlowBody(incoming, () => {
          if (outgoing.headersSent) {
            incoming.socket.destroy()
            return
          }
          // The response bypasses `outgoing`, as Node's own response to a timed-out request does;
          // the log reads it there.
          outgoing.statusCode = 408
          refuseConnection("408 Request Timeout", incoming.socket)
        })
        incoming.once("error", (error) => controller.error(error))
        incoming.once("close", () => {
          if (!incoming.complete)
            controller.error(new Error("The client disconnected before its request was complete."))
        })
        outgoing.once("finish", () => {
          if (incoming.complete) return
          controller.error(new Error("The response was sent before the request was read."))
          ignoreData()
          const timer = setTimeout(() => incoming.socket.destroy(), 5_000)
          incoming.once("close", () => clearTimeout(timer))
        })
      },
      pull() {
        incoming.resume()
      },
      cancel: ignoreData,
    },
    { highWaterMark: 256 * 1024, size: (chunk) => chunk.byteLength },
  )
}
