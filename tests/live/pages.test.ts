import { describe, expect, it, vi } from "vitest"
import { LiveClient } from "../../live/browser/client.ts"
import { createPageReader, createPages, recallPages } from "#live/react"
import type { Loaded, MutationType } from "#live/contract"
import { scriptedLink } from "./scripted-link.ts"

const position = (number: number) => ({ epoch: "one", lsn: number.toString().padStart(16, "0") })
const rows = (...ids: number[]) => ids.map((id) => ({ _id: String(id) }))

const first: Loaded = {
  query: "numbers",
  args: {},
  rows: rows(1, 2),
  order: [["_id", "asc"]],
  end: "2",
  have: { token: "from the page", position: position(10) },
}

async function threePages() {
  const server = scriptedLink()
  const client = new LiveClient(server.link)
  const pages = createPages(client, first, (after) => ({ after }))
  const ids = () => pages.shown().rows.map(({ _id }) => Number(_id))
  const seen: number[][] = []
  const unwatch = pages.watch(() => seen.push(ids()))
  /** Replies to the newest subscription with these arguments. */
  const answer = async (args: object, found: { _id: string }[], end: string | null) => {
    const id = await vi.waitFor(() => {
      const asked = server.subscribed.findLast((item) => JSON.stringify(item.args) === JSON.stringify(args))
      expect(asked).toBeDefined()
      return asked!.id
    })
    server.say("snapshot", {
      position: position(20),
      at: 1,
      subscriptions: [{ id, kind: "rows", rows: found, order: first.order, end, token: "t" }],
    })
    return id
  }
  server.up()
  const firstId = await answer({}, first.rows, "2")
  pages.loadMore()
  await answer({ after: "2" }, rows(3, 4), "4")
  pages.loadMore()
  await answer({ after: "4" }, rows(5, 6), null)
  return { server, client, pages, ids, seen, unwatch, answer, firstId }
}

describe("the pages of a live query", () => {
  it("are the rendered rows until one of them changes", async () => {
    const server = scriptedLink()
    const pages = createPages(new LiveClient(server.link), first, (after) => ({ after }))
    const rendered = pages.shown()
    const reader = vi.fn()
    pages.watch(reader)
    server.up()
    await expect.poll(() => server.subscribed).toHaveLength(1)
    const { id } = server.subscribed[0]!
    server.say("snapshot", {
      position: position(20),
      at: 1,
      subscriptions: [{ id, kind: "changes", changes: [], token: "t" }],
    })
    expect(pages.shown()).toBe(rendered)
    expect(reader).not.toHaveBeenCalled()
    server.say("commit", { lsn: position(21).lsn, at: 2, xids: ["1"], changes: [[id, "put", "1.5", {}]] })
    expect(pages.shown().rows.map(({ _id }) => _id)).toEqual(["1", "1.5", "2"])
    expect(reader).toHaveBeenCalledTimes(1)
  })

  it("start where the previous one ends, and are shown as one list", async () => {
    const { pages, ids } = await threePages()
    expect(ids()).toEqual([1, 2, 3, 4, 5, 6])
    expect(pages.shown()).toMatchObject({ hasMore: false, isLoading: false })
  })

  it("are each live, and show a row once that moves between two of them", async () => {
    const { server, ids } = await threePages()
    const idOf = (args: object) =>
      server.subscribed.findLast((item) => JSON.stringify(item.args) === JSON.stringify(args))!.id
    server.say("commit", {
      lsn: position(21).lsn,
      at: 2,
      xids: ["1"],
      changes: [
        [idOf({}), "put", "1.5", {}],
        [idOf({ after: "2" }), "remove", "3"],
        [idOf({ after: "4" }), "put", "7", {}],
      ],
    })
    expect(ids()).toEqual([1, 1.5, 2, 4, 5, 6, 7])
  })

  it("follow when the end of the previous one moves, and keep their rows until they have been read again", async () => {
    const { server, ids, seen, answer, firstId } = await threePages()
    server.say("reset", { ids: [firstId], reason: "truncate" })
    await expect.poll(() => server.subscribed).toHaveLength(4)
    seen.length = 0
    await answer({}, rows(0, 1), "1")
    expect(ids()).toEqual([0, 1, 2, 3, 4, 5, 6])
    await answer({ after: "1" }, rows(2, 3), "3")
    await answer({ after: "3" }, rows(4, 5, 6), null)
    expect(ids()).toEqual([0, 1, 2, 3, 4, 5, 6])
    expect(seen.every((list) => list.length === 7)).toBe(true)
  })

  it("disappear when the first one is revoked", async () => {
    const { server, ids, firstId } = await threePages()
    server.say("revoked", { ids: [firstId], reason: "denied" })
    expect(ids()).toEqual([])
  })

  it("all resume after a lost connection", async () => {
    const { server } = await threePages()
    server.down()
    server.up()
    await expect.poll(() => server.subscribed).toHaveLength(6)
    expect(server.subscribed.slice(3).map(({ args, have }) => [args, have])).toEqual([
      [{}, { token: "t", lsn: position(20).lsn }],
      [{ after: "2" }, { token: "t", lsn: position(20).lsn }],
      [{ after: "4" }, { token: "t", lsn: position(20).lsn }],
    ])
  })
})

