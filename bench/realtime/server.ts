import { createServer } from "node:http"
import { setTimeout as pause } from "node:timers/promises"
import { once } from "node:events"
import { monitorEventLoopDelay } from "node:perf_hooks"
import { answerCommands } from "../program.ts"
import { openBare } from "./candidates/bare.ts"
import { openFloor } from "./candidates/floor.ts"
import { openNotify } from "./candidates/notify.ts"
import { openTideline } from "./candidates/tideline.ts"

// Run as a program: one candidate on a port of its own, with the meters that can only be read
// inside its process.

const CANDIDATES = { floor: openFloor, tideline: openTideline, notify: openNotify, bare: openBare }
export type Candidate = keyof typeof CANDIDATES

const [candidate, databaseUrl] = process.argv.slice(2) as [Candidate, string]
const server = createServer((_request, response) => response.end())
await CANDIDATES[candidate](databaseUrl, server)
// Thousands of clients connect simultaneously. With the default backlog of 511 the kernel would
// drop connections, and each would retry a second later.
server.listen({ port: 0, host: "127.0.0.1", backlog: 4096 })
await once(server, "listening")

const LOOP_RESOLUTION_MS = 1
let cpuBefore = process.cpuUsage()
let cpuSince = performance.now()
let loop = monitorEventLoopDelay({ resolution: LOOP_RESOLUTION_MS })

const commands = {
  port() {
    const address = server.address()
    if (address === null || typeof address === "string") throw new Error("The server has no port.")
    return address.port
  },
  /** Resident memory in bytes after a garbage collection. */
  memory: () => residentAfter({ type: "major", execution: "sync" }),
  /**
   * The same once V8 has also released the memory it reserves for new objects, as it does when
   * memory is scarce.
   */
  leastMemory: () => residentAfter({ type: "major", execution: "sync", flavor: "last-resort" }),
  startCpu() {
    cpuBefore = process.cpuUsage()
    cpuSince = performance.now()
  },
  /** CPU time since `startCpu`, as a share of one core. */
  readCpu() {
    const { user, system } = process.cpuUsage(cpuBefore)
    const ms = (user + system) / 1000
    return { ms, share: ms / (performance.now() - cpuSince) }
  },
  startLoop() {
    loop = monitorEventLoopDelay({ resolution: LOOP_RESOLUTION_MS })
    loop.enable()
  },
  /**
   * The longest time that the event loop was blocked since `startLoop`, in ms: the largest delay of
   * a 1 ms timer.
   */
  readLoop() {
    loop.disable()
    return Math.max(0, loop.max / 1e6 - LOOP_RESOLUTION_MS)
  },
}
export type ServerCommands = typeof commands

answerCommands(commands)

async function residentAfter(collection: NodeJS.GCOptions): Promise<number> {
  for (let round = 0; round < 3; round++) {
    globalThis.gc?.(collection)
    await pause(100)
  }
  return process.memoryUsage().rss
}
