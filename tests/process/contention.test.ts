import { randomUUID } from "node:crypto"
import postgres from "postgres"
import { afterAll, beforeAll, expect, it } from "vitest"
import { ReferenceClient } from "../realtime/support/client.ts"
import { startCluster, type Cluster } from "../realtime/support/cluster.ts"
import { startTideline, type TidelineApp } from "../support/app.ts"
import { databaseUrl } from "../support/database-url.ts"
import { realtimeToken } from "../support/live.ts"
import { ada, grace, signUp, type Person } from "../support/people.ts"
import { findFreePort } from "../support/ports.ts"

// Its own, because a transaction that stays open delays the first slot of every other database.
let cluster: Cluster
let app: TidelineApp
let psql: postgres.Sql
let probes: string
const clients: ReferenceClient[] = []

beforeAll(async () => {
  const port = await findFreePort()
  probes = `http://127.0.0.1:${port}`
  cluster = await startCluster()
  await cluster.admin`create database own`
  app = await startTideline({ OPS_PORT: String(port), DATABASE_URL: databaseUrl(cluster.url, "own") })
  psql = postgres(app.databaseUrl, { max: 1, onnotice: () => {} })
})
afterAll(async () => {
  for (const client of clients) client.close()
  await psql.end()
  await app.stop()
  await cluster.stop()
})

async function connect(person: Person) {
  const client = new ReferenceClient(app.origin.replace("http", "ws"), await realtimeToken(person))
  clients.push(client)
  await client.connect()
  return client
}

async function store(person: Person, name: string) {
  const stored = await person(`/api/files?name=${name}`, { method: "POST", body: name })
  const { files } = (await stored.json()) as { files: { _id: string }[] }
  return files[0]?._id ?? ""
}

it("opens no more connections than its setting allows, however many requests there are", async () => {
  const person = await signUp(app, { name: "Mary", email: "mary@example.org" })
  const other = await signUp(app, { name: "Emmy", email: "emmy@example.org" })
  // This makes their records.
  await Promise.all([connect(person), connect(other)])
  await psql`update users set onboarding_completed = true where email in (${person.email}, ${other.email})`
  const people = [person, other]
  const pages = Array.from({ length: 24 }, (_, at) =>
    people[at % 2]!(at % 4 < 2 ? "/dashboard/files" : "/api/files"),
  )
  let most = 0
  let isOver = false
  const over = Promise.all(pages).finally(() => (isOver = true))
  while (!isOver) {
    const [row] = await psql<[{ open: number }]>`
      select count(*)::int as open from pg_stat_activity
      where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`
    most = Math.max(most, row.open)
  }
  expect((await over).map(({ status }) => status)).toEqual(pages.map(() => 200))
  expect(most).toBeGreaterThan(4)
  expect(most).toBeLessThanOrEqual(12)
}, 60_000)

it("a transaction left open in psql blocks one person and nobody else", async () => {
  const [held, free] = [await signUp(app, ada), await signUp(app, grace)]
  const [fileId, otherId] = [await store(held, "held.txt"), await store(free, "free.txt")]
  const sockets = await Promise.all(Array.from({ length: 10 }, () => connect(held)))
  const other = await connect(free)
  const locked = Promise.withResolvers<void>()
  const release = Promise.withResolvers<void>()
  const forgotten = psql.begin(async (sql) => {
    await sql.unsafe("set local idle_in_transaction_session_timeout = 0")
    await sql`select 1 from file_usage where user_id = (select _id from users where email = ${held.email}) for update`
    locked.resolve()
    await release.promise
  })
  await locked.promise

  const calls = sockets.map((client, n) => [client, { fileId, fileName: `${n}.txt` }, randomUUID()] as const)
  const rename = () => Promise.all(calls.map(([client, args, id]) => client.mutate("files.rename", args, id)))
  const waiting = rename()
  const renamed = await other.mutate("files.rename", { fileId: otherId, fileName: "other.txt" }, randomUUID())
  expect(renamed.error).toBeUndefined()
  expect((await free("/api/files")).status).toBe(200)
  expect((await fetch(`${probes}/readyz`)).status).toBe(200)
  for (const { error } of await waiting)
    expect(error).toMatchObject({ code: "unavailable", retryAfter: 1000 })
  release.resolve()
  await forgotten
  expect((await rename()).filter(({ error }) => error)).toEqual([])
  expect(app.log.filter((line) => line.includes('"level":50'))).toEqual([])
}, 120_000)
