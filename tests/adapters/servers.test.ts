import { once } from "node:events"
import { connect, createServer } from "node:net"
import { setImmediate } from "node:timers/promises"
import type postgres from "postgres"
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from "vitest"
import { isLost } from "#live/check"
import type { ReplicaSet } from "#db/embedded/replica-set.ts"
import {
  nameOfServers,
  openPostgres,
  readDatabaseUrl,
  serversOf,
  startAnswerTimer,
} from "../../live/postgres/servers.ts"
import { portOf as listeningPort } from "../support/port-of.ts"
import { startTestReplicaSet } from "../support/replica-set.ts"

const PASSWORD = "an%40engine"

describe("a database URL", () => {
  it("with one server stays as it is, without what only several need", () => {
    const url = `postgres://ada:${PASSWORD}@db.example.org:5433/tideline?sslmode=verify-full`
    expect(readDatabaseUrl(url)).toBe(url)
    expect(readDatabaseUrl(`${url}&target_session_attrs=read-write`)).toBe(url)
    expect(serversOf(url)).toEqual([{ host: "db.example.org", port: 5433 }])
  })

  it("with several servers becomes one that URL reads, and names them in order", () => {
    const url = readDatabaseUrl(`postgres://ada:${PASSWORD}@one:5433,two,[::1]:1/tideline?sslmode=require`)
    expect(url).not.toBeNull()
    expect(new URL(url!)).toMatchObject({ username: "ada", password: PASSWORD, pathname: "/tideline" })
    expect(serversOf(url!)).toEqual([
      { host: "one", port: 5433 },
      { host: "two", port: 5432 },
      { host: "::1", port: 1 },
    ])
  })

  it.each([
    "mysql://one,two/tideline",
    "postgres://one:x,two/tideline",
    "postgres://one,,two/tideline",
    "postgres://one,two/tideline?target_session_attrs=standby",
  ])("is refused if it is %s", (url) => {
    expect(readDatabaseUrl(url)).toBeNull()
  })
})

describe("an IPv6 address", () => {
  it.each([
    ["of a single server", (port: number) => `[::1]:${port}`],
    ["in a list", (port: number) => `[::1]:9,[::1]:${port}`],
  ])("%s is connected to", async (_what, hosts) => {
    const own = new URL(inject("postgresUrl"))
    const relay = createServer((socket) => {
      const onward = connect(Number(own.port), own.hostname)
      socket.pipe(onward).pipe(socket)
      for (const each of [socket, onward]) each.on("error", () => {})
    })
    await once(relay.listen(0, "::1"), "listening")
    onTestFinished(() => void relay.close())
    const written = own.href.replace(own.host, hosts(listeningPort(relay)))
    const client = openPostgres(readDatabaseUrl(written) ?? "", { max: 1, connect_timeout: 5 })
    onTestFinished(() => client.end({ timeout: 1 }))
    expect(await client`select 1 as one`).toEqual([{ one: 1 }])
  })

  it("keeps its brackets where it is named", () => {
    expect(nameOfServers("postgres://ada@[::1]:5433/tideline")).toBe("[::1]:5433")
  })
})

it("the time that a server has to answer does not go by while the process is busy", async () => {
  const late = Promise.withResolvers<void>()
  let isLate = false
  const stop = startAnswerTimer(100, () => {
    isLate = true
    late.resolve()
  })
  onTestFinished(stop)
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300)
  // What has arrived in the meantime is read now.
  await setImmediate()
  expect(isLate).toBe(false)
  await late.promise
})

describe("a client for several servers", () => {
  let set: ReplicaSet
  let url: string

  beforeAll(async () => {
    set = await startTestReplicaSet({ standbys: 2 })
    // The primary is not the first that is asked.
    url = readDatabaseUrl(set.url.replace(/@(.*?),(.*?),(.*?)\//, "@$3,$2,$1/")) ?? ""
  })
  afterAll(() => set.stop())

  it("connects to the one that accepts writes", async () => {
    expect(await portOf(open())).toBe(set.primary.port)
  })

  it("fails while none accepts writes, says why of each, and connects once one is promoted", async () => {
    const [a, b, c] = set.nodes
    const client = open()
    expect(await portOf(client)).toBe(a!.port)
    await a!.kill()
    const failed: unknown = await expect
      .poll(() => portOf(client).catch((error: unknown) => error), { timeout: 20_000 })
      .toMatchObject({ code: "NO_PRIMARY" })
      .then(() => portOf(client).catch((error: unknown) => error))
    expect(isLost(failed)).toBe(true)
    expect(String(failed)).toContain(`127.0.0.1:${b!.port}: is a standby`)
    expect(String(failed)).toContain(`127.0.0.1:${a!.port}: connect ECONNREFUSED`)
    await set.failOver(b!)
    await expect.poll(() => portOf(client).catch(() => 0), { timeout: 20_000 }).toBe(b!.port)
    await c!.whenStreaming()
  })

  it("leaves a primary that hangs once another is promoted, and does not return when it comes back", async () => {
    const [, b, c] = set.nodes
    const client = open()
    expect(await portOf(client)).toBe(b!.port)
    b!.pause()
    const waiting = portOf(client).catch((error: unknown) => error)
    await set.failOver(c!)
    expect(await waiting).toMatchObject({ code: expect.stringMatching(/^CONNECTION_|^NO_PRIMARY$/) })
    b!.resume()
    await expect.poll(() => b!.isPrimary(), { timeout: 20_000 }).toBe(true)
    await expect.poll(() => portOf(client).catch(() => 0), { timeout: 20_000 }).toBe(c!.port)
    expect(await portOf(open())).toBe(c!.port)
  })

  it("sends nothing that nobody asked for, whose failure nobody would see", async () => {
    const sent: string[] = []
    for (const each of [url, set.primary.url]) {
      const client = openPostgres(each, { max: 1, onnotice: () => {}, debug: (_, query) => sent.push(query) })
      onTestFinished(() => client.end({ timeout: 0 }))
      await client`select 1`
    }
    expect(sent).toEqual(["select 1", "select 1"])
  })

  function open(): postgres.Sql {
    const client = openPostgres(url, { max: 1, onnotice: () => {} })
    onTestFinished(() => client.end({ timeout: 0 }))
    return client
  }
})

async function portOf(client: postgres.Sql): Promise<number> {
  const [row] = await client`select inet_server_port() as port`
  return Number(row?.["port"])
}
