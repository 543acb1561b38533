import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { Server as SocketServer } from "node:net"
import { SMTPServer, type SMTPServerDataStream } from "smtp-server"
import { openInboxStore, type InboxStore } from "./local-inbox-store.ts"
import { inboxPage, messagePage, sandboxedHtml } from "./local-inbox-pages.ts"

interface LocalInboxOptions {
  /** The address on which the web pages listen: loopback, unless other means keep others out. */
  host?: string
  /** The port of the web pages; 0 means any free port. */
  port: number
  /** The folder of the messages. */
  directory: string
}

const LOOPBACK = "127.0.0.1"

/** Bytes. */
const LARGEST_MESSAGE = 5 * 1024 * 1024

/**
 * An SMTP server on loopback, and pages that show what it received: no email leaves this machine.
 * If the pages' port is taken, a free one is used and `movedFrom` gives the configured one.
 */
export async function openLocalInbox({ host = LOOPBACK, port, directory }: LocalInboxOptions) {
  const store = await openInboxStore(directory)
  const smtp = new SMTPServer({
    disabledCommands: ["AUTH", "STARTTLS"],
    size: LARGEST_MESSAGE,
    logger: false,
    onData: (stream, _session, answer) => {
      receive(stream, store).then(
        (id) => answer(null, `Kept as ${id}`),
        (error: Error) => answer(error),
      )
    },
  })
  smtp.on("error", () => {}) // a client that disconnects midway is not an error
  await listen(smtp.server, LOOPBACK, 0)

  const web = createServer((request, response) => {
    answerPage(request, response, store).catch(() => response.destroy())
  })
  const moved = await listen(web, host, port).then(
    () => false,
    async (error: NodeJS.ErrnoException) => {
      if (error.code !== "EADDRINUSE") throw error
      await listen(web, host, 0)
      return true
    },
  )
  return {
    url: `http://${LOOPBACK}:${portOf(web)}`,
    smtpUrl: `smtp://${LOOPBACK}:${portOf(smtp.server)}`,
    movedFrom: moved ? port : null,
    close: async () => {
      web.closeAllConnections()
      await Promise.all([
        new Promise<void>((resolve) => web.close(() => resolve())),
        new Promise<void>((resolve) => smtp.close(() => resolve())),
      ])
    },
  }
}

async function receive(stream: SMTPServerDataStream, store: InboxStore): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) if (Buffer.isBuffer(chunk) && !stream.sizeExceeded) chunks.push(chunk)
  if (stream.sizeExceeded) {
    throw Object.assign(new Error(`Messages can have at most ${LARGEST_MESSAGE} bytes`), {
      responseCode: 552,
    })
  }
  return store.keep(Buffer.concat(chunks))
}

async function answerPage(request: IncomingMessage, response: ServerResponse, store: InboxStore) {
  // A foreign page can let its own host name point to 127.0.0.1. Emails contain reset links, so
  // only our own host names are served.
  const host = request.headers.host?.replace(/:\d+$/, "")
  if (host !== "localhost" && host !== LOOPBACK)
    return send(response, 403, "text/plain", "Open the inbox as localhost.")
  if (request.method !== "GET" && request.method !== "HEAD") {
    response.setHeader("Allow", "GET, HEAD")
    return send(response, 405, "text/plain", "The inbox can only be read.")
  }

  const path = request.url?.split("?", 1)[0] ?? "/"
  if (path === "/") return send(response, 200, "text/html", inboxPage(store.list()))
  if (path === "/api/messages") return send(response, 200, "application/json", JSON.stringify(store.list()))

  const [, area, id = "", part = ""] =
    /^\/(messages|api\/messages)\/([\w-]+)(?:\/(html|source))?$/.exec(path) ?? []
  const message = area && (await store.read(id))
  if (!message) return send(response, 404, "text/plain", "There is no such message.")
  if (area === "api/messages") return send(response, 200, "application/json", JSON.stringify(message))
  if (part === "source") return send(response, 200, "text/plain", message.source)
  if (part === "html") return send(response, 200, "text/html", sandboxedHtml(message.html ?? ""), SANDBOX)
  return send(response, 200, "text/html", messagePage(store.list(), message))
}

const OUR_PAGES =
  "default-src 'none'; style-src 'unsafe-inline'; frame-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

/** For an email, which is shown in a frame of our page. */
const SANDBOX =
  "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'; base-uri 'none'; form-action 'none'"

function send(response: ServerResponse, status: number, type: string, body: string, policy = OUR_PAGES) {
  response
    .writeHead(status, {
      "Content-Type": `${type}; charset=utf-8`,
      "Content-Security-Policy": policy,
      "X-Content-Type-Options": "nosniff",
      "X-Frame-Options": policy === SANDBOX ? "SAMEORIGIN" : "DENY",
      "Cross-Origin-Opener-Policy": "same-origin",
      "Cross-Origin-Resource-Policy": "same-origin",
      "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
      "Referrer-Policy": "no-referrer",
      "Cache-Control": "no-store",
    })
    .end(body)
}

function listen(server: Server | SocketServer, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject)
    server.listen(port, host, () => {
      server.off("error", reject)
      resolve()
    })
  })
}

function portOf(server: Server | SocketServer): number {
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("The local inbox is not listening.")
  return address.port
}
