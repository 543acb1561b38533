import type { Server } from "node:http"
import { openRealtime, type Realtime } from "#live/open"
import { inRoom, inSpace, members, notes, ofMember, type Viewer } from "../notes.ts"

const log = {
  info() {},
  warn: (details: object, message: string) =>
    void process.stderr.write(`${message} ${JSON.stringify(details)}\n`),
  error: (details: object, message: string) =>
    void process.stderr.write(`${message} ${JSON.stringify(details)}\n`),
}

/**
 * The engine as the application opens it, with the same limits. Only the table and the token check,
 * which accepts any token, belong to the bench.
 */
export async function openTideline(databaseUrl: string, server: Server): Promise<Realtime<Viewer>> {
  const realtime = await openRealtime<Viewer, object>({
    databaseUrl,
    tables: [notes, members],
    queries: [inRoom, inSpace, ofMember],
    mutations: [],
    transact: () => Promise.reject(new Error("Nothing is changed over the socket here.")),
    verify: async (token) => ({ viewer: { id: token }, expiresAt: Date.now() + 3_600_000 }),
    userIdOf: (viewer) => viewer.id,
    origins: [],
    secret: "a secret for measurements",
    log,
  })
  realtime.attach(server)
  await realtime.whenLive()
  return realtime
}
