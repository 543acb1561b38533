import { once } from "node:events"
import { request } from "node:http"
import postgres from "postgres"
import { describe, expect, it } from "vitest"
import { dataOf, dataOfReason, isRefusal } from "#server/errors.ts"
import { END_CREDENTIAL, REVOKE_USER } from "../../live/server/realtime.ts"
import { ORIGIN } from "./support/engine.ts"
import { engineSuite } from "./support/suite.ts"

const suite = engineSuite({ graceMs: 200, maxConnectionsPerUser: 5 })

/** The status of an upgrade request with this origin. */
async function upgrade(origin: string | undefined, path = "/realtime/?EIO=4&transport=websocket") {
  const asked = request({
    port: suite.engine.port,
    path,
    headers: {
      connection: "upgrade",
      upgrade: "websocket",
      "sec-websocket-version": "13",
      "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
      ...(origin === undefined ? {} : { origin }),
    },
  })
  asked.end()
  const status = await Promise.race([
    once(asked, "upgrade").then(() => 101),
    once(asked, "response").then(([response]) => response.statusCode),
  ])
  asked.destroy()
  return status
}

describe("the handshake", () => {
  it("accepts the application's own pages and clients other than browsers, and no other origin", async () => {
    expect(await upgrade(ORIGIN)).toBe(101)
    expect(await upgrade(undefined)).toBe(101)
    expect(await upgrade("https://evil.example")).toBe(400)
    expect(await upgrade("null")).toBe(400)
    expect(await upgrade(`${ORIGIN}.evil.example`)).toBe(400)
  })

  it("refuses another version of Engine.IO before the upgrade", async () => {
    for (const path of ["?EIO=3&transport=websocket", "?transport=websocket", "?EIO=44&transport=websocket"])
      expect(await upgrade(undefined, `/realtime/${path}`)).toBe(400)
  })

  it.each([
    ["no version", { version: undefined }, /"version"/],
    ["a version that is not a number", { version: "1" }, /"version"/],
    ["a token that is not text", { token: 7 }, /"token"/],
    ["an empty token", { token: "" }, /"token"/],
    ["an oversized token", { token: "x".repeat(17_000) }, /"token"/],
    ["a client that is not text", { client: {} }, /"client"/],
    [
      "an unknown field",
      { clientName: "me", client: undefined },
      /Unknown field "clientName"\. Did you mean "client"\?/,
    ],
    ["a client with too long a name", { client: "x".repeat(201) }, /"client"/],
  ])("reports %s", async (_name, auth, message) => {
    await expect(suite.client().connect(auth)).rejects.toMatchObject({
      code: "invalid",
      message: expect.stringMatching(message),
    })
  })

  it("refuses long polling", async () => {
    const response = await fetch(`http://127.0.0.1:${suite.engine.port}/realtime/?EIO=4&transport=polling`)
    expect(response.status).toBe(400)
  })

  it.each([
    ["no token", { token: undefined }, "unauthorized"],
    ["a token of the wrong type", { token: { toString: "ada" } }, "invalid"],
    ["an unknown token", { token: "NOBODY" }, "unauthorized"],
    ["an expired token", { token: "ada@1000" }, "unauthorized"],
    ["another version", { version: 99 }, "version"],
  ])("refuses %s", async (_name, auth, code) => {
    await expect(suite.client().connect(auth)).rejects.toMatchObject({ code })
  })

  it("limits a user's connections, and closed ones do not count", async () => {
    const clients = await Promise.all(Array.from({ length: 5 }, () => suite.connect("eve")))
    await expect(suite.client("eve").connect()).rejects.toMatchObject({ code: "rate_limited" })
    clients[0]?.close()
    await expect.poll(() => suite.engine.realtime.connectionsOf("eve").length, { interval: 5 }).toBe(4)
    await suite.connect("eve")
  })
})

