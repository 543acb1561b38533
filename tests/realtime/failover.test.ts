import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest"
import type { Anchor } from "../../live/server/anchor.ts"
import { openStart, type Place } from "../../live/server/begin-stream.ts"
import type { Lineage } from "../../live/server/lineage.ts"
import { openPool } from "../../live/server/pool.ts"
import { openReplication, type ReplicationConnection } from "../../live/server/replication.ts"
import type { Followed, ReferenceClient } from "./support/client.ts"
import { storedMessages } from "./support/oracle.ts"
import { insert, startReplicas, type Replicas } from "./support/replicas.ts"

let replicas: Replicas

beforeAll(async () => {
  replicas = await startReplicas()
}, 120_000)
afterAll(() => replicas.stop())

const ids = (list: Followed) => [...list.rows.keys()].toSorted()

async function stored(): Promise<string[]> {
  const rows = await replicas.on(replicas.primary, (sql) => storedMessages(sql, "t"))
  return rows.map((row) => String(row["_id"]))
}

async function mustShowTheTable(client: ReferenceClient, list: Followed) {
  const expected = await stored()
  await client.until(() => ids(list).join() === expected.join(), `the rows ${expected.join()}`)
  expect(client.violations).toEqual([])
}

/** The anchor that an engine has made. */
async function findAnchor(): Promise<Anchor> {
  const [slot] = await replicas.on(
    replicas.primary,
    (sql) => sql`select slot_name from pg_replication_slots where slot_type = 'logical' and not temporary`,
  )
  return { name: String(slot?.["slot_name"]), publication: "" }
}

/** Ends a test with three servers again. */
async function bringBack() {
  await Promise.all(replicas.standbys.map((node) => replicas.rejoin(node)))
}

