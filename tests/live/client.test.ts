import { describe, expect, it, vi } from "vitest"
import { LiveClient } from "../../live/browser/client.ts"
import { Refused } from "../../live/browser/mutations.ts"
import type { Loaded, MutationType } from "#live/contract"
import { scriptedLink } from "./scripted-link.ts"

const lsn = (number: number) => number.toString(16).toUpperCase().padStart(16, "0")
const position = (number: number) => ({ epoch: "one", lsn: lsn(number) })
const file = (id: string, name: string) => ({ _id: id, name })

const loaded: Loaded = {
  query: "files.list",
  args: {},
  rows: [file("a", "anchor.txt"), file("c", "chart.txt")],
  order: [["name", "asc"]],
  end: null,
  have: { token: "from the page", position: position(10) },
}

const rename: MutationType<"files.rename", { id: string; name: string }, null> = { name: "files.rename" }

function liveFiles() {
  const server = scriptedLink()
  const client = new LiveClient(server.link)
  const { collection, release } = client.hold(loaded)
  const names = () => client.rows(loaded).map((row) => (row as { name?: string }).name)
  return { server, client, collection, release, names }
}

async function liveFilesSubscribed() {
  const live = liveFiles()
  live.server.up()
  await expect.poll(() => live.server.subscribed).toHaveLength(1)
  const id = live.server.subscribed[0]!.id
  live.server.say("snapshot", {
    position: position(11),
    at: 1,
    subscriptions: [{ id, kind: "changes", changes: [], token: "from the server" }],
  })
  return { ...live, id }
}