describe("a token", () => {
  it("is renewed in place: subscriptions are kept", async () => {
    const client = await suite.connect(`ada@${Date.now() + 4000}`)
    const list = await client.follow("messages.inThread", { threadId: "t" })
    const expiresAt = Date.now() + 600_000
    expect(await client.ask("authenticate", { token: `ada@${expiresAt}` })).toEqual({ expiresAt })
    await client
      .until(() => Date.now() > expiresAt - 600_000 + 5000 || client.goodbye !== null, "time", 10_000)
      .catch(() => {})
    await suite.sql`insert into messages (_id, thread_id, owner) values ('1', 't', 'ada')`
    await client.until(() => list.rows.size === 1, "a row after the old token's end")
    expect(client.goodbye).toBeNull()
  })

  it("that expires removes the rows and closes the connection", async () => {
    await suite.sql`insert into messages (_id, thread_id, owner) values ('1', 't', 'ada')`
    const client = await suite.connect(`ada@${Date.now() + 4000}`)
    const list = await client.follow("messages.inThread", { threadId: "t" })
    expect(list.rows.size).toBe(1)
    await client.until(() => !client.connected, "the end")
    expect(list.state).toBe("revoked")
    expect(list.rows.size).toBe(0)
    expect(client.goodbye).toMatchObject({ reason: "expired", retryAfter: null })
  })

  it("refreshed for a different user closes the connection immediately", async () => {
    const client = await suite.connect()
    const list = await client.follow("messages.inThread", { threadId: "t" })
    const answer = await client.ask("authenticate", { token: "eve" })
    expect(answer).toMatchObject({ error: { code: "unauthorized" } })
    await client.until(() => !client.connected, "the end")
    expect(list.state).toBe("revoked")
  })

  it("refreshed with an invalid one changes nothing", async () => {
    const client = await suite.connect()
    expect(await client.ask("authenticate", { token: "ada@1000" })).toMatchObject({
      error: { code: "unauthorized" },
    })
    expect(await client.ask("query", { query: "threads.own", args: {} })).toEqual({ value: [] })
  })
})