/** Numbers in pages of two, as a server without a live query for their order returns them. */
async function readTwoPages() {
  const server = scriptedLink()
  const client = new LiveClient(server.link)
  const stored = { ids: [3, 1, 2, 9, 8], fails: 0, reads: 0 }
  const page = (from: number): Loaded => ({
    query: "numbers",
    args: { from },
    rows: stored.ids.slice(from, from + 2).map((id, at) => ({ _id: String(id), place: from + at })),
    order: [["place", "asc"]],
    end: from + 2 < stored.ids.length ? `${from + 2} after ${stored.ids[from + 1]}` : null,
  })
  const readPage = async (args: unknown) => {
    stored.reads++
    if (stored.fails-- > 0) throw new Error("The server can't be reached.")
    return page((args as { from: number }).from)
  }
  const create = () =>
    createPages(createPageReader(client, readPage), page(0), (end) => ({ from: Number.parseInt(end), end }))
  const pages = create()
  const ids = () => pages.shown().rows.map(({ _id }) => Number(_id))
  const seen: number[][] = []
  const unwatch = pages.watch(() => seen.push(ids()))
  server.up()
  pages.loadMore()
  await expect.poll(ids).toEqual([3, 1, 2, 9])
  return { server, client, pages, ids, seen, unwatch, stored, page, create }
}

describe("the pages of a list that no live query has", () => {
  it("keep the order in which they were read, and are not subscribed", async () => {
    const { server, pages, ids } = await readTwoPages()
    expect(pages.shown()).toMatchObject({ hasMore: true, isLoading: false })
    pages.loadMore()
    expect(pages.shown()).toMatchObject({ hasMore: true, isLoading: true })
    await expect.poll(ids).toEqual([3, 1, 2, 9, 8])
    expect(pages.shown()).toMatchObject({ hasMore: false, isLoading: false })
    expect(server.subscribed).toEqual([])
  })

  it("are read again when asked, and no row is lost or doubled in between", async () => {
    const { pages, ids, seen, stored } = await readTwoPages()
    seen.length = 0
    stored.ids = [7, 3, 1, 2, 9, 8]
    await pages.readAgain?.()
    await expect.poll(ids).toEqual([7, 3, 1, 2])
    stored.ids = [3, 2, 9, 8]
    await pages.readAgain?.()
    await expect.poll(ids).toEqual([3, 2, 9, 8])
    for (const list of seen) expect(new Set(list).size).toBe(list.length)
    expect(seen.every((list) => list.includes(2))).toBe(true)
  })

  it("are tried again after a failure, and keep their rows until then", async () => {
    vi.useFakeTimers()
    try {
      const { pages, ids, stored } = await readTwoPages()
      stored.fails = 2
      stored.ids = [3, 1, 2, 8]
      await pages.readAgain?.()
      expect(ids()).toEqual([3, 1, 2, 9])
      await vi.runOnlyPendingTimersAsync()
      expect(ids()).toEqual([3, 1, 2, 8])
    } finally {
      vi.useRealTimers()
    }
  })

  it("show a change at once, keep it when it is made, and take it back when it is refused", async () => {
    const { server, client, ids } = await readTwoPages()
    const removal: MutationType<string, object> = { name: "numbers.remove" }
    const remove = (key: string) => client.mutate(removal, { key }, [{ query: "numbers", op: "remove", key }])
    const done = remove("2")
    expect(ids()).toEqual([3, 1, 9])
    server.sent[0]!.answer({ value: null, xid: "7", lsn: position(30).lsn })
    await done
    server.say("position", { lsn: position(30).lsn, at: 3, lag: 0 })
    expect(ids()).toEqual([3, 1, 9])

    const refused = remove("9")
    expect(ids()).toEqual([3, 1])
    server.sent[1]!.answer({ error: { code: "conflict", message: "Not this one." } })
    await expect(refused).rejects.toThrow("Not this one.")
    expect(ids()).toEqual([3, 1, 9])
  })

  it("are as many as before when the list is watched again", async () => {
    const { client, page, pages, unwatch, stored, create } = await readTwoPages()
    expect(recallPages(client, page(0), () => pages)).toBe(pages)
    unwatch()
    stored.ids = [4, 3, 1, 2, 9, 8]
    const again = recallPages(client, page(0), create)
    const ids = () => again.shown().rows.map(({ _id }) => Number(_id))
    expect(ids()).toEqual([3, 1, 2, 9])
    const seen: number[][] = []
    again.watch(() => seen.push(ids()))
    client.adopt(page(0))
    await expect.poll(ids).toEqual([4, 3, 1, 2])
    expect(seen.every((list) => list.length >= 4)).toBe(true)
  })
})
