import type { Server } from "node:http"
import type { Socket } from "node:net"

export interface Connections {
  /** Those that are open, sockets of the live connection included. */
  open(): number
  /** Those whose next request has not come as a whole yet. */
  waiting(): number
  /** How many were ended to make room, or refused, since the start. */
  refused(): Record<"address" | "full", number>
}

export interface ConnectionLimits {
  /** Together. */
  most: number
  /** From one network address: an office shares one. Null where that is a proxy's, which then has to count. */
  perAddress: number | null
}

/**
 * Bounds the server's connections. Where there are too many, a new one takes the place of the one that has waited longest for its
 * request, so that whoever opens connections and says nothing keeps nobody else out.
 */
export function limitConnections(server: Server, { most, perAddress }: ConnectionLimits): Connections {
  const waiting = new Set<Socket>()
  const fromAddress = new Map<string, number>()
  const refused = { address: 0, full: 0 }
  let open = 0

  server.on("connection", (socket) => {
    if (perAddress !== null && !countAddress(socket, perAddress)) {
      refused.address++
      socket.destroy()
      return
    }
    if (open >= most) {
      const [longest] = waiting
      refused.full++
      ;(longest ?? socket).destroy()
      if (!longest) return
      waiting.delete(longest)
    }
    open++
    waiting.add(socket)
    socket.once("close", () => {
      open--
      waiting.delete(socket)
    })
  })
  server.on("request", ({ socket }, outgoing) => {
    waiting.delete(socket)
    outgoing.once("close", () => {
      if (!socket.destroyed) waiting.add(socket)
    })
  })
  server.on("upgrade", ({ socket }) => waiting.delete(socket))

  return { open: () => open, waiting: () => waiting.size, refused: () => ({ ...refused }) }

  function countAddress(socket: Socket, limit: number): boolean {
    const network = networkOf(socket.remoteAddress ?? "")
    const count = fromAddress.get(network) ?? 0
    if (count >= limit) return false
    fromAddress.set(network, count + 1)
    socket.once("close", () => {
      const left = (fromAddress.get(network) ?? 1) - 1
      if (left > 0) fromAddress.set(network, left)
      else fromAddress.delete(network)
    })
    return true
  }
}

/** What one household or one host has of addresses: one of IPv4, the first half of one of IPv6. */
export function networkOf(address: string): string {
  if (!address.includes(":") || address.startsWith("::ffff:")) return address
  const [before = "", after] = address.split("::")
  const head = before.split(":")
  const tail = after?.split(":").filter(Boolean) ?? []
  const zeros = Array.from({ length: after === undefined ? 0 : 8 - head.length - tail.length }, () => "0")
  return [...head, ...zeros, ...tail].slice(0, 4).join(":")
}

/** Descriptors that the process needs for all else: the database, files on their way, its own. */
const SPARE_FILES = 1000

/** As many connections as the system's limit of open files leaves room for, and `wanted` at most. */
export function affordableConnections(wanted: number): number {
  // Without this it asks the name service about every connection; Node's types do not know it.
  Object.assign(process.report, { excludeNetwork: true })
  const report = process.report.getReport() as { userLimits?: { open_files?: { soft?: unknown } } }
  const files = Number(report.userLimits?.open_files?.soft)
  if (!Number.isFinite(files)) return wanted
  return Math.min(wanted, Math.max(files - SPARE_FILES, Math.floor(files / 2)))
}