describe("another user's rows", () => {
  it("are not found in any way", async () => {
    await suite.sql`insert into threads (_id, owner, title) values ('t', 'ada', 'private')`
    await suite.sql`insert into messages (_id, thread_id, owner, body) values ('1', 't', 'ada', 'secret')`
    const eve = await suite.connect("eve")
    const list = await eve.follow("messages.inOwnThread", { threadId: "t" })
    expect(list.refusal).toMatchObject({ code: "not_found" })
    const missing = await eve.follow("messages.inOwnThread", { threadId: "no such thread" })
    expect(missing.refusal).toEqual(list.refusal)
    const answer = await eve.ask("query", { query: "messages.inOwnThread", args: { threadId: "t" } })
    expect(answer).toEqual({ error: list.refusal })
    const own = await eve.follow("threads.own", {})
    expect(own.rows.size).toBe(0)
    await suite.sql`update threads set title = 'still private' where _id = 't'`
    await suite.sql`insert into threads (_id, owner) values ('e', 'eve')`
    await eve.until(() => own.rows.size === 1, "her own thread")
    expect(JSON.stringify(eve.events)).not.toMatch(/secret|private/)
  })

  it("are refused to a loader like a record that does not exist", async () => {
    await suite.sql`insert into threads (_id, owner) values ('t', 'ada')`
    const load = suite.engine.realtime.snapshotOf(
      [{ query: "messages.inOwnThread", args: { threadId: "t" } }],
      { id: "eve" },
    )
    const error: unknown = await load.catch((reason: unknown) => reason)
    expect(isRefusal(error) && { ...dataOf(error), status: error.status }).toEqual({
      ...dataOfReason("not-there"),
      status: 404,
    })
  })

  it("cannot be read with another user's row token", async () => {
    await suite.sql`insert into threads (_id, owner) values ('t', 'ada')`
    const ada = await suite.connect("ada")
    const mine = await ada.follow("messages.inOwnThread", { threadId: "t" })
    const eve = await suite.connect("eve")
    const list = await eve.follow("messages.inOwnThread", { threadId: "t" }, { token: mine.token ?? "" })
    expect(list.refusal).toMatchObject({ code: "not_found" })
  })

  it("stop at the commit that revokes access: nothing later is sent", async () => {
    const { sql } = suite
    const writer = postgres(suite.databaseUrl, { max: 1, onnotice: () => {} })
    for (let round = 0; round < 20; round++) {
      await sql`insert into threads (_id, owner) values (${`t${round}`}, 'ada')`
      const client = await suite.connect()
      const list = await client.follow("messages.inOwnThread", { threadId: `t${round}` })
      const other = await client.follow("messages.inThread", { threadId: `o${round}` })
      await sql`insert into messages (_id, thread_id, owner, body) values (${`a${round}`}, ${`t${round}`}, 'ada', 'before')`
      // Two statements in immediate succession, so that the second commit exists already when
      // authorization is checked.
      await writer
        .unsafe(
          `begin; update threads set owner = 'eve' where _id = 't${round}'; commit;
           begin; insert into messages (_id, thread_id, owner, body) values ('b${round}', 't${round}', 'ada', 'secret');
           insert into messages (_id, thread_id, owner) values ('c${round}', 'o${round}', 'ada'); commit;`,
        )
        .simple()
      await client.until(() => list.state === "revoked" && other.rows.size === 1, "the revocation")
      expect(JSON.stringify(client.events)).not.toContain("secret")
      expect(client.violations).toEqual([])
      client.close()
    }
    await writer.end()
  })

  it("of the time without access are not sent when access comes back", async () => {
    const { sql } = suite
    const writer = postgres(suite.databaseUrl, { max: 1, onnotice: () => {} })
    for (let round = 0; round < 20; round++) {
      await sql`insert into threads (_id, owner) values (${`t${round}`}, 'ada')`
      const client = await suite.connect()
      const list = await client.follow("messages.inOwnThread", { threadId: `t${round}` })
      const other = await client.follow("messages.inThread", { threadId: `o${round}` })
      await writer
        .unsafe(
          `begin; update threads set owner = 'eve' where _id = 't${round}'; commit;
           begin; insert into messages (_id, thread_id, owner, body) values ('b${round}', 't${round}', 'eve', 'secret'); commit;
           begin; update messages set body = 'public' where _id = 'b${round}';
           update threads set owner = 'ada' where _id = 't${round}';
           insert into messages (_id, thread_id, owner) values ('c${round}', 'o${round}', 'ada'); commit;`,
        )
        .simple()
      await client.until(() => list.state !== "live" && other.rows.size === 1, "the end and the other row")
      expect(JSON.stringify(client.events)).not.toContain("secret")
      expect(list.rows.size).toBe(0)
      client.close()
    }
    await writer.end()
  })

  it("of the time without access are not sent to a client that was away then", async () => {
    const { sql } = suite
    await sql`insert into threads (_id, owner) values ('t', 'ada')`
    await sql`insert into messages (_id, thread_id, owner) values ('1', 't', 'ada')`
    const client = await suite.connect()
    const list = await client.follow("messages.inOwnThread", { threadId: "t" })
    const watcher = await suite.connect("eve")
    const threads = await watcher.follow("threads.own", {})
    client.close()
    await sql`update threads set owner = 'eve' where _id = 't'`
    await sql`insert into messages (_id, thread_id, owner) values ('secret', 't', 'eve')`
    await sql`delete from messages where _id = 'secret'`
    await sql`update threads set owner = 'ada' where _id = 't'`
    await sql`insert into threads (_id, owner) values ('e', 'eve')`
    await watcher.until(() => threads.rows.has("e"), "the stream")
    await client.resume()
    await client.until(() => list.state === "live", "the rows")
    expect([...list.rows.keys()]).toEqual(["1"])
    expect(JSON.stringify(client.events)).not.toContain("secret")
  })

  it("continue without a gap if access is confirmed after each commit", async () => {
    const { sql } = suite
    await sql`insert into threads (_id, owner) values ('t', 'ada')`
    const client = await suite.connect()
    const list = await client.follow("messages.inOwnThread", { threadId: "t" })
    for (let index = 0; index < 20; index++) {
      await retitleAndAdd(sql, index)
      await client.until(() => list.rows.size === index + 1, `message ${index}`)
    }
    expect(client.seen.resets).toBe(0)
    expect(client.violations).toEqual([])
  })

  it("arrive whole, even if a check sees later commits than its own and the list starts over", async () => {
    const { sql } = suite
    await sql`insert into threads (_id, owner) values ('t', 'ada')`
    const client = await suite.connect()
    const list = await client.follow("messages.inOwnThread", { threadId: "t" })
    for (let index = 0; index < 20; index++) await retitleAndAdd(sql, index)
    while (list.rows.size < 20) {
      await client.until(() => list.rows.size === 20 || list.state === "reset", "all messages or a reset")
      await client.renew()
    }
    expect(client.violations).toEqual([])
  })

  it("stop at the commit that deletes the connection's session, and other connections continue", async () => {
    const ends = await suite.connect("bob")
    const list = await ends.follow("threads.own", {})
    const stays = await suite.connect("ada")
    await suite.sql.begin(async (transaction) => {
      await transaction.unsafe(END_CREDENTIAL, ["name:bob"])
      await transaction`insert into threads (_id, owner, title) values ('t', 'bob', 'secret')`
    })
    await ends.until(() => !ends.connected, "the end")
    expect(list.state).toBe("revoked")
    expect(ends.goodbye).toMatchObject({ reason: "signed_out", retryAfter: null })
    expect(JSON.stringify(ends.events)).not.toContain("secret")
    expect(stays.connected).toBe(true)
  })

  it("stop with the session that the token came from, however long the token is valid", async () => {
    const client = await suite.connect(`ada@${Date.now() + 600_000}@${Date.now() + 1500}`)
    const list = await client.follow("threads.own", {})
    await client.until(() => !client.connected, "the end")
    expect(list.state).toBe("revoked")
    expect(client.goodbye).toMatchObject({ reason: "expired", retryAfter: null })
  })

  it("stop for a user who is signed out everywhere", async () => {
    const client = await suite.connect("bob")
    const list = await client.follow("threads.own", {})
    const stays = await suite.connect("ada")
    await suite.sql.unsafe(REVOKE_USER, ["bob"])
    await client.until(() => !client.connected, "the end")
    expect(list.state).toBe("revoked")
    expect(client.goodbye).toMatchObject({ reason: "signed_out", retryAfter: null })
    expect(stays.connected).toBe(true)
  })
})

