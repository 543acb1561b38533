import type { SubscribeItem } from "../protocol/contract.ts"
import { Unmet } from "./queue.ts"
import { lsn, mustEqual, type Connection } from "./scripted-server.ts"
import type { Situations } from "./situations-of-rows.ts"
import type { Stage } from "./stage.ts"

const one = { _id: "1", size: 1 }
const two = { _id: "2", size: 2 }

/** The client's new connection, and the item that it resumes with. */
async function returns(stage: Stage): Promise<{ connection: Connection; item: SubscribeItem }> {
  const connection = await stage.connected()
  const [item] = await stage.subscribed(connection)
  if (!item) throw new Unmet("The client subscribed to nothing.")
  return { connection, item }
}

/** Resets row 1 for a reason: the row stays visible, and is subscribed to again without `have`. */
function resets(reason: string) {
  return async (stage: Stage) => {
    const { connection, id } = await stage.begin([one])
    connection.send("reset", { ids: [id], reason })
    const [item] = await stage.subscribed(connection)
    mustEqual(item?.have, undefined, "have")
    await stage.shows(connection, ["1"])
    connection.rows(item!.id, [two])
    await stage.shows(connection, ["2"])
  }
}

/** Connections that are refused, lost, resumed and ended. */
export const situationsOfConnections: Situations = {
  "the handshake has the version and the issued token": async (stage) => {
    stage.follow("a")
    const { handshake } = await stage.connected()
    mustEqual([handshake["version"], handshake["token"]], [1, stage.server.issued[0]], "The handshake")
  },
  "a refused handshake with retryAfter is tried again": async (stage) => {
    stage.server.refusals.push({ code: "rate_limited", message: "Later.", retryAfter: 20 })
    const { connection } = await stage.begin([one])
    await stage.shows(connection, ["1"])
  },
  "a handshake that is refused as unauthorized is tried again with a new token": async (stage) => {
    stage.server.refusals.push({ code: "unauthorized", message: "Sign in again." })
    stage.follow("a")
    const { handshake } = await stage.connected()
    mustEqual(handshake["token"], "token 2", "The token")
  },
  "a handshake that is refused for its version ends the client": async (stage) => {
    stage.server.refusals.push({ code: "version", message: "Reload." })
    stage.follow("a")
    await stage.becomes("outdated")
    mustEqual(stage.server.issued.length, 1, "Tokens fetched")
  },
  "a token request that fails is tried again": async (stage) => {
    stage.server.tokenFailures.push(503)
    const { connection } = await stage.begin([one])
    await stage.shows(connection, ["1"])
  },
  "a client that gets no token because nobody is signed in says so": async (stage) => {
    stage.server.signedOut = true
    stage.follow("a")
    await stage.becomes("signed-out")
  },
  "a gap in the sequence ends the connection, and what follows it is not applied": async (stage) => {
    const { connection, id } = await stage.begin([one])
    connection.send("commit", { lsn: lsn(40), at: 0, xids: [], changes: [[id, "put", "2", two]] }, 3)
    await connection.lost.take("close the connection after a gap")
    await stage.keeps(["1"])
    const { item } = await returns(stage)
    mustEqual(item.have, { token: "first", lsn: lsn(16) }, "have")
  },
  "a repeated sequence number ends the connection": async (stage) => {
    const { connection, id } = await stage.begin([one])
    connection.send("commit", { lsn: lsn(40), at: 0, xids: [], changes: [[id, "put", "2", two]] }, 1)
    await connection.lost.take("close the connection after a repetition")
    await stage.keeps(["1"])
  },
  "a first event that is not number 1 ends the connection": async (stage) => {
    stage.follow("a")
    const connection = await stage.connected()
    await stage.subscribed(connection)
    connection.send("position", { lsn: lsn(16), at: 0, lag: 0 }, 2)
    await connection.lost.take("close the connection")
  },
  "a lost connection is resumed with the token and the position": async (stage) => {
    const { connection, id } = await stage.begin([one])
    connection.commit([[id, "put", "2", two]], lsn(48))
    await stage.shows(connection, ["1", "2"])
    connection.drop()
    const { item } = await returns(stage)
    mustEqual(item.have, { token: "first", lsn: lsn(48) }, "have")
  },
  "a position event moves the position to resume from": async (stage) => {
    const { connection } = await stage.begin([one])
    connection.send("position", { lsn: lsn(64), at: Date.now(), lag: 0 })
    await stage.shows(connection, ["1"])
    connection.drop()
    const { item } = await returns(stage)
    mustEqual(item.have, { token: "first", lsn: lsn(64) }, "have")
  },
  "rows stay while the connection is lost, and changes continue them": async (stage) => {
    const { connection } = await stage.begin([one])
    await stage.shows(connection, ["1"])
    connection.drop()
    const next = await returns(stage)
    await stage.keeps(["1"])
    next.connection.changes(next.item.id, [[next.item.id, "put", "2", two]], { lsn: lsn(48) })
    await stage.shows(next.connection, ["1", "2"])
  },
  "a resumed snapshot with no changes keeps the rows and their order": async (stage) => {
    const { connection } = await stage.begin([one], { order: [["size", "desc"]] })
    await stage.shows(connection, ["1"])
    connection.drop()
    const next = await returns(stage)
    next.connection.changes(next.item.id, [])
    next.connection.commit([[next.item.id, "put", "2", two]])
    await stage.shows(next.connection, ["2", "1"])
  },
  "changes in several parts are applied in one step": async (stage) => {
    const { connection } = await stage.begin([one])
    await stage.shows(connection, ["1"])
    connection.drop()
    const next = await returns(stage)
    const { id } = next.item
    next.connection.changes(id, [[id, "remove", "1"]], { more: true })
    await stage.shows(next.connection, ["1"])
    next.connection.changes(id, [[id, "put", "2", two]])
    await stage.shows(next.connection, ["2"])
  },
  "rows after a reconnect replace those that were kept": async (stage) => {
    const { connection } = await stage.begin([one])
    await stage.shows(connection, ["1"])
    connection.drop()
    const next = await returns(stage)
    next.connection.rows(next.item.id, [two])
    await stage.shows(next.connection, ["2"])
  },
  "the token of the last snapshot is the one to resume with": async (stage) => {
    const { connection } = await stage.begin([one])
    await stage.shows(connection, ["1"])
    connection.drop()
    const next = await returns(stage)
    next.connection.changes(next.item.id, [], { token: "second", lsn: lsn(48) })
    await stage.shows(next.connection, ["1"])
    next.connection.drop()
    const { item } = await returns(stage)
    mustEqual(item.have, { token: "second", lsn: lsn(48) }, "have")
  },
  "a snapshot without changes that was not asked for renews the token of live rows": async (stage) => {
    const { connection, id } = await stage.begin([one])
    connection.changes(id, [], { token: "renewed", lsn: lsn(48) })
    connection.commit([[id, "put", "2", two]], lsn(56))
    await stage.shows(connection, ["1", "2"])
    connection.drop()
    const { item } = await returns(stage)
    mustEqual(item.have, { token: "renewed", lsn: lsn(56) }, "have")
  },
  "parts of a snapshot are discarded when the connection is lost, with their token": async (stage) => {
    const { connection } = await stage.begin([one], { more: true })
    await stage.shows(connection, [])
    connection.drop()
    const { connection: again, item } = await returns(stage)
    mustEqual(item.have, undefined, "have")
    again.rows(item.id, [two])
    await stage.shows(again, ["2"])
  },
  "a subscription that was never served is asked for again without have": async (stage) => {
    stage.follow("a")
    const connection = await stage.connected()
    await stage.subscribed(connection)
    connection.drop()
    const { item } = await returns(stage)
    mustEqual(item.have, undefined, "have")
  },
  "a resume that was cut off before its snapshot keeps the token and the position": async (stage) => {
    const { connection } = await stage.begin([one])
    await stage.shows(connection, ["1"])
    connection.drop()
    const next = await returns(stage)
    next.connection.drop()
    const { item } = await returns(stage)
    mustEqual(item.have, { token: "first", lsn: lsn(16) }, "have")
  },
  "positions of a new epoch replace those of the old, even if they are lower": async (stage) => {
    const { connection } = await stage.begin([one], { lsn: lsn(4096) })
    await stage.shows(connection, ["1"])
    connection.drop()
    const next = await returns(stage)
    next.connection.rows(next.item.id, [two], { epoch: "two", lsn: lsn(32), token: "second" })
    await stage.shows(next.connection, ["2"])
    next.connection.drop()
    const { item } = await returns(stage)
    mustEqual(item.have, { token: "second", lsn: lsn(32) }, "have")
  },
  "a reset after truncate keeps the rows and reads again without have": resets("truncate"),
  "a reset after a large transaction does the same": resets("large"),
  "a reset of a slow client does the same": resets("slow"),
  "a reset after a gap in the log does the same": resets("gap"),
  "a reset for a changed schema does the same": resets("schema"),
  "a reset discards the parts of an incomplete snapshot": async (stage) => {
    const { connection, id } = await stage.begin([one], { more: true })
    connection.send("reset", { ids: [id], reason: "slow" })
    const [item] = await stage.subscribed(connection)
    connection.rows(item!.id, [two])
    await stage.shows(connection, ["2"])
  },
  "a subscription that was reset is asked for without have after a reconnect too": async (stage) => {
    const { connection, id } = await stage.begin([one])
    connection.send("reset", { ids: [id], reason: "gap" })
    await stage.subscribed(connection)
    connection.drop()
    const { item } = await returns(stage)
    mustEqual(item.have, undefined, "have")
    await stage.keeps(["1"])
  },
  "rows that may no longer be seen are removed": async (stage) => {
    const { connection, id } = await stage.begin([one])
    connection.send("revoked", { ids: [id], reason: "denied" })
    await stage.shows(connection, [])
  },
  "a revoked subscription leaves the others alone": async (stage) => {
    const { connection, id } = await stage.begin([one])
    stage.follow("b", { after: "x" })
    const [item] = await stage.subscribed(connection)
    connection.rows(item!.id, [two])
    connection.send("revoked", { ids: [id], reason: "denied" })
    await stage.shows(connection, ["2"], "b")
    await stage.keeps([], "a")
  },
  "a server that drains is left, and returned to with the rows": async (stage) => {
    const { connection } = await stage.begin([one])
    connection.send("goodbye", { reason: "draining", retryAfter: 30 })
    connection.drop()
    const { item } = await returns(stage)
    mustEqual(item.have, { token: "first", lsn: lsn(16) }, "have")
    await stage.keeps(["1"])
  },
  "a client whose session has ended removes its rows": async (stage) => {
    const { connection, id } = await stage.begin([one])
    await stage.shows(connection, ["1"])
    stage.server.signedOut = true
    connection.send("revoked", { ids: [id], reason: "signed_out" })
    connection.send("goodbye", { reason: "signed_out", retryAfter: null })
    connection.drop()
    await stage.becomes("signed-out")
    await stage.keeps([])
  },
  "a client whose token has expired returns with a new one": async (stage) => {
    const { connection, id } = await stage.begin([one])
    connection.send("revoked", { ids: [id], reason: "expired" })
    connection.send("goodbye", { reason: "expired", retryAfter: null })
    connection.drop()
    const next = await returns(stage)
    mustEqual(next.connection.handshake["token"], stage.server.issued.at(-1), "The token")
    next.connection.rows(next.item.id, [two])
    await stage.shows(next.connection, ["2"])
  },
  "a server that lags is shown as not live until it has caught up": async (stage) => {
    const { connection } = await stage.begin([one])
    connection.send("position", { lsn: lsn(20), at: Date.now(), lag: 8000 })
    await stage.becomes("stale")
    connection.send("position", { lsn: lsn(24), at: Date.now(), lag: 0 })
    await stage.becomes("live")
  },
}
