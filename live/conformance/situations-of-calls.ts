import { MUTATION } from "./document.ts"
import { lsn, mustEqual, type Connection } from "./scripted-server.ts"
import type { Situations } from "./situations-of-rows.ts"
import type { Stage } from "./stage.ts"

const one = { _id: "1", size: 1 }
const two = { _id: "2", size: 2 }
const three = { _id: "3", size: 3 }
const BY_SIZE = { order: [["size", "asc"]] as [string, "asc"][] }

/** Follows `a`, whose first page has row 1, and shows its second page with row 2. */
async function turnPage(stage: Stage): Promise<{ connection: Connection; ids: [number, number] }> {
  const { connection, id } = await stage.begin([one], { ...BY_SIZE, end: "end 1" })
  await stage.shows(connection, ["1"])
  stage.more("a")
  const [item] = await stage.subscribed(connection)
  mustEqual(item?.args, { after: "end 1" }, "The second page's arguments")
  connection.rows(item!.id, [two], { ...BY_SIZE, token: "page 2" })
  await stage.shows(connection, ["1", "2"])
  return { connection, ids: [id, item!.id] }
}

/** Resets the first page, and serves it again with this end. */
async function resetFirstPage(
  stage: Stage,
  { connection, ids: [id] }: Awaited<ReturnType<typeof turnPage>>,
  end: string | null,
): Promise<void> {
  connection.send("reset", { ids: [id], reason: "large" })
  const [again] = await stage.subscribed(connection)
  mustEqual(again?.args, {}, "The first page's arguments")
  connection.rows(again!.id, [{ ...one, fileName: "new" }], { ...BY_SIZE, end })
}