describe("a live collection", () => {
  it("shows the loader's rows before any connection, and continues from them", async () => {
    const { server, names } = liveFiles()
    expect(names()).toEqual(["anchor.txt", "chart.txt"])
    server.up()
    await expect.poll(() => server.subscribed).toHaveLength(1)
    expect(server.subscribed[0]).toMatchObject({
      query: "files.list",
      args: {},
      have: { token: "from the page" },
    })
    expect(server.subscribed[0]!.have).not.toHaveProperty("lsn")
  })

  it("returns each reader its own loader's rows, and does not notify until something changes", async () => {
    const { server, client, collection, id } = await liveFilesSubscribed()
    const reader = vi.fn()
    collection.watch(reader)
    const another = { ...loaded, rows: loaded.rows.map((row) => ({ ...row })) }
    const later = { ...another, have: { token: "from another page", position: position(12) } }
    expect(client.rows(loaded)).toBe(loaded.rows)
    expect(client.rows(another)).toBe(another.rows)
    expect(client.rows(later)).toBe(loaded.rows)
    expect(reader).not.toHaveBeenCalled()
    server.say("commit", { lsn: lsn(12), at: 2, xids: ["7"], changes: [[id, "remove", "c"]] })
    expect(client.rows(another)).toEqual([file("a", "anchor.txt")])
    expect(client.rows(another)).toBe(client.rows(loaded))
    expect(reader).toHaveBeenCalledTimes(1)
  })

  it("inserts a commit's rows in order, and notifies its readers once", async () => {
    const { server, client, collection, names, id } = await liveFilesSubscribed()
    const reader = vi.fn()
    collection.watch(reader)
    const [anchor] = client.rows(loaded)
    server.say("commit", {
      lsn: lsn(12),
      at: 2,
      xids: ["7"],
      changes: [
        [id, "put", "b", file("b", "buoy.txt")],
        [id, "merge", "c", { name: "zenith.txt" }],
        [id, "merge", "gone", { name: "never" }],
        [id, "remove", "unknown"],
      ],
    })
    expect(names()).toEqual(["anchor.txt", "buoy.txt", "zenith.txt"])
    expect(reader).toHaveBeenCalledTimes(1)
    expect(client.rows(loaded)[0]).toBe(anchor)
  })

  it("buffers a snapshot in several parts until the last one has arrived", async () => {
    const { server, names, id } = await liveFilesSubscribed()
    const part = (rows: ReturnType<typeof file>[]) => ({
      position: position(20),
      at: 3,
      subscriptions: [{ id, kind: "rows" as const, rows, order: loaded.order, end: null, token: "new" }],
    })
    server.say("snapshot", { ...part([file("x", "x")]), more: true })
    expect(names()).toEqual(["anchor.txt", "chart.txt"])
    server.say("snapshot", part([file("y", "y")]))
    expect(names()).toEqual(["x", "y"])
  })

  it("resumes after a lost connection with its token and position", async () => {
    const { server, names } = await liveFilesSubscribed()
    server.down()
    expect(names()).toEqual(["anchor.txt", "chart.txt"])
    server.up()
    await expect.poll(() => server.subscribed).toHaveLength(2)
    expect(server.subscribed[1]!.have).toEqual({ token: "from the server", lsn: lsn(11) })
  })

  it("subscribes from scratch after a reset, and keeps its rows in the meantime", async () => {
    const { server, names, id } = await liveFilesSubscribed()
    server.say("reset", { ids: [id], reason: "truncate" })
    await expect.poll(() => server.subscribed).toHaveLength(2)
    expect(server.subscribed[1]!.have).toBeUndefined()
    expect(names()).toEqual(["anchor.txt", "chart.txt"])
  })

  it("does not claim a position from before a later snapshot that never arrived", async () => {
    const { server, client } = await liveFilesSubscribed()
    const threads = { ...loaded, query: "chat.listThreads" }
    client.hold(threads)
    server.down()
    server.up()
    await expect.poll(() => server.subscribed).toHaveLength(3)
    const [, again, other] = server.subscribed
    server.say("snapshot", {
      position: position(50),
      at: 5,
      subscriptions: [{ id: other!.id, kind: "changes", changes: [], token: "threads" }],
    })
    server.down()
    server.up()
    await expect.poll(() => server.subscribed).toHaveLength(5)
    expect(again!.query).toBe("files.list")
    expect(server.subscribed.slice(3).map(({ query, have }) => [query, have])).toEqual([
      ["files.list", { token: "from the server", lsn: lsn(11) }],
      ["chat.listThreads", { token: "threads", lsn: lsn(50) }],
    ])
  })

  it("resubscribes from scratch if the connection is lost between a reset and the response", async () => {
    const { server, id } = await liveFilesSubscribed()
    server.say("reset", { ids: [id], reason: "slow" })
    server.say("position", { lsn: lsn(60), at: 5, lag: 0 })
    server.down()
    server.up()
    await expect.poll(() => server.subscribed.length).toBeGreaterThan(1)
    expect(server.subscribed.at(-1)!.have).toBeUndefined()
  })

  it("reads revoked rows again when the user has signed in again", async () => {
    const { server } = await liveFilesSubscribed()
    server.signOut()
    server.up()
    await expect.poll(() => server.subscribed).toHaveLength(2)
    expect(server.subscribed[1]!.have).toBeUndefined()
  })

  it("removes rows that are refused on reconnection", async () => {
    const { server, names } = await liveFilesSubscribed()
    const said = vi.spyOn(console, "error").mockImplementation(() => {})
    server.down()
    server.refuse({ code: "not_found", message: "It does not exist." })
    server.up()
    await expect.poll(() => names()).toEqual([])
    expect(said).toHaveBeenCalledWith("The live query files.list was refused: It does not exist.")
    said.mockRestore()
  })

  it("ends a subscription whose response arrives when nobody waits for it any more", async () => {
    const { server } = liveFiles()
    const letGo = server.holdAnswers()
    server.up()
    await expect.poll(() => server.subscribed).toHaveLength(1)
    server.down()
    server.up()
    letGo()
    await expect.poll(() => server.unsubscribed).toEqual([1])
  })

  it("uses a newer loader's rows if the positions of two epochs cannot be compared", async () => {
    const { server, client, names } = await liveFilesSubscribed()
    server.down()
    const have = { token: "of the restored database", position: { epoch: "two", lsn: lsn(2) } }
    client.adopt({ ...loaded, rows: [file("n", "new")], have })
    expect(names()).toEqual(["new"])
  })

  it("shows nothing more of revoked rows", async () => {
    const { server, names, id } = await liveFilesSubscribed()
    server.say("revoked", { ids: [id], reason: "denied" })
    expect(names()).toEqual([])
  })

  it("shows nothing once the user has signed out", async () => {
    const { server, names, client } = await liveFilesSubscribed()
    server.signOut()
    expect(names()).toEqual([])
    expect(client.freshness().state).toBe("signed-out")
  })

  it("uses a newer loader's rows while disconnected, but not while connected", async () => {
    const { server, client, names } = await liveFilesSubscribed()
    const newer = {
      ...loaded,
      rows: [file("n", "new")],
      have: { token: "newer page", position: position(15) },
    }
    client.adopt(newer)
    expect(names()).toEqual(["anchor.txt", "chart.txt"])
    server.down()
    client.adopt(newer)
    expect(names()).toEqual(["new"])
    client.adopt({ ...newer, rows: [], have: { token: "older page", position: position(3) } })
    expect(names()).toEqual(["new"])
  })

  it("reports how old the shown rows are", async () => {
    const { server, client } = await liveFilesSubscribed()
    server.say("position", { lsn: lsn(30), at: 5000, lag: 0 })
    expect(client.freshness()).toEqual({ state: "live", asOf: 5000 })
    server.say("position", { lsn: lsn(30), at: 9000, lag: 3000 })
    expect(client.freshness()).toEqual({ state: "stale", asOf: 6000 })
    server.down()
    expect(client.freshness()).toEqual({ state: "stale", asOf: 6000 })
  })
})

