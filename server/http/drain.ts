import type { Server, ServerResponse } from "node:http"
import type { Socket } from "node:net"

/**
 * Watches the server's connections from now on. The returned `drain` takes no new ones and resolves when the running responses
 * are finished; those that take longer than `patience` milliseconds are cut. Connections that were upgraded are left to their owner.
 */
export function prepareDrain(server: Server): (patience: number) => Promise<void> {
  // Node's own closeIdleConnections passes over those that have not carried a request yet, and browsers open such in advance.
  const running = new Map<Socket, Set<ServerResponse>>()
  const drained = Promise.withResolvers<void>()
  const forget = (socket: Socket) => {
    running.delete(socket)
    if (running.size === 0 && !server.listening) drained.resolve()
  }

  server.on("connection", (socket) => {
    running.set(socket, new Set())
    socket.once("close", () => forget(socket))
  })
  server.on("request", ({ socket }, outgoing) => {
    const responses = running.get(socket)?.add(outgoing)
    if (!server.listening) outgoing.setHeader("connection", "close")
    outgoing.once("close", () => {
      responses?.delete(outgoing)
      if (responses?.size === 0 && !server.listening) socket.destroySoon()
    })
  })
  server.on("upgrade", ({ socket }) => forget(socket))

  return async (patience) => {
    const impatience = setTimeout(() => server.closeAllConnections(), patience)
    server.close()
    for (const [socket, responses] of running) {
      if (responses.size === 0) socket.destroySoon()
      for (const outgoing of responses) {
        if (!outgoing.headersSent) outgoing.setHeader("connection", "close")
      }
    }
    if (running.size > 0) await drained.promise
    clearTimeout(impatience)
  }
}
