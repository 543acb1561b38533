import { once } from "node:events"
import { createServer, type Server } from "node:http"
import { openPostgres } from "#live/check"
import { openRealtime, transactOn } from "#live/open"
import type { RealtimeLimits } from "../../../live/server/limits.ts"
import type { RealtimeOptions } from "../../../live/server/options.ts"
import { portOf } from "../../support/port-of.ts"
import {
  addMessage,
  doNothing,
  fail,
  inOwnThread,
  inThread,
  lengths,
  messages,
  news,
  newest,
  ownThreads,
  ownTyping,
  strict,
  threads,
  typing,
  typingOlder,
  verify,
  type Scope,
  type Viewer,
} from "./tables.ts"

export const ORIGIN = "https://tideline.example"

/** What the engine logged, for tests that expect a complaint and for those that expect none. */
export type LogLine = { level: "info" | "warn" | "error"; details: object; message: string }

/** The engine with the test tables, on a port of its own. */
export async function startEngine(
  databaseUrl: string,
  limits: Partial<RealtimeLimits> = {},
  others: Partial<RealtimeOptions<Viewer, Scope>> = {},
  { waitsForStream = true } = {},
) {
  const lines: LogLine[] = []
  const write = (level: LogLine["level"]) => (details: object, message: string) =>
    void lines.push({ level, details, message })
  const sql = openPostgres(databaseUrl, { max: 10, onnotice: () => {} })
  const realtime = await openRealtime({
    databaseUrl,
    tables: [threads, messages],
    queries: [inThread, inOwnThread, newest, ownThreads, lengths, strict],
    mutations: [addMessage, doNothing, fail],
    channels: [typing, typingOlder, ownTyping, news],
    transact: transactOn(sql),
    verify,
    userIdOf: (viewer: Viewer) => viewer.id,
    credentialsOf: ({ id }) => [`name:${id}`],
    origins: [ORIGIN],
    secret: "a secret for tests",
    log: { info: write("info"), warn: write("warn"), error: write("error") },
    ...others,
    limits: { drainSpreadMs: 50, ...limits },
  })
  const server = await serve(realtime)
  const port = portOf(server)
  if (waitsForStream) await realtime.whenLive()
  return {
    realtime,
    lines,
    port,
    url: `ws://127.0.0.1:${port}`,
    async close() {
      await realtime.close()
      server.closeAllConnections()
      server.close()
      await sql.end({ timeout: 1 })
    },
  }
}

/** On a free port, and with nothing else at it. */
export async function serve(realtime: { attach: (server: Server) => void }): Promise<Server> {
  const server = createServer((_request, response) => response.end())
  realtime.attach(server)
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return server
}

export type Engine = Awaited<ReturnType<typeof startEngine>>
