import { describe, expect, it, onTestFinished } from "vitest"
import type { RealtimeLimits } from "../../live/server/limits.ts"
import { startEngine } from "./support/engine.ts"
import { engineSuite } from "./support/suite.ts"
import { verify } from "./support/tables.ts"

const suite = engineSuite()

/** "accepted", or the code of the refusal. */
function outcomeOf(client: ReturnType<typeof suite.client>) {
  return client.connect().then(
    () => "accepted",
    (error: { code?: string }) => error.code,
  )
}

/** An engine with a token verification that waits until it is released. */
async function startSlowVerifier(limits: Partial<RealtimeLimits> = {}) {
  const asked = Promise.withResolvers<void>()
  const allowed = Promise.withResolvers<void>()
  let verified = 0
  const engine = await startEngine(suite.databaseUrl, limits, {
    async verify(token) {
      verified += 1
      asked.resolve()
      await allowed.promise
      return verify(token)
    },
  })
  onTestFinished(() => engine.close())
  return { engine, asked: asked.promise, allow: allowed.resolve, verified: () => verified }
}

describe("a handshake whose token is being verified", () => {
  it("leaves nothing behind if its connection is closed in the meantime", async () => {
    const { engine, asked, allow } = await startSlowVerifier({ maxConnectionsPerUser: 1 })
    const gone = suite.client("ada", engine.url)
    const refused = gone.connect().catch(() => {})
    await asked
    gone.close()
    await refused
    const count = () => engine.realtime.metrics()["raw_connections"]
    await expect.poll(count, { interval: 5 }).toBe(0)
    allow()
    await suite.connect("ada", engine.url)
    expect(engine.realtime.connectionsOf("ada")).toHaveLength(1)
  })

  it("is refused if its user is signed out in the meantime", async () => {
    const { engine, asked, allow } = await startSlowVerifier()
    const client = suite.client("ada", engine.url)
    const refused = outcomeOf(client)
    await asked
    await engine.realtime.revokeUser("ada")
    // What came after it in the log.
    await suite.sql`insert into messages (_id, thread_id, owner) values ('1', 't', 'ada')`
    await expect.poll(() => engine.realtime.metrics()["changes"], { interval: 5 }).toBe(1)
    allow()
    expect(await refused).toBe("unauthorized")
  })

  it("is refused as retryable if maintenance begins in the meantime", async () => {
    const { engine, asked, allow } = await startSlowVerifier()
    const client = suite.client("ada", engine.url)
    const refused = outcomeOf(client)
    await asked
    engine.realtime.admitOnly(() => false)
    allow()
    expect(await refused).toBe("unavailable")
    expect(engine.realtime.connectionsOf("ada")).toHaveLength(0)
    client.close()
    engine.realtime.admitOnly(null)
    await suite.connect("ada", engine.url)
    expect(engine.realtime.connectionsOf("ada")).toHaveLength(1)
  })

  it("is verified once, however often it is sent over one connection", async () => {
    const { engine, asked, allow, verified } = await startSlowVerifier()
    const socket = new WebSocket(`${engine.url}/realtime/?EIO=4&transport=websocket`)
    onTestFinished(() => socket.close())
    const received: string[] = []
    const answered = Promise.withResolvers<void>()
    socket.addEventListener("message", ({ data }) => {
      const text = String(data)
      received.push(text.slice(0, 2))
      if (text.startsWith("0")) for (let n = 0; n < 5; n++) socket.send('40{"version":1,"token":"ada"}')
      if (text.startsWith("40")) answered.resolve()
    })
    await asked
    allow()
    await answered.promise
    expect(verified()).toBe(1)
    expect(received.filter((kind) => kind === "40")).toHaveLength(1)
  })
})

describe("a sign-out from before a process began", () => {
  it("does not end the connections of those who have signed in again", async () => {
    // Enough to read first, so that the connection is there before the sign-out is read.
    await suite.sql`
      insert into messages (_id, thread_id, owner)
      select n::text, 'earlier', 'grace' from generate_series(1, 50000) as n`
    await suite.engine.realtime.revokeUser("ada")
    const engine = await startEngine(suite.databaseUrl)
    onTestFinished(() => engine.close())
    const ada = await suite.connect("ada", engine.url)
    const list = await ada.follow("messages.inThread", { threadId: "later" })
    await suite.sql`insert into messages (_id, thread_id, owner) values ('last', 'later', 'ada')`
    await ada.until(() => list.rows.has("last") || ada.goodbye !== null, "the latest message")
    expect(ada.goodbye).toBeNull()
    expect(engine.realtime.connectionsOf("ada")).toHaveLength(1)
  })

  it("still ends a connection whose session is no longer valid", async () => {
    await suite.sql`
      insert into messages (_id, thread_id, owner)
      select 'again-' || n, 'earlier', 'grace' from generate_series(1, 50000) as n`
    await suite.engine.realtime.revokeUser("ada")
    const engine = await startEngine(suite.databaseUrl, {}, { isSessionValid: async () => false })
    onTestFinished(() => engine.close())
    const ada = await suite.connect("ada", engine.url)
    await ada.until(() => ada.goodbye !== null, "the end of the connection")
    expect(ada.goodbye?.reason).toBe("signed_out")
  })
})

describe("connections from one address", () => {
  it("are limited without affecting other addresses, and closed ones do not count", async () => {
    const engine = await startEngine(
      suite.databaseUrl,
      { maxConnectionsPerAddress: 2 },
      { addressOf: ({ url }) => new URL(url ?? "", "http://x").searchParams.get("from") ?? "here" },
    )
    onTestFinished(() => engine.close())
    const open = (from: string) =>
      new Promise<WebSocket | null>((resolve) => {
        const socket = new WebSocket(`${engine.url}/realtime/?EIO=4&transport=websocket&from=${from}`)
        onTestFinished(() => socket.close())
        socket.addEventListener("message", () => resolve(socket), { once: true })
        socket.addEventListener("error", () => resolve(null), { once: true })
      })
    const [first, second] = [await open("here"), await open("here")]
    expect(first && second).not.toBeNull()
    expect(await open("here")).toBeNull()
    expect(await open("there")).not.toBeNull()
    first?.close()
    await expect.poll(() => engine.realtime.metrics()["raw_connections"], { interval: 5 }).toBe(2)
    expect(await open("here")).not.toBeNull()
  })
})
