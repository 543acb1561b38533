import { randomBytes } from "node:crypto"
import postgres from "postgres"
import { afterAll, beforeAll, expect, it } from "vitest"
import { inAll } from "../support/all.ts"
import { startTideline, type TidelineApp } from "../support/app.ts"
import { openLiveSocket, realtimeToken } from "../support/live.ts"
import { ada as adaLovelace, grace as graceHopper, postJson, signUp, type Person } from "../support/people.ts"
import { startPgbouncer } from "../support/pgbouncer.ts"
import { createTestDatabase } from "../support/postgres.ts"
import { openReturningSocket } from "../support/returning-socket.ts"
import { begin } from "../support/uploads.ts"
import { withResource } from "../support/with-resource.ts"

// Everything but the stream and the locks goes through a PgBouncer in transaction mode, with fewer
// connections than the process wants.

const CONNECTIONS = 3
const WRITERS = 8
/** Of each writer: as many as pgbench makes in some seconds, or in minutes. */
const TRANSACTIONS = process.env["FAULTS"] === "long" ? 5_000 : 150

const database = withResource(() => createTestDatabase({ empty: true }))
let pooler: Awaited<ReturnType<typeof startPgbouncer>>
let app: TidelineApp
let ada: Person

beforeAll(async () => {
  pooler = await startPgbouncer(database.url, CONNECTIONS)
  app = await startTideline({
    DATABASE_URL: pooler.url,
    DATABASE_STREAM_URL: database.url,
  })
  ada = await signUp(app, adaLovelace)
})

afterAll(async () => {
  await app.stop()
  await pooler.stop()
})

it("pages and requests of many people are answered concurrently, each with their own data", async () => {
  const grace = await signUp(app, graceHopper)
  for (const person of [ada, grace])
    expect((await postJson(person, "/api/chat/threads", {})).status).toBe(201)
  const asked = Array.from({ length: 10 }, async () => {
    const answers = await Promise.all([
      ada("/onboarding"),
      ada("/api/files"),
      ada("/api/chat/threads"),
      grace("/onboarding"),
      grace("/api/chat/search?q=tide"),
    ])
    return answers.map(({ status }) => status)
  })
  expect(new Set((await Promise.all(asked)).flat())).toEqual(new Set([200]))
  const mine = (await (await ada("/api/chat/threads")).json()) as { threads: unknown[] }
  expect(mine.threads).toHaveLength(1)
})

it("an upload in parts, a message with its reply, and a named function are seen live", async () => {
  const socket = await openLiveSocket(app, await realtimeToken(ada))
  await socket.subscribe("files.list", {})
  const bytes = randomBytes(600_000)
  const upload = await begin(ada, "film.mov", bytes.length)
  expect((await upload.patch(0, bytes.subarray(0, 300_000))).status).toBe(204)
  expect((await upload.patch(300_000, bytes.subarray(300_000))).status).toBe(204)
  await socket.until(({ name, event }) => name === "commit" && JSON.stringify(event).includes("film.mov"))
  const { files } = (await (await ada("/api/files")).json()) as { files: { _id: string }[] }
  const renamed = await socket.mutate("files.rename", { fileId: files[0]?._id, fileName: "tide.mov" })
  expect(renamed).not.toHaveProperty("error")
  await socket.until(({ name, event }) => name === "commit" && JSON.stringify(event).includes("tide.mov"))
  socket.close()

  const messages = [{ id: "1", role: "user", parts: [{ type: "text", text: "How high is the tide?" }] }]
  const answer = await postJson(ada, "/api/chat", { messages })
  expect(answer.status).toBe(200)
  expect(await answer.text()).toContain('"type":"finish"')
})

inAll(
  "a load of short transactions through the pooler loses nothing of what pages show",
  async () => {
    const socket = await openReturningSocket(app.origin, ada)
    const sql = postgres(pooler.url, { max: WRITERS, prepare: false })
    const [owner] = await sql<[{ _id: string }]>`select _id from users where email = ${adaLovelace.email}`
    const writers = Array.from({ length: WRITERS }, async (_, writer) => {
      const title = `writer ${writer}`
      for (let n = 0; n < TRANSACTIONS; n++)
        await sql.begin(async (tx) => {
          await tx`delete from chat_threads where user_id = ${owner._id} and title = ${`${title}, ${n - 4}`}`
          await tx`
          insert into chat_threads (user_id, title, last_message_at) values (${owner._id}, ${`${title}, ${n}`}, ${n})`
          await tx`update chat_threads set last_message_at = ${n} where user_id = ${owner._id} and title = ${`${title}, ${n - 1}`}`
        })
    })
    const asked = Array.from({ length: 20 }, async () => (await ada("/api/chat/threads")).status)
    await Promise.all(writers)
    expect(new Set(await Promise.all(asked))).toEqual(new Set([200]))
    const { client } = socket
    const { threads } = await socket.finish(sql)
    const stored = await sql`select _id, title from chat_threads where user_id = ${owner._id} order by _id`
    await sql.end()
    expect(threads.map(({ _id, title }) => ({ _id, title }))).toEqual([...stored])
    expect(socket.ended).toEqual({ goodbyes: 0, losses: 0 })
    // By changes alone: nothing was read again.
    expect(client.seen).toMatchObject({ resets: 0 })
  },
  600_000,
)

it("PostgreSQL sees no more connections than the pooler has, besides those for the stream and the locks", async () => {
  const sql = postgres(database.url, { max: 1 })
  const sessions = await sql<{ name: string; count: number }[]>`
    select application_name as name, count(*)::int as count from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and backend_type in ('client backend', 'walsender')
    group by 1`
  await sql.end()
  const direct = new Set(["realtime stream", "tideline locks"])
  const pooled = sessions.filter(({ name }) => !direct.has(name) && !name.startsWith("tideline process "))
  // The test's own pool is idle.
  expect(pooled.reduce((sum, { count }) => sum + count, 0)).toBeLessThanOrEqual(CONNECTIONS)
  expect(app.log.filter((line) => line.startsWith("{") && JSON.parse(line).level >= 40)).toEqual([])
})
