import { beforeEach, describe, expect, it, onTestFinished } from "vitest"
import type { BroadcastAnswer, JoinAnswer, Members } from "#live/contract"
import { END_CREDENTIAL, REVOKE_USER } from "../../live/server/realtime.ts"
import type { Followed, ReferenceClient } from "./support/client.ts"
import { startEngine } from "./support/engine.ts"
import { engineSuite } from "./support/suite.ts"

const suite = engineSuite()
const TYPING = "messages.typing"

/** A thread that no other test uses. */
let threadId = ""
let threads = 0

beforeEach(() => {
  threadId = `thread${(threads += 1)}`
})

function join(client: ReferenceClient, { id }: Pick<Followed, "id">, channel = TYPING) {
  return client.ask<JoinAnswer>("join", { id, channel })
}

async function mustJoin(client: ReferenceClient, followed: Pick<Followed, "id">, channel = TYPING) {
  const answer = await join(client, followed, channel)
  if ("error" in answer) throw new Error(answer.error.message)
  return answer.value
}

function broadcast(client: ReferenceClient, { id }: Followed, message: unknown, channel = TYPING) {
  return client.ask<BroadcastAnswer>("broadcast", { id, channel, message })
}

/** Follows the thread and joins its channel. */
async function enter(token: string, url = suite.engine.url) {
  const client = await suite.connect(token, url)
  const followed = await client.follow("messages.inThread", { threadId })
  const { member } = await mustJoin(client, followed)
  return { client, followed, member }
}

function messagesOf({ events }: ReferenceClient) {
  return events.filter((event) => event.event === "message")
}

function membersOf({ events }: ReferenceClient): Members | undefined {
  return events.findLast((event) => event.event === "members")
}

async function untilMembers(client: ReferenceClient, count: number) {
  await client.until(() => membersOf(client)?.count === count, `${count} members`)
}

/** A message of this many bytes as JSON. */
const textOf = (bytes: number) => ({ at: 1, text: "é".repeat((bytes - 18) / 2) })

const dropped = () => Number(suite.engine.realtime.metrics()["channel_messages_dropped"])

const publishes = () => Number(suite.engine.realtime.metrics()["channel_publishes"])

/** A second process on the same database. */
async function startAnother() {
  const engine = await startEngine(suite.databaseUrl)
  let closing: Promise<void> | undefined
  const close = () => (closing ??= engine.close())
  onTestFinished(close)
  return { ...engine, close }
}

describe("a channel", () => {
  it("takes a message to the other members of the same range, and to nobody else", async () => {
    const [ada, bob, eve] = [await enter("ada"), await enter("bob"), await enter("eve")]
    await suite.sql`insert into threads (_id, owner) values ('other', 'eve')`
    const listener = await eve.client.follow("messages.inThread", { threadId: "other" })
    await mustJoin(eve.client, listener)
    eve.client.emit("leave", { id: eve.followed.id, channel: TYPING })
    await untilMembers(ada.client, 2)

    expect(await broadcast(ada.client, ada.followed, { at: 7 })).toEqual({ value: null })

    await bob.client.until(() => messagesOf(bob.client).length > 0, "the message")
    expect(messagesOf(bob.client)).toEqual([
      {
        event: "message",
        sequence: expect.any(Number),
        id: bob.followed.id,
        channel: TYPING,
        from: ada.member,
        message: { at: 7 },
      },
    ])
    await eve.client.ask("query", { query: "threads.own", args: {} })
    expect([...messagesOf(ada.client), ...messagesOf(eve.client)]).toEqual([])
  })

  it("joins the pages of a range, and two subscriptions of one connection", async () => {
    const ada = await suite.connect("ada")
    const first = await ada.follow("messages.newest", { threadId })
    const second = await ada.follow("messages.newest", { threadId, after: "zz~5" })
    const channel = "messages.typingOlder"
    const { member } = await mustJoin(ada, first, channel)
    expect(await mustJoin(ada, second, channel)).toMatchObject({ count: 2 })
    await broadcast(ada, first, { at: 1 }, channel)
    await ada.until(() => messagesOf(ada).length > 0, "the message")
    expect(messagesOf(ada)).toMatchObject([{ id: second.id, from: member, message: { at: 1 } }])
  })

  it("tells its members who is there: at first, and when somebody joins, leaves or disconnects", async () => {
    const ada = await enter("ada")
    const bob = await suite.connect("bob")
    const followed = await bob.follow("messages.inThread", { threadId })
    const joined = await mustJoin(bob, followed)
    expect(joined).toEqual({ member: joined.member, members: [ada.member, joined.member], count: 2 })
    await untilMembers(ada.client, 2)
    bob.emit("leave", { id: followed.id, channel: TYPING })
    await untilMembers(ada.client, 1)
    await mustJoin(bob, followed)
    await untilMembers(ada.client, 2)
    bob.close()
    await untilMembers(ada.client, 1)
    expect(membersOf(ada.client)?.members).toEqual([ada.member])
  })

  it("is left with its subscription, and joined again with the next one", async () => {
    const [ada, bob] = [await enter("ada"), await enter("bob")]
    bob.client.unfollow(bob.followed)
    expect(await broadcast(bob.client, bob.followed, { at: 1 })).toMatchObject({
      error: { code: "not_found" },
    })
    await suite.sql`truncate messages`
    await ada.client.until(() => ada.followed.state === "reset", "the reset")
    expect(await broadcast(ada.client, ada.followed, { at: 1 })).toMatchObject({
      error: { code: "not_found" },
    })
    await ada.client.renew()
    expect(await join(ada.client, ada.followed)).toMatchObject({ value: { count: 1 } })
  })
})

