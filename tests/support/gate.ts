import { once } from "node:events"
import { connect, createServer, type Socket } from "node:net"
import { joinSockets } from "./join-sockets.ts"
import { portOf } from "./port-of.ts"

export interface Gate {
  origin: string
  leadTo(port: number): void
  /** Every connection breaks off, and none is taken, until it is opened. */
  shut(): void
  /**
   * Nothing passes any more, and nobody is told: connections stay, and further ones are taken. When
   * it is opened they break off.
   */
  swallow(): void
  open(): void
  close(): Promise<void>
}

/** The network between a browser and a server: it can be taken away. */
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
    // Read, so that the sender sees it taken, and given to nobody.
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
      // The other end has given up what it heard nothing of, and says so to anyone who sends there
      // again.
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
