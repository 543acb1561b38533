import type { Server } from "node:http"
import { Server as SocketServer } from "socket.io"

/** socket.io that only accepts connections: the cost of a connection that does nothing. */
export function openBare(_databaseUrl: string, server: Server): void {
  const io = new SocketServer({ transports: ["websocket"] })
  io.attach(server)
}
