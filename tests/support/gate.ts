import { once } from "node:events"
import { connect, createServer, type Socket } from "node:net"
import { joinSockets } from "#server/commands/cluster/join-sockets.ts"
import { portOf } from "./port-of.ts"

export interface Gate {
  origin: string
  leadTo(port: number): void
  /** Breaks every connection and accepts none until it is opened. */
  shut(): void
  /**
   * Forwards nothing any more and tells neither side: connections stay open, and new ones are
   * accepted. Opening it breaks them.
   */
  swallow(): void
  open(): void
  close(): Promise<void>
}

/** The network between a browser and a server, which a test can interrupt. */
export async function openGate(): Promise<Gate> {
  const passing = new Set<Socket>()
  let port = 0
  let state: "open" | "shut" | "swallowing" = "open"
  const server = createServer((coming) => {
    if (state === "shut") return coming.destroy()
    if (state === "swallowing") return silence(coming.on("error", () => {}))
    const going = connect(port, "127.0.0.1")
    joinSockets(coming, going, passing)
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  const silence = (socket: Socket) => {
    passing.add(socket)
    // Read and discarded, so that the sender sees its bytes accepted.
    socket.unpipe().resume()
  }
  const breakOff = () => {
    for (const socket of passing) socket.destroy()
  }
  return {
    origin: `http://localhost:${portOf(server)}`,
    leadTo: (to) => void (port = to),
    shut() {
      state = "shut"
      breakOff()
    },
    swallow() {
      state = "swallowing"
      for (const socket of passing) silence(socket)
    },
    open() {
      // The other end has given up on these connections by now, and resets them on the next packet.
      if (state === "swallowing") breakOff()
      state = "open"
    },
    async close() {
      breakOff()
      server.close()
      await once(server, "close")
    },
  }
}