describe("joining is refused", () => {
  it("without a subscription to the channel's query", async () => {
    const ada = await suite.connect("ada")
    const other = await ada.follow("threads.own", {})
    for (const id of [99, other.id]) {
      expect(await join(ada, { id })).toMatchObject({
        error: { code: "not_found", message: expect.stringContaining("messages.inThread") },
      })
    }
  })

  it("for an unknown channel, a second time, and for a message of another form", async () => {
    const { client, followed } = await enter("ada")
    expect(await join(client, followed, "messages.shouting")).toMatchObject({ error: { code: "unknown" } })
    expect(await join(client, followed)).toMatchObject({ error: { code: "conflict" } })
    expect(await client.ask("join", { id: "1", channel: TYPING })).toMatchObject({
      error: { code: "invalid" },
    })
  })

  it("beyond 100 channels of a connection", async () => {
    const ada = await suite.connect("ada")
    const subscriptions = Array.from({ length: 100 }, (_, at) => ({
      id: 1000 + at,
      query: "messages.inThread",
      args: { threadId: `${threadId}-${at}` },
    }))
    await ada.ask("subscribe", { subscriptions })
    const last = await ada.follow("messages.inThread", { threadId })
    await Promise.all(subscriptions.map((each) => mustJoin(ada, each)))
    expect(await join(ada, last)).toMatchObject({ error: { code: "rate_limited" } })
    ada.emit("leave", { id: 1000, channel: TYPING })
    expect(await join(ada, last)).toMatchObject({ value: { count: 1 } })
  })
})

describe("a message is refused", () => {
  it("of one who has not joined", async () => {
    const ada = await suite.connect("ada")
    const followed = await ada.follow("messages.inThread", { threadId })
    expect(await broadcast(ada, followed, { at: 1 })).toMatchObject({ error: { code: "not_found" } })
    expect(await broadcast(ada, followed, { at: 1 }, "shouting")).toMatchObject({
      error: { code: "unknown" },
    })
  })

  it("that the channel's schema does not describe, or that is longer than 1,024 bytes", async () => {
    const { client, followed } = await enter("ada")
    expect(Buffer.byteLength(JSON.stringify(textOf(1024)))).toBe(1024)
    expect(await broadcast(client, followed, { at: "now" })).toMatchObject({ error: { code: "invalid" } })
    expect(await broadcast(client, followed, textOf(1026))).toMatchObject({ error: { code: "too_large" } })
    expect(await broadcast(client, followed, textOf(1024))).toEqual({ value: null })
  })

  it("beyond the rate of a connection, by name, and the others arrive", async () => {
    const [ada, bob] = [await enter("ada"), await enter("bob")]
    const answers = await Promise.all(
      Array.from({ length: 150 }, (_, at) => broadcast(ada.client, ada.followed, { at })),
    )
    const refused = answers.flatMap((answer) => ("error" in answer ? [answer.error] : []))
    expect(refused.length).toBeGreaterThan(0)
    expect(answers.length - refused.length).toBeGreaterThanOrEqual(40)
    expect(new Set(refused.map(({ code }) => code))).toEqual(new Set(["rate_limited"]))
    const last = answers.findLastIndex((answer) => "value" in answer)
    await bob.client.until(
      () => messagesOf(bob.client).some(({ message }) => (message as { at: number }).at === last),
      "the last message that was accepted",
    )
  })
})

