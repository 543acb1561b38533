import { describe, expect, it, vi } from "vitest"
import { createLiveClient } from "#app/realtime/client.ts"
import { createPages, firstPage } from "#app/realtime/pages.ts"
import type { Loaded } from "#server/realtime/contract.ts"
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
  const client = createLiveClient(server.link)
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
  pages.want(2)
  await answer({ after: "2" }, rows(3, 4), "4")
  pages.want(3)
  await answer({ after: "4" }, rows(5, 6), null)
  return { server, client, pages, ids, seen, unwatch, answer, firstId }
}

describe("the pages of a live query", () => {
  it("are the rendered rows until one of them changes", async () => {
    const server = scriptedLink()
    const rendered = firstPage(first)
    const pages = createPages(createLiveClient(server.link), first, (after) => ({ after }), rendered)
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
    expect(pages.shown()).toMatchObject({ count: 3, hasMore: false })
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
