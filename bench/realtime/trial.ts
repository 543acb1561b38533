import { join } from "node:path"
import postgres from "postgres"
import { dropDatabase } from "../../tests/support/drop-database.ts"
import type { Figures } from "../medians.ts"
import { startProgram } from "../program.ts"
import { percentile } from "../statistics.ts"
import type { Way } from "./client/conversation.ts"
import type { CrowdCommands } from "./crowd.ts"
import { SCHEMA } from "./notes.ts"
import type { Candidate, ServerCommands } from "./server.ts"
import type { WriterCommands } from "./writer.ts"

export interface Durations {
  /** The number of writes at 1/s. */
  slowWrites: number
  /** Seconds at each faster rate. */
  seconds: number
  broadcasts: number
}

/** Slow enough that each broadcast ends before the next. */
const SHARED_PER_SECOND = 1

/**
 * Enough writes for V8 to compile the delivery path, as it has in a server that has been up for a
 * minute.
 */
const WARMING = 8000

/** Starts a database, a server, a writer and a crowd, and stops them after `work`. */
export async function withTrial<Value>(
  cluster: string,
  candidate: Candidate,
  work: (trial: Trial) => Promise<Value>,
): Promise<Value> {
  const database = await createDatabase(cluster, `bench_${candidate}`)
  const server = startProgram<ServerCommands>(program("server.ts"), [candidate, database.url])
  const port = await server.ask("port")
  const crowd = startProgram<CrowdCommands>(program("crowd.ts"), [candidate, String(port)])
  const writer = startProgram<WriterCommands>(program("writer.ts"), [database.url])
  try {
    return await work({ server, crowd, writer })
  } finally {
    await Promise.all([crowd.stop(), writer.stop()])
    await server.stop()
    await database.drop()
  }
}

export interface Trial {
  server: ReturnType<typeof startProgram<ServerCommands>>
  crowd: ReturnType<typeof startProgram<CrowdCommands>>
  writer: ReturnType<typeof startProgram<WriterCommands>>
}

/** Warms up connections, prepared statements and the JIT before anything is counted. */
export async function warmUp({ crowd, writer }: Trial, sockets: number): Promise<void> {
  await writer.ask("write", WARMING, WARMING / 2, sockets)
  await crowd.ask("receipts", WARMING)
}

/** Measures the time from commit to callback for writes at a steady rate. */
export async function measureRate(
  { server, crowd, writer }: Trial,
  perSecond: number,
  sockets: number,
  durations: Durations,
): Promise<Figures> {
  const count = perSecond === 1 ? durations.slowWrites : Math.round(perSecond * durations.seconds)
  await server.ask("startCpu")
  const write = await writer.ask("write", count, perSecond, sockets)
  const cpu = await server.ask("readCpu")
  const { numbers, times } = await crowd.ask("receipts", count)
  const latencies = times.map(
    (time, index) => time - (write.committed[(numbers[index] ?? 0) - write.first] ?? 0),
  )
  return {
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
    cpu: cpu.share * 100,
    achieved: write.perSecond,
    missed: count - numbers.length,
  }
}

/** Has every client follow the shared room, and waits until each has received a message from it. */
export async function joinShared(
  { crowd, writer }: Trial,
  sockets: number,
  way: Way = "inRoom",
): Promise<void> {
  await crowd.ask("joinShared", way)
  await writer.ask("writeShared", 2, SHARED_PER_SECOND)
  await crowd.ask("receipts", 2 * sockets)
}

/**
 * Measures a commit that every client receives: the time until the last client has it, and how long
 * the server's event loop was blocked.
 */
export async function measureBroadcast(
  { server, crowd, writer }: Trial,
  sockets: number,
  durations: Durations,
): Promise<Figures> {
  await server.ask("startLoop")
  await server.ask("startCpu")
  const write = await writer.ask("writeShared", durations.broadcasts, SHARED_PER_SECOND)
  const { numbers, times } = await crowd.ask("receipts", durations.broadcasts * sockets)
  const blocked = await server.ask("readLoop")
  const cpu = await server.ask("readCpu")
  const last = new Float64Array(durations.broadcasts)
  for (const [index, number] of numbers.entries()) {
    const broadcast = number - write.first
    const after = (times[index] ?? 0) - (write.committed[broadcast] ?? 0)
    last[broadcast] = Math.max(last[broadcast] ?? 0, after)
  }
  return {
    toLast: percentile(last, 0.5),
    blocked,
    cpuMs: cpu.ms / durations.broadcasts,
    missed: durations.broadcasts * sockets - numbers.length,
  }
}

/**
 * The resident memory in KiB that an idle connection adds to the server, as measured and with
 * reserves released. Each follows a room of its own, and the shared one in the other ways.
 */
export async function measureMemory(
  { server, crowd }: Trial,
  sockets: number,
  also: readonly Way[] = [],
): Promise<Figures> {
  await crowd.ask("open", 200, also)
  await crowd.ask("closeAll")
  const empty = await server.ask("memory")
  const leastEmpty = await server.ask("leastMemory")
  await crowd.ask("open", sockets, also)
  const full = await server.ask("memory")
  const leastFull = await server.ask("leastMemory")
  return { perSocket: (full - empty) / sockets / 1024, atLeast: (leastFull - leastEmpty) / sockets / 1024 }
}

/** Has all clients lose their connections and reconnect simultaneously. */
export async function measureReconnect({ crowd }: Trial, resuming: boolean): Promise<Figures> {
  const after = await crowd.ask("reconnect", resuming)
  return { toHalf: percentile(after, 0.5), toLast: percentile(after, 1) }
}

function program(name: string): string {
  return join(import.meta.dirname, name)
}

async function createDatabase(cluster: string, name: string) {
  const admin = postgres(cluster, { max: 1, onnotice() {} })
  await admin`create database ${admin(name)}`
  const address = new URL(cluster)
  address.pathname = `/${name}`
  const sql = postgres(address.href, { max: 1, onnotice() {} })
  await sql.unsafe(SCHEMA)
  await sql.end()
  return {
    url: address.href,
    async drop() {
      await dropDatabase(admin, name)
      await admin.end()
    },
  }
}