describe("a client message", () => {
  it.each([
    ["nothing", undefined],
    ["null", null],
    ["a number", 7],
    [
      "too many subscriptions",
      { subscriptions: Array.from({ length: 101 }, (_, id) => ({ id, query: "threads.own", args: {} })) },
    ],
    ["a negative id", { subscriptions: [{ id: -1, query: "threads.own", args: {} }] }],
    ["an id that is not a number", { subscriptions: [{ id: "1", query: "threads.own", args: {} }] }],
  ])("subscribe with %s is refused as a whole", async (_name, message) => {
    const client = await suite.connect()
    const answer = await client.ask("subscribe", message)
    expect(answer).toMatchObject({ accepted: [], error: { code: "invalid" } })
  })

  it.each([
    ["missing arguments", "messages.inThread", undefined, "invalid"],
    ["arguments of another type", "messages.inThread", { threadId: { $ne: null } }, "invalid"],
    ["too many arguments", "messages.inThread", { threadId: "t", owner: "eve" }, "invalid"],
    ["a polluted prototype", "messages.inThread", JSON.parse('{"__proto__":{"threadId":"t"}}'), "invalid"],
    ["a character that cannot be stored", "messages.inThread", { threadId: "t\0" }, "invalid"],
    ["a damaged page position", "messages.newest", { threadId: "t", after: "nonsense" }, "invalid"],
    [
      "a page position of another type",
      "messages.newest",
      { threadId: "t", after: "x~1; drop table messages" },
      "invalid",
    ],
    ["an unknown name", "messages.everything", {}, "unknown"],
    ["the name of a property that all objects have", "constructor", {}, "unknown"],
    ["the name of a prototype", "__proto__", {}, "unknown"],
  ])("with %s is refused", async (_name, query, args, code) => {
    const client = await suite.connect()
    expect((await client.follow(query, args)).refusal).toMatchObject({ code })
    expect(await client.ask("query", { query, args })).toMatchObject({ error: { code } })
  })

  it("above 64 kB closes the connection", async () => {
    const client = await suite.connect()
    client.emit("query", { query: "threads.own", args: { huge: "x".repeat(70_000) } })
    await client.until(() => !client.connected, "the end")
  })

  it("sent too often is refused with a reply each, and closes the connection if it continues", async () => {
    const client = await suite.connect()
    const answers = await Promise.all(
      Array.from({ length: 3000 }, () => client.ask("query", { query: "threads.own", args: {} })),
    )
    expect(answers).toHaveLength(3000)
    expect(answers.at(-1)).toMatchObject({ error: { code: "rate_limited", retryAfter: 1000 } })
    expect(client.goodbye).toBeNull()
    for (let index = 0; index < 10_000; index++) client.emit("nonsense", {})
    await client.until(() => !client.connected, "the end")
    expect(client.goodbye).toMatchObject({ reason: "flooding" })
  })

  it("that exceeds a thousand subscriptions on one connection is refused, with a time to retry, until another is closed", async () => {
    const client = await suite.connect()
    const ask = (first: number, count: number) =>
      client.ask("subscribe", {
        subscriptions: Array.from({ length: count }, (_, index) => ({
          id: first + index,
          query: "messages.inThread",
          args: { threadId: `t${first + index}` },
        })),
      })
    for (let first = 0; first < 1000; first += 100) {
      expect(await ask(first, 100)).toMatchObject({ refused: [] })
    }
    expect(await ask(1000, 1)).toMatchObject({
      accepted: [],
      refused: [{ id: 1000, error: { code: "rate_limited", retryAfter: 10_000 } }],
    })
    client.emit("unsubscribe", { ids: [5] })
    expect(await ask(1001, 1)).toMatchObject({ accepted: [1001], refused: [] })
  })

  it("with an id in use is refused and leaves the subscription alone", async () => {
    const client = await suite.connect()
    const list = await client.follow("messages.inThread", { threadId: "t" })
    const answer = await client.ask("subscribe", {
      subscriptions: [{ id: list.id, query: "threads.own", args: {} }],
    })
    expect(answer).toMatchObject({ refused: [{ id: list.id, error: { code: "invalid" } }] })
    await suite.sql`insert into messages (_id, thread_id, owner) values ('1', 't', 'ada')`
    await client.until(() => list.rows.size === 1, "the row")
  })
})

async function retitleAndAdd(sql: postgres.Sql, index: number): Promise<void> {
  await sql.begin(async (transaction) => {
    await transaction`update threads set title = ${String(index)} where _id = 't'`
    await transaction`insert into messages (_id, thread_id, owner) values (${String(index)}, 't', 'ada')`
  })
}
