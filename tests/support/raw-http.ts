import { once } from "node:events"
import { connect, type Socket } from "node:net"

export async function openConnection(port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1")
  await once(socket, "connect")
  return socket
}

/**
 * Sends the bytes, ends our side of the connection, and reads until the server ends its side.
 * Resolves with the response as text.
 */
export async function exchange(port: number, bytes: string | Uint8Array): Promise<string> {
  const socket = await openConnection(port)
  socket.end(bytes)
  return readAll(socket)
}

/** Reads until the connection ends or breaks. */
export function readAll(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    let text = ""
    socket.on("data", (chunk) => (text += chunk.toString("latin1")))
    socket.on("error", () => {})
    socket.on("close", () => resolve(text))
  })
}

/** The status of each response, in order. */
export function statusesOf(text: string): number[] {
  return [...text.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map(([, status]) => Number(status))
}