describe("when the primary dies and a standby is promoted", () => {
  it("a stream that reads from it goes on as it is, also for clients that reconnect", async () => {
    const [own] = replicas.standbys
    const engine = await replicas.engine([own!])
    const client = await replicas.client(engine)
    const list = await client.follow("messages.inThread", { threadId: "t" })
    const idle = await replicas.client(engine, "bob")
    const idleList = await idle.follow("messages.inThread", { threadId: "t" })
    await insert(replicas, 1, 10)
    await mustShowTheTable(client, list)
    const epoch = client.position?.epoch
    await replicas.primary.kill()
    await replicas.failOver(own!)
    await insert(replicas, 11, 20)
    await mustShowTheTable(client, list)
    // A client that is away before it has it reads its rows again.
    for (const each of [client, idle])
      await each.until(() => each.position?.epoch !== epoch, "the next epoch")
    idle.close()
    client.close()
    await insert(replicas, 21, 30)
    await Promise.all([client.resume(), idle.resume()])
    await mustShowTheTable(client, list)
    await mustShowTheTable(idle, idleList)
    expect(client.seen).toMatchObject({ rows: 1, resets: 0 })
    expect(idle.seen).toMatchObject({ rows: 1, resets: 0 })
    await bringBack()
  })

  it("a stream that read from the dead one goes on at another, and the old primary can be read as a standby", async () => {
    const [follower, other] = replicas.standbys
    const old = replicas.primary
    const engine = await replicas.engine([old, follower!, other!])
    const client = await replicas.client(engine)
    const list = await client.follow("messages.inThread", { threadId: "t" })
    await insert(replicas, 31, 40)
    await mustShowTheTable(client, list)
    const epoch = client.position?.epoch
    await other!.whenStreaming()
    await old.kill()
    await replicas.failOver(other!)
    await insert(replicas, 41, 50)
    await mustShowTheTable(client, list)
    await replicas.rejoin(old)
    // A stream that loses its server before it has noticed the next timeline reads everything again.
    await client.until(() => client.position?.epoch !== epoch, "the next epoch")
    await follower!.stop()
    await insert(replicas, 51, 60)
    await mustShowTheTable(client, list)
    await expect.poll(() => replicas.readersOf(old), { timeout: 30_000 }).toHaveLength(1)
    await insert(replicas, 61, 65)
    await mustShowTheTable(client, list)
    expect(client.seen).toMatchObject({ rows: 1, resets: 0 })
    await bringBack()
  })

  it("a stream that loses its server just after that followed the promoted one goes on at another, if what is shown is confirmed", async () => {
    const old = replicas.primary
    const engine = await replicas.engine([...replicas.standbys, old], { confirmedBy: 1 })
    const [own, promoted] = await replicas.findSource()
    const client = await replicas.client(engine)
    const list = await client.follow("messages.inThread", { threadId: "t" })
    const before = ids(list).length
    await promoted.whenStreaming()
    await old.kill()
    await replicas.failOver(promoted)
    await insert(replicas, 66, 70)
    // On the connection that was open before, so that the process does not know of the next timeline yet.
    await expect
      .poll(async () => (await replicas.on(own, (sql) => storedMessages(sql, "t"))).length, {
        interval: 5,
        timeout: 30_000,
      })
      .toBe(before + 5)
    await own.kill()
    await mustShowTheTable(client, list)
    expect(client.seen).toMatchObject({ rows: 1, resets: 0 })
    await bringBack()
  })

  it("a stream goes on at the server that it read, under whichever address it is found", async () => {
    await replicas.engine([])
    const { url } = replicas.primary
    const anchor = await findAnchor()
    const begin = async (address: string, place: Place, readFrom: string | null) => {
      const pool = openPool(address, 1, { clientTimeout: 10_000 })
      onTestFinished(() => pool.close())
      const opened = await openStart({
        nodes: [{ url: address, name: "one", pool, isFollowed: false }],
        anchor,
        place,
        readFrom,
        lostMs: 60_000,
        connectMs: 10_000,
        trying() {},
        failed() {},
      })
      await opened.connection.end()
      return opened
    }
    const first = await begin(url, { position: () => null, lineage: () => null, isIn: () => false }, null)
    // It was promoted since then, and its timeline ended before the position.
    const lineage = { ...first.lineage, timeline: first.lineage.timeline - 1 }
    const place = { position: () => first.reach, lineage: () => lineage, isIn: () => false }
    const again = await begin(url.replace("127.0.0.1", "localhost"), place, first.incarnation)
    expect(again.continues).toBe(true)
    expect((await begin(url, place, "another server")).continues).toBe(false)
  })

  it("a standby that is promoted while it is asked is not taken for a primary that has lost the log", async () => {
    const [own] = replicas.standbys
    await replicas.engine([own!]) // which has made the anchor there
    const anchor = await findAnchor()
    const pool = openPool(own!.url, 1, { clientTimeout: 10_000 })
    onTestFinished(() => pool.close())
    const begin = (lineage: Lineage, trying: (connection: ReplicationConnection) => void) =>
      openStart({
        nodes: [{ url: own!.url, name: "one", pool, isFollowed: true }],
        anchor,
        place: {
          position: () => 1n << 62n, // what no server has yet
          lineage: () => lineage,
          isIn: ({ timeline }) => timeline === lineage.timeline,
        },
        readFrom: null,
        lostMs: 0,
        connectMs: 10_000,
        trying,
        failed() {},
      })
    const found = openReplication(own!.url, "test")
    const { lineage } = await found.locate(null)
    await found.end()

    const asked = begin(lineage, (connection) => {
      const { locate } = connection
      connection.locate = async (known) => {
        const location = await locate(known)
        await replicas.primary.kill()
        await replicas.failOver(own!)
        return location
      }
    })
    await expect(asked).rejects.toThrow("No server has caught up with what was read before.")

    const opened = await begin(lineage, () => {})
    await opened.connection.end()
    expect(opened).toMatchObject({
      continues: false,
      lineage: { timeline: lineage.timeline + 1 },
    })
    await bringBack()
  })

  it("without what was shown, it disappears, and a position beyond the failover is not gone on from", async () => {
    const engine = await replicas.engine(replicas.standbys)
    const [own, promoted] = await replicas.findSource()
    const client = await replicas.client(engine)
    const list = await client.follow("messages.inThread", { threadId: "t" })
    const away = await replicas.client(engine, "bob")
    const awayList = await away.follow("messages.inThread", { threadId: "t" })
    await promoted.stop()
    await insert(replicas, 71, 80)
    await client.until(() => list.rows.has("00000080"), "rows that will be taken back")
    await away.until(() => awayList.rows.has("00000080"), "rows that will be taken back")
    away.close()
    await replicas.primary.kill()
    await own.kill()
    await promoted.start()
    await replicas.failOver(promoted)
    await insert(replicas, 81, 85)
    await client.until(() => list.state === "reset", "the reset")
    await client.renew()
    await mustShowTheTable(client, list)
    expect(ids(list)).not.toContain("00000080")
    await away.resume()
    await mustShowTheTable(away, awayList)
    expect(away.seen).toMatchObject({ rows: 2, changes: 0 })
    await bringBack()
  })

  it("with what was shown, because it was shown only once that standby had it", async () => {
    const engine = await replicas.engine(replicas.standbys, { confirmedBy: 2 })
    const [own, promoted] = await replicas.findSource()
    const client = await replicas.client(engine)
    const list = await client.follow("messages.inThread", { threadId: "t" })
    const before = ids(list)
    await promoted.stop()
    await insert(replicas, 91, 95)
    // The standby that is read has it, and says so.
    await own.whenStreaming()
    await expect
      .poll(async () => (await replicas.on(own, (sql) => storedMessages(sql, "t"))).length)
      .toBe(before.length + 5)
    const [page] = await Promise.allSettled([
      engine.realtime.snapshotOf([{ query: "messages.inThread", args: { threadId: "t" } }], { id: "ada" }),
    ])
    expect(page).toMatchObject({ status: "rejected", reason: { refusal: { code: "unavailable" } } })
    expect(ids(list)).toEqual(before)
    await replicas.primary.kill()
    await own.kill()
    await promoted.start()
    await replicas.failOver(promoted)
    await bringBack()
    await insert(replicas, 96, 99)
    await mustShowTheTable(client, list)
    expect(ids(list)).not.toContain("00000095")
    expect(client.seen).toMatchObject({ rows: 1, resets: 0 })
  })
})
