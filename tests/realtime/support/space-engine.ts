import { eq } from "drizzle-orm"
import * as v from "valibot"
import { openDatabase } from "#db/client.ts"
import { users, type User } from "#db/schema/users.ts"
import { liveChat, liveThreads } from "#server/chat/live.ts"
import { liveFiles } from "#server/files/live.ts"
import { defineChannel, type LiveQuery, openRealtime } from "#live/open"
import type { Viewer } from "#server/scope.ts"
import { liveSpaces } from "#server/spaces/live.ts"
import { watchedTables } from "#server/live-functions.ts"
import { portOf } from "../../support/port-of.ts"
import { ORIGIN, serve } from "./engine.ts"
import { viewerOf } from "./space-world.ts"

// Run as a program: the engine with the product's own tables and live queries, in its own process,
// which can be killed. Tokens are the names of the people.
const [databaseUrl, version] = process.argv.slice(2)
if (!databaseUrl) throw new Error("Give the database's URL.")

const careless: LiveQuery<Viewer> = { ...liveThreads, dependencies: () => [] }
const queries: readonly LiveQuery<Viewer>[] = [...liveSpaces, ...liveChat, ...liveFiles].map((query) =>
  version === "careless" && query === liveThreads ? careless : query,
)

/** Beside the messages of a conversation, as an indicator of typing would be. */
const typing = defineChannel({
  name: "test.typing",
  description: "For the tests of spaces.",
  query: { name: "chat.listMessages" },
  message: v.strictObject({ text: v.string() }),
})

const database = openDatabase(databaseUrl, { connections: 1 })
const realtime = await openRealtime<Viewer, never>({
  databaseUrl,
  tables: watchedTables,
  queries,
  mutations: [],
  channels: [typing],
  transact: () => Promise.reject(new Error("There are no mutations.")),
  verify: async (token) => {
    const user = await findPerson(token)
    return user ? { viewer: viewerOf(user), expiresAt: Date.now() + 3_600_000 } : null
  },
  userIdOf: ({ session }) => session.userId,
  origins: [ORIGIN],
  secret: "a secret for tests",
  log: { info() {}, warn() {}, error() {} },
  limits: { anchorMs: 500, windowMs: 20_000, messagesPerSecond: 10_000, maxConnectionsPerUser: 1000 },
})
const port = portOf(await serve(realtime))
await realtime.whenLive()
process.stdout.write(`${JSON.stringify({ port })}\n`)

async function findPerson(name: string): Promise<User | undefined> {
  const [user] = await database.db.select().from(users).where(eq(users.clerkId, name))
  return user
}
