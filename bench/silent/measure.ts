import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import postgres from "postgres"
import { startEmbeddedPostgres } from "#db/embedded/postgres.ts"
import { printTable, show } from "../print.ts"
import { openTideline } from "../realtime/candidates/tideline.ts"
import { converse, PATHS } from "../realtime/client/conversation.ts"
import { openLightSocket } from "../realtime/client/light-socket.ts"
import { SCHEMA, SHARED_ROOM } from "../realtime/notes.ts"
import { describeMachine } from "../results.ts"

/** Bytes per row. Each write inserts a row, so that changes can't be merged. */
const BODY = 50_000
/** Writes per second, and their number. The last rate exceeds what one connection can write. */
const RATES = [20, 100, 400, 10_000]
const WRITES = 400
const SHORT_WRITES = 200

interface Measure {
  /** The measured rate in MB per second. */
  rate: number
  /** The highest `outbox_bytes`, in MB. */
  most: number
  resets: number
}

/**
 * Measures the most memory that one client can cost if it follows a table and never acknowledges,
 * at several write rates.
 */
export async function measureSilent({ short }: { short: boolean }): Promise<object> {
  const machine = describeMachine()
  const directory = mkdtempSync(join(tmpdir(), "tideline-bench-"))
  const cluster = await startEmbeddedPostgres({ directory })
  const sql = postgres(cluster.url, { onnotice() {} })
  try {
    await sql.unsafe(SCHEMA)
    const server = createServer()
    const realtime = await openTideline(cluster.url, server)
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    const address = server.address()
    if (address === null || typeof address === "string") throw new Error("The server has no port.")
    const measured: Measure[] = []
    for (const perSecond of RATES) {
      const silent = await openSilent(address.port)
      measured.push(await measureRate(sql, realtime, perSecond, short ? SHORT_WRITES : WRITES))
      silent.destroy()
      await sql`delete from notes`
    }
    await realtime.close()
    server.close()
    printTable(
      ["MB written per second", "most MB for the silent client", "resets"],
      measured.map(({ rate, most, resets }) => [show(rate), show(most), String(resets)]),
    )
    return { machine, measured }
  } finally {
    await sql.end()
    await cluster.stop()
    rmSync(directory, { recursive: true, force: true })
  }
}

async function measureRate(
  sql: postgres.Sql,
  realtime: Awaited<ReturnType<typeof openTideline>>,
  perSecond: number,
  writes: number,
): Promise<Measure> {
  let most = 0
  const resetsBefore = Number(realtime.metrics()["resets_slow"] ?? 0)
  const timer = setInterval(() => {
    most = Math.max(most, Number(realtime.metrics()["outbox_bytes"]))
  }, 2)
  const begun = performance.now()
  for (let write = 0; write < writes; write++) {
    await sql`insert into notes (_id, room, author, body, _creation_time)
      values (${`${perSecond} ${write}`}, ${SHARED_ROOM}, 'ada', ${"x".repeat(BODY)}, 0)`
    await pause(Math.max(0, begun + ((write + 1) / perSecond) * 1000 - performance.now()))
  }
  const seconds = (performance.now() - begun) / 1000
  // The server checks each client once a second.
  await pause(2000)
  clearInterval(timer)
  const resets = Number(realtime.metrics()["resets_slow"] ?? 0) - resetsBefore
  return { rate: (writes * BODY) / seconds / 1e6, most: most / 1e6, resets }
}

/** Subscribes, then reads messages without ever acknowledging them. */
async function openSilent(port: number) {
  const joined = Promise.withResolvers<void>()
  const socket = openLightSocket(port, PATHS.tideline, {
    opened: () => conversation.opened(),
    text: (text) => conversation.text(text),
    closed() {},
  })
  const conversation = converse("tideline", "silent", {
    send: (text) => {
      if (!text.includes("acknowledge")) socket.send(text)
    },
    ready: () => conversation.join(SHARED_ROOM),
    joined: joined.resolve,
    note() {},
  })
  await joined.promise
  return socket
}
