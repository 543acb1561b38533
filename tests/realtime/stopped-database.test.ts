import { readdirSync, readFileSync } from "node:fs"
import postgres from "postgres"
import { afterAll, beforeAll, expect, it } from "vitest"
import { ReferenceClient } from "./support/client.ts"
import { startCluster, type Cluster } from "./support/cluster.ts"
import { startEngine, type Engine } from "./support/engine.ts"
import { verify } from "./support/tables.ts"

let cluster: Cluster
let engine: Engine
let lookups: postgres.Sql
let client: ReferenceClient

beforeAll(async () => {
  cluster = await startCluster()
  lookups = postgres(cluster.url, { max: 1, onnotice: () => {} })
  engine = await startEngine(
    cluster.url,
    { answerMs: 500 },
    {
      async verify(token) {
        await lookups`select 1`
        return verify(token)
      },
    },
  )
  client = new ReferenceClient(engine.url, "ada")
  await client.connect()
})
afterAll(async () => {
  client.close()
  await engine.close()
  await lookups.end({ timeout: 1 })
  await cluster.stop()
})

/** The postmaster and all of its children. */
function processesOf(postmaster: number) {
  const children = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => parentOf(pid) === postmaster)
  return [postmaster, ...children.map(Number)]
}

function parentOf(pid: string) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1])
  } catch {
    return 0
  }
}

it("every call gets a response while PostgreSQL is stopped, a refusal that asks to retry, and works when it is back", async () => {
  const calls = {
    subscribe: () =>
      client.ask("subscribe", {
        subscriptions: [{ id: 900, query: "messages.inThread", args: { threadId: "t" } }],
      }),
    query: () => client.ask("query", { query: "messages.inThread", args: { threadId: "t" } }),
    mutate: () =>
      client.ask("mutate", {
        mutation: "messages.add",
        args: { id: "1", threadId: "t", body: "text" },
        mutationId: "sent once",
      }),
    authenticate: () => client.ask("authenticate", { token: `ada@${Date.now() + 600_000}` }),
  }
  const late = {
    code: "unavailable",
    message: expect.stringMatching(/again/),
    reason: "answer-late",
    retryAfter: 1000,
  }
  const stopped = processesOf(cluster.pid)
  for (const pid of stopped) process.kill(pid, "SIGSTOP")
  try {
    const [subscribed, ...others] = await Promise.all([
      calls.subscribe(),
      calls.query(),
      calls.mutate(),
      calls.authenticate(),
    ])
    expect(subscribed).toEqual({ accepted: [], refused: [{ id: 900, error: late }] })
    expect(others).toEqual([{ error: late }, { error: late }, { error: late }])
  } finally {
    for (const pid of stopped) process.kill(pid, "SIGCONT")
  }
  // The id is free again, and no reply of the late call is sent for it.
  await expect.poll(calls.subscribe).toMatchObject({ accepted: [900], refused: [] })
  await expect.poll(calls.query).toHaveProperty("value")
  await expect.poll(calls.mutate).toHaveProperty("lsn")
  await expect.poll(calls.authenticate).toHaveProperty("expiresAt")
  expect(await cluster.sql`select _id from messages`).toEqual([{ _id: "1" }])
  expect(client.violations).toEqual([])
})

it("a subscription that the stream does not reach in time is told that the server is catching up, and works afterwards", async () => {
  const senders = await cluster.sql<{ pid: number }[]>`select pid from pg_stat_replication`
  expect(senders).toHaveLength(1)
  for (const { pid } of senders) process.kill(pid, "SIGSTOP")
  const subscribe = () =>
    client.ask("subscribe", {
      subscriptions: [{ id: 901, query: "messages.inThread", args: { threadId: "t" } }],
    })
  try {
    await cluster.sql`insert into messages (_id, thread_id, owner) values ('2', 't', 'ada')`
    expect(await subscribe()).toEqual({
      accepted: [],
      refused: [
        {
          id: 901,
          error: {
            code: "unavailable",
            message: "The server is catching up with its database.",
            reason: "server-behind",
            retryAfter: 1000,
          },
        },
      ],
    })
  } finally {
    for (const { pid } of senders) process.kill(pid, "SIGCONT")
  }
  await expect.poll(subscribe).toMatchObject({ accepted: [901], refused: [] })
  expect(client.violations).toEqual([])
})