describe("listening ends", () => {
  it("when the row that allowed it changes hands", async () => {
    const { channel, one, other, followed, otherFollowed } = await joinOwnThread()
    await suite.sql`update threads set owner = 'eve' where _id = ${threadId}`
    await one.until(() => followed.state === "revoked", "the end of access")
    expect(await broadcast(one, followed, { at: 1 }, channel)).toMatchObject({ error: { code: "not_found" } })
    await other.until(() => otherFollowed.state === "revoked", "the end of access")
    expect(await join(other, otherFollowed, channel)).toMatchObject({ error: { code: "not_found" } })
  })

  it("at the commit, also for a message that is sent before the log has been read that far", async () => {
    const { channel, one, other, followed, otherFollowed } = await joinOwnThread()
    expect(await broadcast(one, followed, { at: 1 }, channel)).toEqual({ value: null })
    await other.until(() => messagesOf(other).length > 0, "the message before")

    const held = await suite.sql`
      select active_pid as pid from pg_replication_slots
      where active and temporary and database = current_database()`
    for (const { pid } of held) process.kill(Number(pid), "SIGSTOP")
    // They arrive together, and the ones before are still being delivered when the last one is read.
    for (let n = 0; n < 3; n++)
      await suite.sql`insert into messages (_id, thread_id, owner, body) values (${`before${n}`}, ${threadId}, 'ada', '')`
    await suite.sql`update threads set owner = 'eve' where _id = ${threadId}`
    const published = publishes()
    expect(await broadcast(one, followed, { at: 2 }, channel)).toEqual({ value: null })
    await expect.poll(publishes).toBeGreaterThan(published)
    for (const { pid } of held) process.kill(Number(pid), "SIGCONT")
    await other.until(() => otherFollowed.state === "revoked", "the end of access")
    expect(messagesOf(other)).toMatchObject([{ message: { at: 1 } }])
  })

  it("when the session or the user's access ends", async () => {
    const ada = await enter("ada")
    for (const [token, end, name] of [
      ["bob", END_CREDENTIAL, "name:bob"],
      ["cyd", REVOKE_USER, "cyd"],
    ] as const) {
      const leaver = await enter(token)
      await untilMembers(ada.client, 2)
      await suite.sql.unsafe(end, [name])
      await leaver.client.until(() => !leaver.client.connected, "the end of the connection")
      await untilMembers(ada.client, 1)
      await broadcast(ada.client, ada.followed, { at: 1 })
      expect(messagesOf(leaver.client)).toEqual([])
    }
  })
})

describe("a channel to which only the server sends", () => {
  const NEWS = "messages.news"
  const sendToMembers = (at: number, { realtime } = suite.engine, args: object = { threadId }) =>
    realtime.sendToMembers({ name: NEWS, args, from: "the news" }, { at })

  it("refuses its members, and takes the server's messages to them alone, in every process", async () => {
    const { one, other, followed, otherFollowed } = await joinOwnThread(NEWS)
    expect(await broadcast(one, followed, { at: 1 }, NEWS)).toMatchObject({ error: { code: "forbidden" } })
    const elsewhere = await startAnother()
    await expect.poll(() => sendToMembers(2, elsewhere)).toBe(true)
    for (const client of [one, other]) await client.until(() => messagesOf(client).length > 0, "the message")
    expect(sendToMembers(3)).toBe(true)
    for (const [client, { id }] of [
      [one, followed],
      [other, otherFollowed],
    ] as const) {
      await client.until(() => JSON.stringify(messagesOf(client)).includes('"at":3'), "the next one")
      expect(messagesOf(client).at(-1)).toMatchObject({ id, channel: NEWS, from: "the news" })
    }
    expect(sendToMembers(4, suite.engine, { threadId: "another" })).toBe(false)
    expect(() => sendToMembers("five" as never)).toThrow("number")
  })

  it("takes nothing that was sent after the commit to those whose access it ended", async () => {
    const { one, followed } = await joinOwnThread(NEWS)
    await suite.sql`update threads set owner = 'eve' where _id = ${threadId}`
    sendToMembers(1)
    await one.until(() => followed.state === "revoked", "the end of access")
    expect(messagesOf(one)).toEqual([])
    await expect.poll(() => sendToMembers(2)).toBe(false)
  })
})

