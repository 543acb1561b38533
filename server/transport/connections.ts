import type { Server } from "node:http"
import type { Socket } from "node:net"
import { networkOf, type TrustsProxy } from "./client-address.ts"

export interface Connections {
  /** Open connections, live ones included. */
  open(): number
  /** Connections whose next request has not arrived completely yet. */
  waiting(): number
  /** How many were closed to free a slot, or refused, since the start. */
  refused(): Record<"address" | "full", number>
}

export interface ConnectionLimits {
  /** Together. */
  most: number
  /** From one network: an office shares one. */
  perAddress: number
  /** Connections from these are not counted by network: a proxy has to do that itself. */
  trustsProxy: TrustsProxy | null
}

/**
 * Connections that are counted together, and those of them that wait for their next request,
 * longest first.
 */
interface Crowd {
  open: number
  waiting: Set<Socket>
}

/** Milliseconds between log lines about too many connections. */
const QUIET = 60_000

const COMPLAINTS = {
  address:
    "one network opens too many connections, and some are ended: if it is a proxy or gateway of yours, set TRUSTED_PROXIES",
  full: "there are too many connections, and some are ended: raise `ulimit -n`, or let a proxy of yours limit them and set TRUSTED_PROXIES",
}

/**
 * Limits the server's connections. At the limit, a new one replaces the one that has been idle
 * longest, so that idle connections keep nobody out.
 */
export function limitConnections(
  server: Server,
  { most, perAddress, trustsProxy }: ConnectionLimits,
  log: { warn(details: object, message: string): void },
): Connections {
  const all: Crowd = { open: 0, waiting: new Set() }
  const networks = new Map<string, Crowd>()
  const crowdsOf = new WeakMap<Socket, Crowd[]>()
  /** Requests of a connection without a response yet: a client may send the next one early. */
  const unanswered = new WeakMap<Socket, number>()
  const refused = { address: 0, full: 0 }
  const warnedAt = { address: -Infinity, full: -Infinity }

  server.on("connection", (socket) => {
    const address = socket.remoteAddress ?? ""
    const network = networkOf(address)
    const neighbours = networks.get(network) ?? { open: 0, waiting: new Set() }
    if (neighbours.open >= perAddress && !trustsProxy?.(address, 0)) {
      if (!evictIdle("address", neighbours, socket, network)) return
    } else if (all.open >= most && !evictIdle("full", all, socket, network)) return
    enter(socket, network, neighbours)
  })
  server.on("request", ({ socket }, outgoing) => {
    unanswered.set(socket, (unanswered.get(socket) ?? 0) + 1)
    leaveWaiting(socket)
    outgoing.once("close", () => {
      const left = (unanswered.get(socket) ?? 1) - 1
      unanswered.set(socket, left)
      if (left > 0 || socket.destroyed) return
      for (const { waiting } of crowdsOf.get(socket) ?? []) waiting.add(socket)
    })
  })
  server.on("upgrade", ({ socket }) => {
    unanswered.set(socket, Infinity)
    leaveWaiting(socket)
  })

  return { open: () => all.open, waiting: () => all.waiting.size, refused: () => ({ ...refused }) }

  /**
   * Closes the connection of a group that has been idle longest. If all are busy it closes the new
   * one, and returns false.
   */
  function evictIdle(reason: keyof typeof refused, { waiting }: Crowd, socket: Socket, network: string) {
    refused[reason]++
    complain(reason, network)
    const [longest] = waiting
    ;(longest ?? socket).destroy()
    if (longest) leaveWaiting(longest)
    return longest !== undefined
  }

  function enter(socket: Socket, network: string, neighbours: Crowd) {
    networks.set(network, neighbours)
    const crowds = [all, neighbours]
    crowdsOf.set(socket, crowds)
    for (const crowd of crowds) {
      crowd.open++
      crowd.waiting.add(socket)
    }
    socket.once("close", () => {
      for (const crowd of crowds) crowd.open--
      leaveWaiting(socket)
      if (neighbours.open === 0) networks.delete(network)
    })
  }

  function leaveWaiting(socket: Socket) {
    for (const { waiting } of crowdsOf.get(socket) ?? []) waiting.delete(socket)
  }

  function complain(reason: keyof typeof refused, network: string) {
    const now = performance.now()
    if (now - warnedAt[reason] < QUIET) return
    warnedAt[reason] = now
    const limit = reason === "address" ? { network, limit: perAddress } : { limit: most }
    log.warn(limit, COMPLAINTS[reason])
  }
}

/**
 * File descriptors that the process needs for everything else: the database, files being sent, its
 * own.
 */
const SPARE_FILES = 1000

/** As many connections as the limit of open files allows, and `wanted` at most. */
export function affordableConnections(wanted: number): number {
  // Without this it queries the name service for every connection; Node's types do not know it.
  Object.assign(process.report, { excludeNetwork: true })
  const report = process.report.getReport() as { userLimits?: { open_files?: { soft?: unknown } } }
  const files = Number(report.userLimits?.open_files?.soft)
  if (!Number.isFinite(files)) return wanted
  return Math.min(wanted, Math.max(files - SPARE_FILES, Math.floor(files / 2)))
}
