import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest"
import type { Notification } from "#server/notifications/contract.ts"
import type { SpaceSummary } from "#server/spaces/contract.ts"
import { openLiveSocket, realtimeToken, type LiveSocket } from "../support/live.ts"
import { ada as adaLovelace, grace as graceHopper, postJson } from "../support/people.ts"
import { withTideline } from "../support/with-tideline.ts"
import { converse } from "../support/space-talk.ts"

let graceId: string
let space: SpaceSummary
/** Grace's. */
let socket: LiveSocket | undefined

const { app, sql, ada, grace } = withTideline({
  settings: { SPACES: "on", CHAT_RATE_LIMIT: "1000", CHAT_TURNS_AT_ONCE: "50" },
  people: { ada: adaLovelace, grace: graceHopper },
})

beforeAll(async () => {
  for (const person of [ada, grace]) await person("/dashboard")
  const [user] = await sql`select _id from users where email = ${graceHopper.email}`
  graceId = String(user?.["_id"])
})
afterAll(async () => {
  socket?.close()
})
beforeEach(async () => {
  socket?.close()
  await sql`delete from spaces`
  const made = await postJson(ada, "/api/spaces", { name: "Engines" })
  ;({ space } = (await made.json()) as { space: SpaceSummary })
  await join()
})

describe("notifications", () => {
  it("are listed and marked as read with an API key", async () => {
    const threadId = await mention()
    await mention()
    const key = await grace.apiKey()
    const headers = { Authorization: `Bearer ${key}` }
    const list = async (query = "") => {
      const response = await fetch(`${app.origin}/api/notifications${query}`, { headers })
      expect(response.status).toBe(200)
      return (await response.json()) as {
        notifications: Notification[]
        unread: number
        nextCursor: string | null
      }
    }
    expect(await list("?limit=1")).toMatchObject({
      notifications: [{ spaceId: space._id, authorName: "Ada Lovelace", excerpt: "@Grace Hopper, look" }],
      unread: 2,
      nextCursor: expect.any(String),
    })
    const read = await fetch(`${app.origin}/api/notifications/read`, {
      method: "POST",
      headers: { ...headers, "Content-Type": "application/json" },
      body: JSON.stringify({ threadId }),
    })
    expect(await read.json()).toEqual({ marked: 1 })
    expect((await list("?unread=true")).notifications).toHaveLength(1)
    expect((await list()).notifications.map((one) => one.read)).toEqual([false, true])
  })

  it("are the rows of the live list, whose pages and those of HTTP continue each other", async () => {
    for (const text of ["first", "second", "third"]) await mention(`@Grace Hopper, ${text}`)
    socket = await openLiveSocket(app, await realtimeToken(grace))
    const { value: rows } = (await socket.query("notifications.list", {})) as { value: { _id: string }[] }
    const page = await (await grace("/api/notifications?limit=1")).json()
    expect(page.notifications).toEqual(rows.slice(0, 1))
    expect(await socket.query("notifications.list", { after: page.nextCursor })).toMatchObject({
      value: rows.slice(1),
    })
    const rest = await (
      await grace(`/api/notifications?cursor=${encodeURIComponent(page.nextCursor)}`)
    ).json()
    expect(rest).toMatchObject({ notifications: rows.slice(1), nextCursor: null })
    // The cursor of the previous version.
    const earlier = await (await grace(`/api/notifications?cursor=${rows[0]?._id}`)).json()
    expect(earlier.notifications).toEqual(rows.slice(1))
    const foreign = await grace(`/api/notifications?cursor=${rows[0]?._id}~1`)
    expect([foreign.status, await foreign.json()]).toMatchObject([400, { reason: "cursor-foreign" }])
  })

  it("are nobody else's, and refuse a body that does not fit", async () => {
    await mention()
    const response = await ada("/api/notifications")
    expect(await response.json()).toMatchObject({ notifications: [], unread: 0 })
    expect(await (await postJson(ada, "/api/notifications/read", {})).json()).toEqual({ marked: 0 })
    expect((await postJson(grace, "/api/notifications/read", { threadId: "all" })).status).toBe(400)
    expect((await fetch(`${app.origin}/api/notifications`)).status).toBe(401)
  })

  it("arrive live, and go at the commit that ends their reader's membership", async () => {
    socket = await openLiveSocket(app, await realtimeToken(grace))
    await socket.subscribe("notifications.listUnread", {}, 1)
    await mention()
    await socket.until(({ name, event }) => name === "commit" && says(event, '[1,"put"', "Ada Lovelace"))
    await ada(`/api/spaces/${space._id}/members/${graceId}`, { method: "DELETE" })
    await socket.until(({ name, event }) => name === "commit" && says(event, '[1,"remove"'))
    await mention("@Grace Hopper, are you there?")
    await join()
    await mention("@Grace Hopper, again")
    await socket.until(({ event }) => says(event, "again"))
    expect(JSON.stringify(socket.received)).not.toContain("are you there")
  })

  it("can be marked as read over the socket, which empties the list of unread ones", async () => {
    socket = await openLiveSocket(app, await realtimeToken(grace))
    await socket.subscribe("notifications.listUnread", {}, 1)
    await mention()
    await socket.until(({ event }) => says(event, "Ada Lovelace"))
    expect(await socket.mutate("notifications.markRead", {})).toMatchObject({ value: { marked: 1 } })
    await socket.until(({ name, event }) => name === "commit" && says(event, '[1,"remove"'))
  })
})

const mention = (text = "@Grace Hopper, look") => converse(ada, space._id, text)

async function join() {
  await sql`insert into space_members (space_id, user_id, role) values (${space._id}, ${graceId}, 'reader')`
}

function says(event: unknown, ...texts: string[]): boolean {
  const text = JSON.stringify(event)
  return texts.every((each) => text.includes(each))
}