describe("a client that does not acknowledge", () => {
  it("receives the last message of each sender once it does, and its commits at once", async () => {
    const [ada, bob, slow] = [await enter("ada"), await enter("bob"), await enter("cyd")]
    await untilMembers(slow.client, 3)
    slow.client.acknowledging = false
    const before = dropped()
    const send = async ({ client, followed }: typeof ada, at: number) => {
      for (;;) {
        if ("value" in (await broadcast(client, followed, { at }))) return
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    }
    for (let at = 0; at < 40; at += 1) await send(ada, at)
    await send(bob, 100)
    await send(bob, 101)
    await expect.poll(dropped).toBeGreaterThan(before)
    const sent = messagesOf(slow.client).length
    expect(sent).toBeLessThanOrEqual(32)

    for (const id of ["m1", "m2", "m3"]) {
      await suite.sql`insert into messages (_id, thread_id, owner) values (${id}, ${threadId}, 'ada')`
    }
    await slow.client.until(() => slow.followed.rows.size === 3, "three commits")
    expect(messagesOf(slow.client).length).toBe(sent)

    slow.client.acknowledging = true
    await slow.client.until(
      () => messagesOf(slow.client).some(({ message }) => (message as { at: number }).at === 101),
      "bob's last message",
    )
    const late = messagesOf(slow.client).slice(sent)
    expect(late.map(({ from, message }) => [from, message])).toEqual([
      [ada.member, { at: 39 }],
      [bob.member, { at: 101 }],
    ])
    const commits = slow.client.events.filter(({ event }) => event === "commit")
    expect(commits.map((commit) => "changes" in commit && commit.changes[0]?.[2])).toEqual(["m1", "m2", "m3"])
    expect(slow.client.broken).toBe(false)
  })

  it("keeps its subscriptions, however many messages it leaves unread", async () => {
    const [ada, slow] = [await enter("ada"), await enter("cyd")]
    slow.client.acknowledging = false
    for (let at = 0; at < 40; at += 1) await broadcast(ada.client, ada.followed, { at })
    expect(slow.followed.state).toBe("live")
    await suite.sql`insert into messages (_id, thread_id, owner) values ('m', ${threadId}, 'ada')`
    await slow.client.until(() => slow.followed.rows.size === 1, "the commit")
  })
})

describe("between processes", () => {
  it("members see each other, and messages cross both ways", async () => {
    const other = await startAnother()
    const ada = await enter("ada")
    const fay = await enter("fay", other.url)
    await untilMembers(ada.client, 2)
    await untilMembers(fay.client, 2)
    expect(membersOf(ada.client)?.members.toSorted()).toEqual([ada.member, fay.member].toSorted())

    await broadcast(ada.client, ada.followed, { at: 1 })
    await fay.client.until(() => messagesOf(fay.client).length > 0, "ada's message")
    await broadcast(fay.client, fay.followed, { at: 2, text: "\u0000 \u{1F30A}" })
    await ada.client.until(() => messagesOf(ada.client).length > 0, "fay's message")
    expect(messagesOf(fay.client)).toMatchObject([{ from: ada.member, message: { at: 1 } }])
    expect(messagesOf(ada.client)).toMatchObject([
      { from: fay.member, message: { at: 2, text: "\u0000 \u{1F30A}" } },
    ])
  })

  it("a process that starts later learns of the members there are, and takes its own along when it stops", async () => {
    const ada = await enter("ada")
    const other = await startAnother()
    const fay = await enter("fay", other.url)
    await untilMembers(fay.client, 2)
    await untilMembers(ada.client, 2)
    await other.close()
    await untilMembers(ada.client, 1)
    expect(membersOf(ada.client)?.members).toEqual([ada.member])
  })

  it("a text that no process of this version would publish is ignored", async () => {
    const ada = await enter("ada")
    const ignored = () => suite.engine.realtime.metrics()["channel_publishes_ignored"]
    const before = Number(ignored())
    for (const text of ["", "{", '{"from":1}']) {
      await suite.sql.unsafe("select pg_logical_emit_message(true, 'realtime.channels', $1)", [text])
    }
    await expect.poll(ignored).toBe(before + 3)
    await suite.sql`insert into messages (_id, thread_id, owner) values ('m', ${threadId}, 'ada')`
    await ada.client.until(() => ada.followed.rows.size === 1, "a commit")
  })
})

/** Two pages of ada's, at a thread of hers. */
async function joinOwnThread(channel = "messages.ownTyping") {
  await suite.sql`insert into threads (_id, owner) values (${threadId}, 'ada')`
  const [one, other] = [await suite.connect("ada"), await suite.connect("ada")]
  const followed = await one.follow("messages.inOwnThread", { threadId })
  const otherFollowed = await other.follow("messages.inOwnThread", { threadId })
  await mustJoin(one, followed, channel)
  await mustJoin(other, otherFollowed, channel)
  return { channel, one, other, followed, otherFollowed }
}
