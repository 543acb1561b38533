import type { Server, ServerResponse } from "node:http"
import type { Socket } from "node:net"

export interface Drain {
  /**
   * From now on each connection ends with its next response; a client with persistent connections
   * connects elsewhere.
   */
  begin(): void
  /**
   * Accepts no new connections and resolves when the running responses are finished; those that
   * take longer than `timeout` milliseconds are cut off.
   */
  finish(timeout: number): Promise<void>
}

/** Tracks the server's connections from now on. Upgraded ones are left to their owner. */
export function prepareDrain(server: Server): Drain {
  // Node's own closeIdleConnections skips connections that have not carried a request yet, and
  // browsers open such in advance.
  const running = new Map<Socket, Set<ServerResponse>>()
  const drained = Promise.withResolvers<void>()
  let hasBegun = false
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
    if (hasBegun) outgoing.setHeader("connection", "close")
    outgoing.once("close", () => {
      responses?.delete(outgoing)
      if (responses?.size === 0 && !server.listening) socket.destroySoon()
    })
  })
  server.on("upgrade", ({ socket }) => forget(socket))

  function begin() {
    hasBegun = true
    for (const responses of running.values()) {
      for (const outgoing of responses) {
        if (!outgoing.headersSent) outgoing.setHeader("connection", "close")
      }
    }
  }

  return {
    begin,
    async finish(timeout) {
      begin()
      const timer = setTimeout(() => server.closeAllConnections(), timeout)
      server.close()
      for (const [socket, responses] of running) if (responses.size === 0) socket.destroySoon()
      if (running.size > 0) await drained.promise
      clearTimeout(timer)
    },
  }
}