describe("an optimistic mutation", () => {
  const shown = { query: "files.list", op: "merge", key: "a", row: { name: "atoll.txt" } } as const

  it("is shown immediately and settles on the commit that contains it, without a flicker", async () => {
    const { server, client, collection, names, id } = await liveFilesSubscribed()
    const seen: unknown[] = []
    collection.watch(() => seen.push(names()))
    const answer = client.mutate(rename, { id: "a", name: "atoll.txt" }, [shown])
    expect(names()).toEqual(["atoll.txt", "chart.txt"])
    server.sent[0]!.answer({ value: null, xid: "9", lsn: lsn(40) })
    expect(await answer).toBeNull()
    server.say("commit", {
      lsn: lsn(40),
      at: 4,
      xids: ["9"],
      changes: [[id, "merge", "a", { name: "atoll.txt" }]],
    })
    expect(seen).toEqual([
      ["atoll.txt", "chart.txt"],
      ["atoll.txt", "chart.txt"],
    ])
    server.say("commit", {
      lsn: lsn(41),
      at: 4,
      xids: ["10"],
      changes: [[id, "merge", "a", { name: "back.txt" }]],
    })
    expect(names()).toEqual(["back.txt", "chart.txt"])
  })

  it("stays on top of another user's commit until it settles", async () => {
    const { server, client, names, id } = await liveFilesSubscribed()
    void client.mutate(rename, { id: "a", name: "atoll.txt" }, [shown])
    server.say("commit", {
      lsn: lsn(12),
      at: 4,
      xids: ["8"],
      changes: [[id, "merge", "a", { name: "other.txt" }]],
    })
    expect(names()).toEqual(["atoll.txt", "chart.txt"])
  })

  it("that changed none of the rows settles on a later position, which it requests", async () => {
    const { server, client, names } = await liveFilesSubscribed()
    const answer = client.mutate(rename, { id: "a", name: "atoll.txt" }, [shown])
    server.sent[0]!.answer({ value: null, xid: "9", lsn: lsn(40) })
    await answer
    expect(server.awaited).toEqual([lsn(40)])
    server.say("position", { lsn: lsn(41), at: 5, lag: 0 })
    expect(names()).toEqual(["anchor.txt", "chart.txt"])
  })

  it("settles on a snapshot of another epoch, whose positions cannot be compared", async () => {
    const { server, client, names, id } = await liveFilesSubscribed()
    const answer = client.mutate(rename, { id: "a", name: "atoll.txt" }, [shown])
    server.sent[0]!.answer({ value: null, xid: "9", lsn: lsn(4000) })
    await answer
    server.say("snapshot", {
      position: { epoch: "two", lsn: lsn(5) },
      at: 5,
      subscriptions: [{ id, kind: "rows", rows: loaded.rows, order: loaded.order, end: null, token: "two" }],
    })
    expect(names()).toEqual(["anchor.txt", "chart.txt"])
  })

  it("is rolled back if the user signs out before it was sent", async () => {
    const { server, client } = liveFiles()
    const answer = client.mutate(rename, { id: "a", name: "atoll.txt" }, [shown])
    server.signOut()
    await expect(answer).rejects.toThrow("You're signed out.")
    server.up()
    expect(server.sent).toEqual([])
  })

  it("is rolled back if the server refuses it, with a message for the user", async () => {
    const { server, client, names } = await liveFilesSubscribed()
    const answer = client.mutate(rename, { id: "a", name: "atoll.txt" }, [shown])
    server.sent[0]!.answer({ error: { code: "conflict", message: "There is a file of that name." } })
    await expect(answer).rejects.toThrow(
      new Refused({ code: "conflict", message: "There is a file of that name." }),
    )
    expect(names()).toEqual(["anchor.txt", "chart.txt"])
  })

  it("is sent again under the same id if the connection is lost before the response", async () => {
    const { server, client, names } = await liveFilesSubscribed()
    const answer = client.mutate(rename, { id: "a", name: "atoll.txt" }, [shown])
    server.down()
    server.sent[0]!.lose()
    await vi.waitFor(() => {
      server.up()
      expect(server.sent.length).toBeGreaterThan(1)
    })
    expect(names()).toEqual(["atoll.txt", "chart.txt"])
    expect(server.sent[1]!.mutationId).toBe(server.sent[0]!.mutationId)
    server.sent[1]!.answer({ value: null, xid: "9", lsn: lsn(40) })
    expect(await answer).toBeNull()
  })
})