/** Refusals, queries, mutations, tokens and pages. */
export const situationsOfCalls: Situations = {
  "a subscription that is refused as not found has no rows": async (stage) => {
    stage.follow("a")
    const connection = await stage.connected()
    connection.answerSubscribe = (items) => refuse(items, { code: "not_found", message: "No." })
    await stage.subscribed(connection)
    await stage.shows(connection, [])
  },
  "a subscription that is refused with retryAfter is asked for again": async (stage) => {
    stage.follow("b")
    const connection = await stage.connected()
    await stage.subscribed(connection)
    connection.answerSubscribe = (items) =>
      refuse(items, { code: "unavailable", message: "Later.", retryAfter: 20 })
    stage.follow("a", { after: "x" })
    await stage.subscribed(connection)
    const [again] = await stage.subscribed(connection)
    connection.rows(again!.id, [one])
    await stage.shows(connection, ["1"])
  },
  "a subscription message that is refused as a whole is sent again": async (stage) => {
    stage.follow("b")
    const connection = await stage.connected()
    await stage.subscribed(connection)
    connection.answerSubscribe = () => ({
      accepted: [],
      refused: [],
      error: { code: "rate_limited", message: "Later.", retryAfter: 20 },
    })
    stage.follow("a", { after: "x" })
    await stage.subscribed(connection)
    const [again] = await stage.subscribed(connection)
    connection.rows(again!.id, [one])
    await stage.shows(connection, ["1"])
  },
  "a refusal with an unknown code leaves the other subscriptions alone": async (stage) => {
    const { connection, id } = await stage.begin([one])
    connection.answerSubscribe = (items) => refuse(items, { code: "eclipse", message: "Dark." })
    stage.follow("b", { after: "x" })
    await stage.subscribed(connection)
    connection.commit([[id, "put", "2", two]])
    await stage.shows(connection, ["1", "2"])
  },
  "events of channels are counted and acknowledged, and change no rows": async (stage) => {
    const { connection, id } = await stage.begin([one])
    const channel = "demo.audience"
    connection.send("members", { id, channel, members: ["m1", "m2"], count: 2 })
    for (let number = 0; number < 16; number += 1) {
      connection.send("message", { id, channel, from: "m2", message: { boat: "Petrel", _id: "9" } })
    }
    connection.commit([[id, "put", "2", two]])
    await stage.shows(connection, ["1", "2"])
    await connection.acknowledged.take("acknowledge")
  },
  "a message of a channel between the parts of a snapshot changes neither": async (stage) => {
    stage.follow("a")
    const connection = await stage.connected()
    const [item] = await stage.subscribed(connection)
    connection.rows(item!.id, [one], { more: true })
    connection.send("message", { id: item!.id, channel: "demo.audience", from: "m", message: {} })
    connection.rows(item!.id, [two])
    await stage.shows(connection, ["1", "2"])
  },
  "a query returns a list of rows": async (stage) => {
    const { connection } = await stage.begin([])
    connection.queryAnswer = { value: [one] }
    mustEqual((await stage.query()).value, [one], "The value")
  },
  "a query of a single row returns null if there is none": async (stage) => {
    const { connection } = await stage.begin([])
    connection.queryAnswer = { value: null }
    mustEqual((await stage.query()).value, null, "The value")
  },
  "a query that is refused reports the code": async (stage) => {
    const { connection } = await stage.begin([])
    connection.queryAnswer = { error: { code: "forbidden", message: "No." } }
    mustEqual((await stage.query()).error?.code, "forbidden", "The code")
  },
  "a mutation returns its value": async (stage) => {
    const { connection } = await stage.begin([])
    stage.mutate("m", { fileId: "1" })
    const sent = await connection.mutations.take("send the mutation")
    mustEqual([sent.mutation, sent.args], [MUTATION, { fileId: "1" }], "The mutation")
    sent.answer({ value: 7, xid: "8", lsn: lsn(80) })
    mustEqual((await stage.outcome("m")).value, 7, "The value")
  },
  "a mutation that is refused reports the code": async (stage) => {
    const { connection } = await stage.begin([])
    stage.mutate("m")
    const sent = await connection.mutations.take("send the mutation")
    sent.answer({ error: { code: "conflict", message: "No." } })
    mustEqual((await stage.outcome("m")).error?.code, "conflict", "The code")
  },
  "two mutations have different ids of 8 to 64 characters": async (stage) => {
    const { connection } = await stage.begin([])
    stage.mutate("m")
    const first = await connection.mutations.take("send the mutation")
    first.answer({ value: null, xid: "8", lsn: lsn(80) })
    await stage.outcome("m")
    stage.mutate("n")
    const second = await connection.mutations.take("send the mutation")
    mustEqual(first.mutationId === second.mutationId, false, "Whether the ids are equal")
    mustEqual(/^.{8,64}$/.test(second.mutationId), true, "Whether the id has 8 to 64 characters")
    second.answer({ value: null, xid: "9", lsn: lsn(81) })
  },
  "a mutation whose response is lost is sent again with the same id": async (stage) => {
    const { connection } = await stage.begin([])
    stage.mutate("m")
    const first = await connection.mutations.take("send the mutation")
    connection.drop()
    const next = await stage.connected()
    const second = await next.mutations.take("send the mutation again")
    mustEqual(second.mutationId, first.mutationId, "The id")
    second.answer({ value: 7, xid: "8", lsn: lsn(80) })
    mustEqual((await stage.outcome("m")).value, 7, "The value")
  },
  "a mutation that is asked for without a connection is sent with the next": async (stage) => {
    const { connection } = await stage.begin([])
    stage.server.refusals.push({ code: "unavailable", message: "Later.", retryAfter: 20 })
    connection.drop()
    stage.mutate("m")
    const next = await stage.connected()
    const sent = await next.mutations.take("send the mutation")
    sent.answer({ value: 7, xid: "8", lsn: lsn(80) })
    mustEqual((await stage.outcome("m")).value, 7, "The value")
  },
  "a token is replaced before it expires, and the subscriptions stay": async (stage) => {
    stage.server.tokenLife = 3000
    const { connection } = await stage.begin([one])
    const { token, answer } = await connection.authentications.take("authenticate")
    mustEqual(token, "token 2", "The token")
    stage.server.tokenLife = 60_000
    answer({ expiresAt: Date.now() + 60_000 })
    await stage.shows(connection, ["1"])
  },
  "a client whose new token is refused connects again": async (stage) => {
    stage.server.tokenLife = 3000
    const { connection } = await stage.begin([one])
    const { answer } = await connection.authentications.take("authenticate")
    stage.server.tokenLife = 60_000
    answer({ error: { code: "unauthorized", message: "No." } })
    await stage.connected()
  },
  "the next page begins at the end of the one before": async (stage) => {
    await turnPage(stage)
  },
  "both pages are live": async (stage) => {
    const { connection, ids } = await turnPage(stage)
    connection.commit([[ids[1], "put", "3", three]])
    await stage.shows(connection, ["1", "2", "3"])
    connection.commit([[ids[0], "remove", "1"]])
    await stage.shows(connection, ["2", "3"])
  },
  "a row that moves from one page to the other is shown once": async (stage) => {
    const { connection, ids } = await turnPage(stage)
    connection.commit([
      [ids[1], "put", "1", { ...one, size: 4 }],
      [ids[0], "remove", "1"],
    ])
    await stage.shows(connection, ["2", "1"])
  },
  "pages are resumed one by one after a reconnect": async (stage) => {
    const { connection } = await turnPage(stage)
    connection.drop()
    const next = await stage.connected()
    const items = await stage.subscribed(next, 2)
    const tokens = new Set(items.map(({ have }) => have?.token))
    mustEqual([tokens.has("first"), tokens.has("page 2")], [true, true], "Whether the tokens are sent")
  },
  "a page that is read again with the same end keeps the next page": async (stage) => {
    const pages = await turnPage(stage)
    await resetFirstPage(stage, pages, "end 1")
    pages.connection.commit([[pages.ids[1], "put", "3", three]])
    await stage.shows(pages.connection, ["1", "2", "3"])
  },
  "a page that is read again with another end makes the next page begin there": async (stage) => {
    const pages = await turnPage(stage)
    await resetFirstPage(stage, pages, "end 2")
    const [next] = await stage.subscribed(pages.connection)
    mustEqual(next?.args, { after: "end 2" }, "The next page's arguments")
    await stage.shows(pages.connection, ["1", "2"])
    pages.connection.rows(next!.id, [three], BY_SIZE)
    await stage.shows(pages.connection, ["1", "3"])
  },
  "a page that is read again as the last one ends the pages after it": async (stage) => {
    const pages = await turnPage(stage)
    await resetFirstPage(stage, pages, null)
    await stage.shows(pages.connection, ["1"])
  },
}

function refuse(items: readonly { id: number }[], error: object): object {
  return { accepted: [], refused: items.map(({ id }) => ({ id, error })) }
}
