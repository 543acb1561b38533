import { describe, expect, it, vi } from "vitest"
import { openChannel } from "#live/react"
import { LiveClient } from "../../live/browser/client.ts"
import type { ChannelType, Loaded } from "#live/contract"
import { scriptedLink } from "./scripted-link.ts"

const typing: ChannelType<"files.typing", { text: string }> = { name: "files.typing" }
const position = { epoch: "one", lsn: "A" }
const loaded: Loaded = { query: "files.list", args: {}, rows: [], order: [["_id", "asc"]], end: null }

function openTyping() {
  const server = scriptedLink()
  const client = new LiveClient(server.link)
  const { release } = client.hold(loaded)
  const listener = { joined: vi.fn(), members: vi.fn(), message: vi.fn(), left: vi.fn() }
  const channel = openChannel(client, loaded, typing, listener)
  return { server, client, release, listener, channel }
}

async function joinTyping() {
  const opened = openTyping()
  const id = await follow(opened.server, 1)
  await expect.poll(() => opened.listener.joined.mock.calls).toHaveLength(1)
  return { ...opened, id }
}

/** Connects, and sends the rows of the subscription with this number. */
async function follow(server: ReturnType<typeof scriptedLink>, number: number): Promise<number> {
  server.up()
  await expect.poll(() => server.subscribed).toHaveLength(number)
  const { id } = server.subscribed[number - 1]!
  const part = { id, kind: "changes" as const, changes: [], token: "from the server" }
  server.say("snapshot", { position, at: 1, subscriptions: [part] })
  return id
}

describe("a channel of the browser", () => {
  it("is joined once its rows are followed, and passes on who is there and what they say", async () => {
    const { server, listener, id } = await joinTyping()
    expect(server.joined).toEqual([{ id, channel: "files.typing" }])
    expect(listener.joined).toHaveBeenCalledWith("me1")
    expect(listener.members).toHaveBeenLastCalledWith(expect.objectContaining({ members: ["me1"] }))
    server.say("members", { id, channel: "files.typing", members: ["me1", "you"], count: 2 })
    expect(listener.members).toHaveBeenLastCalledWith(expect.objectContaining({ count: 2 }))
    server.say("message", { id, channel: "files.typing", from: "you", message: { text: "Hm" } })
    server.say("message", { id, channel: "files.other", from: "you", message: { text: "No" } })
    server.say("message", { id: id + 1, channel: "files.typing", from: "you", message: { text: "No" } })
    expect(listener.message.mock.calls).toEqual([["you", { text: "Hm" }]])
  })

  it("is joined immediately if its rows are followed already, and again after it was left", async () => {
    const { server, client, channel, id } = await joinTyping()
    channel.leave()
    const later = { joined: vi.fn(), members: vi.fn(), message: vi.fn(), left: vi.fn() }
    openChannel(client, loaded, typing, later)
    await expect.poll(() => later.joined.mock.calls).toHaveLength(1)
    expect(server.joined[1]).toEqual({ id, channel: "files.typing" })
  })

  it("is joined again after the connection was lost, and sends nothing in the meantime", async () => {
    const { server, listener, channel } = await joinTyping()
    server.down()
    expect(listener.left).toHaveBeenCalledTimes(1)
    channel.send({ text: "Lost" })
    expect(server.told).toEqual([])
    const id = await follow(server, 2)
    await expect.poll(() => listener.joined.mock.calls).toHaveLength(2)
    channel.send({ text: "Hm" })
    expect(server.told).toEqual([["broadcast", { id, channel: "files.typing", message: { text: "Hm" } }]])
  })

  it("ends with the right to read the rows", async () => {
    const { server, listener, channel, id } = await joinTyping()
    server.say("revoked", { ids: [id], reason: "denied" })
    expect(listener.left).toHaveBeenCalledTimes(1)
    channel.send({ text: "Hm" })
    expect(server.told).toEqual([])
  })

  it("is left, and hears nothing from then on", async () => {
    const { server, listener, channel, id } = await joinTyping()
    channel.leave()
    expect(server.told).toEqual([["leave", { id, channel: "files.typing" }]])
    server.say("message", { id, channel: "files.typing", from: "you", message: { text: "Hm" } })
    server.down()
    await follow(server, 2)
    expect(server.joined).toHaveLength(1)
    expect(listener.message).not.toHaveBeenCalled()
    expect(listener.left).not.toHaveBeenCalled()
  })
})
