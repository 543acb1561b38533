import type { Server } from "node:net"

/** The port of a listening server. */
export function portOf(server: Server): number {
  const address = server.address()
  if (address === null || typeof address === "string")
    throw new Error("The server is not listening on a port.")
  return address.port
}
