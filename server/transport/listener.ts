import { randomUUID } from "node:crypto"
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { isRefusal } from "#server/errors.ts"
import type { Log } from "#server/log.ts"
import type { Tracing } from "#server/ports/tracing.ts"
import { refuseConnection, sendResponse, toRequest, Unacceptable } from "./bridge.ts"
import { loggedPath } from "./logged-path.ts"
import { createNonce } from "./nonce.ts"
import { refusalBody } from "./refusals.ts"
import { createSecurityHeaders, type Site } from "./security-headers.ts"
import { endStalledResponse } from "./slow-clients.ts"

/** Facts about a request besides itself. */
export interface Exchange {
  incoming: IncomingMessage
  outgoing: ServerResponse
  /** The one in the response's content security policy. */
  nonce: string
  /** As in the log and in the response's header `x-request-id`. */
  requestId: string
  /** The matched route's pattern, not the URL; null until it is known. */
  counted: { route: string | null }
}

/** One response, complete or broken off. */
export interface RespondedRequest {
  method: string
  route: string
  status: number
  milliseconds: number
}

/** Handles a request with a response. */
export type Handle = (request: Request, exchange: Exchange) => Promise<Response>

/** The sources of responses. */
export interface Front {
  handle: Handle
  /** Sends a file and returns true if the request is for one. */
  serveFile: (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<boolean>
  /** Sends a cached page and returns the pattern of its route, if the request is for one. */
  sendPage: (incoming: IncomingMessage, outgoing: ServerResponse, nonce: string) => string | null
  close: () => Promise<void>
}

/** An upload may take this long. Milliseconds. */
const LONGEST_REQUEST = 60 * 60 * 1000

/** The one HTTP server of the process, with its limits; it has no handler yet. */
export function createHttpServer(): Server {
  const server = createServer({
    headersTimeout: 15_000,
    connectionsCheckingInterval: 5000,
    requestTimeout: LONGEST_REQUEST,
    keepAliveTimeout: 65_000, // longer than a proxy keeps its connections, so that it never picks one that we just closed
    maxHeaderSize: 16 * 1024,
  })
  server.on("clientError", refuseUnreadable)
  return server
}

/**
 * Handles every request with `front`. None can end the process: a request that fails gets a status
 * or a closed connection.
 */
export function serveRequests(
  server: Server,
  {
    config,
    log,
    front,
    tracing = null,
    answered = () => {},
    refuseIfClosed = () => null,
  }: {
    config: Site
    log: Log
    front: Front
    tracing?: Tracing | null
    answered?: (answer: RespondedRequest) => void
    /** The response for some requests instead of anything else. */
    refuseIfClosed?: (incoming: IncomingMessage, nonce: string) => Response | null
  },
) {
  const securityHeaders = createSecurityHeaders(config)
  // Redaction costs as much as the line itself, and it has no field to redact.
  const requests = log.child({}, { redact: [] })
  server.on("request", (incoming, outgoing) => {
    const counted: Exchange["counted"] = { route: null }
    const answering = tracing
      ? tracing.request(
          incoming,
          outgoing,
          () => counted.route,
          () => answer(incoming, outgoing, counted),
        )
      : answer(incoming, outgoing, counted)
    answering.catch((error: unknown) => {
      refuse(outgoing, error, log)
    })
  })

  async function answer(incoming: IncomingMessage, outgoing: ServerResponse, counted: Exchange["counted"]) {
    const nonce = createNonce()
    const requestId = randomUUID()
    outgoing.setHeader("x-request-id", requestId)
    // A body that ends too early would keep its client waiting for the rest.
    outgoing.strictContentLength = true
    for (const [name, value] of securityHeaders(nonce)) outgoing.setHeader(name, value)
    tellWhenDone(incoming, outgoing, counted)
    endStalledResponse(outgoing)
    const refusal = refuseIfClosed(incoming, nonce)
    if (!refusal) counted.route = front.sendPage(incoming, outgoing, nonce)
    if (counted.route !== null) return
    const request = toRequest(incoming, outgoing, config.origin)
    counted.route = "file"
    if (await front.serveFile(incoming, outgoing)) return
    counted.route = null
    if (refusal) return sendResponse(refusal, incoming, outgoing)
    const exchange = { incoming, outgoing, nonce, requestId, counted }
    await sendResponse(await front.handle(request, exchange), incoming, outgoing)
  }

  function tellWhenDone(incoming: IncomingMessage, outgoing: ServerResponse, counted: Exchange["counted"]) {
    const begun = performance.now()
    outgoing.on("close", () => {
      const milliseconds = performance.now() - begun
      const { method = "" } = incoming
      answered({ method, route: counted.route ?? "none", status: outgoing.statusCode, milliseconds })
      logResponse(incoming, outgoing, milliseconds, requests)
    })
  }
}

function logResponse(incoming: IncomingMessage, outgoing: ServerResponse, milliseconds: number, log: Log) {
  log.info(
    {
      requestId: outgoing.getHeader("x-request-id"),
      method: incoming.method,
      path: loggedPath(incoming.url ?? ""),
      status: outgoing.statusCode,
      complete: outgoing.writableFinished,
      milliseconds: Math.round(milliseconds),
    },
    "request",
  )
}

/** Headers that say what a refusal is not. */
const OF_A_BODY = [
  "accept-ranges",
  "cache-control",
  "content-disposition",
  "content-encoding",
  "content-length",
  "content-range",
  "etag",
]

function refuse(outgoing: ServerResponse, error: unknown, log: Log) {
  const { status, body } = describeRefusal(error)
  if (status === 500 && !outgoing.destroyed) log.error({ err: error }, "could not respond to a request")
  if (outgoing.headersSent) return void outgoing.destroy()
  outgoing.statusCode = status
  for (const name of OF_A_BODY) outgoing.removeHeader(name)
  outgoing.setHeader("content-type", "application/json; charset=utf-8")
  outgoing.setHeader("connection", "close")
  outgoing.end(JSON.stringify(body))
}

/** A body can be refused while it is read: its reader may have lost the access since. */
function describeRefusal(error: unknown): { status: number; body: { error: string } } {
  if (isRefusal(error)) return { status: error.status, body: refusalBody(error) }
  if (error instanceof Unacceptable) return { status: error.status, body: { error: error.message } }
  return { status: 500, body: { error: "Internal server error" } }
}

const REFUSALS: Record<string, string> = {
  HPE_HEADER_OVERFLOW: "431 Request Header Fields Too Large",
  ERR_HTTP_REQUEST_TIMEOUT: "408 Request Timeout",
}

/** For what Node could not parse as a request. */
function refuseUnreadable(error: NodeJS.ErrnoException, socket: Socket) {
  if (!socket.writable || error.code === "ECONNRESET") return void socket.destroy()
  refuseConnection(REFUSALS[error.code ?? ""] ?? "400 Bad Request", socket)
}
