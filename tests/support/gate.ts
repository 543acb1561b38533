import { once } from "node:events"
import { connect, createServer, type Socket } from "node:net"
import { joinSockets } from "./join-sockets.ts"
import { portOf } from "./port-of.ts"

export interface Gate {
  origin: string
  leadTo(port: number): void
  /** Every connection breaks off, and none is taken, until it is opened. */
  shut(): void
  open(): void
  close(): Promise<void>
}

/** The network between a browser and a server: it can be taken away. */
export async function openGate(): Promise<Gate> {
  const passing = new Set<Socket>()
  let port = 0
  let isOpen = true
  const server = createServer((coming) => {
    if (!isOpen) return coming.destroy()
    const going = connect(port, "127.0.0.1")
    joinSockets(coming, going, passing)
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  const breakOff = () => {
    for (const socket of passing) socket.destroy()
  }
  return {
    origin: `http://localhost:${portOf(server)}`,
    leadTo: (to) => void (port = to),
    shut() {
      isOpen = false
      breakOff()
    },
    open: () => void (isOpen = true),
    async close() {
      breakOff()
      server.close()
      await once(server, "close")
    },
  }
}
