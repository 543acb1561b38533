import { once } from "node:events"
import type { Server, ServerResponse } from "node:http"
import type { Socket } from "node:net"

/**
 * Watches the server's connections from now on. The returned `drain` takes no new ones and lets running responses finish;
 * those that take longer than `patience` milliseconds are cut. Connections that were upgraded are their owner's to close.
 */
export function prepareDrain(server: Server): (patience: number) => Promise<void> {
  // Node's own closeIdleConnections passes over those that have not carried a request yet, and browsers open such in advance.
  const running = new Map<Socket, Set<ServerResponse>>()

  server.on("connection", (socket) => {
    running.set(socket, new Set())
    socket.once("close", () => running.delete(socket))
  })
  server.on("request", ({ socket }, outgoing) => {
    const responses = running.get(socket)?.add(outgoing)
    if (!server.listening) outgoing.setHeader("connection", "close")
    outgoing.once("close", () => {
      responses?.delete(outgoing)
      if (responses?.size === 0 && !server.listening) socket.end()
    })
  })
  server.on("upgrade", ({ socket }) => running.delete(socket))

  return async (patience) => {
    const impatience = setTimeout(() => server.closeAllConnections(), patience)
    const closed = once(server, "close")
    server.close()
    for (const [socket, responses] of running) {
      if (responses.size === 0) socket.end()
      for (const outgoing of responses) {
        if (!outgoing.headersSent) outgoing.setHeader("connection", "close")
      }
    }
    await closed
    clearTimeout(impatience)
  }
}
