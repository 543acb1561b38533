import { connect } from "node:net"
import { setTimeout as pause } from "node:timers/promises"

/** Resolves once a server accepts connections on this port. */
export async function listening(port: number): Promise<void> {
  while (!(await accepts(port))) await pause(20)
}

function accepts(port: number): Promise<boolean> {
  return new Promise((answer) => {
    const socket = connect(port, "127.0.0.1")
    socket.on("connect", () => answer(true))
    socket.on("error", () => answer(false))
    socket.on("close", () => answer(false))
    socket.on("connect", () => socket.destroy())
  })
}
