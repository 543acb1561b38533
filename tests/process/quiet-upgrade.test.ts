import postgres from "postgres"
import { afterAll, beforeAll, expect } from "vitest"
import { inAll } from "../support/all.ts"
import { ReferenceClient } from "../realtime/support/client.ts"
import { post } from "../support/api.ts"
import { startFleet, type Fleet } from "../support/fleet.ts"
import { realtimeToken } from "../support/live.ts"
import { ada, signUp } from "../support/people.ts"
import { createTestDatabase } from "../support/postgres.ts"
import { openReturningSocket } from "../support/returning-socket.ts"

/** Built sources of an older version, provided by `npm run test:older`. */
const older = process.env["OLDER_SOURCES"]

let database: Awaited<ReturnType<typeof createTestDatabase>>
let sql: postgres.Sql
let fleet: Fleet

beforeAll(async () => {
  // The older version creates the tables, and the current one migrates them.
  database = await createTestDatabase({ empty: true })
  sql = postgres(database.url, { max: 1 })
  fleet = await startFleet(database.url, {
    size: 1,
    env: { TRUSTED_PROXIES: "1" },
    ...(older && { sources: older }),
  })
})
afterAll(async () => {
  await fleet.stop()
  await sql.end()
  await database.close()
})

inAll(
  "an upgrade without later writes leaves every list live, and keeps the session, the key and the bytes",
  async () => {
    const person = await signUp(fleet, ada)
    const made = await person("/api/chat/threads", post({ title: "before" }))
    const { thread } = (await made.json()) as { thread: { _id: string } }
    const stored = await person("/api/files?name=before.txt", { method: "POST", body: "before" })
    expect([made.status, stored.status]).toEqual([201, 201])
    const key = await person.apiKey()
    const socket = await openReturningSocket(fleet.origin, person)
    const [member] = fleet.members

    await member?.end("SIGTERM")
    await member?.start()
    await fleet.whenReady()

    const client = new ReferenceClient(fleet.origin.replace("http", "ws"), await realtimeToken(person))
    await client.connect()
    const lists = [
      await client.follow("users.getOnboardingStatus", {}),
      await client.follow("chat.listThreads", {}),
      await client.follow("chat.listMessages", { threadId: thread._id }),
      await client.follow("files.list", {}),
      await client.follow("files.getUsage", {}),
      await client.follow("devices.list", {}),
    ]
    expect(lists.map(({ query, refusal }) => [query, refusal])).toEqual(
      lists.map(({ query }) => [query, null]),
    )
    client.close()
    expect(await member?.metric("tideline_realtime_broken_tables")).toBe(0)
    const { files } = (await (await person("/api/files")).json()) as { files: { _id: string }[] }
    const headers = { authorization: `Bearer ${key}` }
    const read = await fetch(`${fleet.origin}/api/files/${files[0]?._id}`, { headers })
    expect([read.status, await read.text()]).toEqual([200, "before"])
    const shown = await socket.finish(sql)
    expect(shown.threads.map(({ _id }) => _id)).toEqual([thread._id])
    expect(shown.files.map(({ fileName }) => fileName)).toEqual(["before.txt"])
    expect(member?.log.filter((line) => line.includes('"level":50'))).toEqual([])
  },
  120_000,
)
