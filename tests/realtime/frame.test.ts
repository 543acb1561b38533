import { once } from "node:events"
import { createServer } from "node:http"
import { connect as connectTcp, type AddressInfo, type NetConnectOpts } from "node:net"
import type { Writable } from "node:stream"
import { Server, type Socket } from "socket.io"
import { describe, expect, it, onTestFinished } from "vitest"
import * as ws from "ws"
import { coalesceWrites, createSender, messageFrame, tcpSocketOf } from "../../live/server/frame.ts"

/** More than the kernel buffers for a client that does not read. */
const TOO_MUCH = "x".repeat(16_000_000)

/** A connection of socket.io, and a client that records the events it receives. */
async function connect() {
  const server = createServer()
  const io = new Server(server, { transports: ["websocket"], perMessageDeflate: false })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  const chunks: string[] = []
  const client = new ws.WebSocket(`ws://127.0.0.1:${port}/socket.io/?EIO=4&transport=websocket`, {
    createConnection: (options: NetConnectOpts) =>
      connectTcp(options).on("data", (bytes) => chunks.push(bytes.toString("latin1"))),
  } as ws.ClientOptions)
  onTestFinished(async () => {
    client.terminate()
    await io.close()
  })
  const events: string[] = []
  client.on("message", (bytes: Buffer) => {
    const text = bytes.toString()
    if (text.startsWith("0")) client.send("40")
    if (text.startsWith("42")) events.push(JSON.parse(text.slice(2))[0])
  })
  const socket = await new Promise<Socket>((resolve) => io.once("connection", resolve))
  await expect.poll(() => socket.conn.transport.writable, { interval: 1 }).toBe(true)
  let queued = 0
  socket.conn.on("flush", () => (queued += 1))
  return { client, socket, events, chunks, queued: () => queued, send: createSender(socket) }
}

describe("data sent over a connection", () => {
  it("bypasses the queue of Engine.IO while it is empty", async () => {
    const { socket, events, queued, send } = await connect()
    send('2["first"]')
    send('2["second"]')
    expect(queued()).toBe(0)
    socket.emit("third")
    await expect.poll(() => events, { interval: 5 }).toEqual(["first", "second", "third"])
    expect(queued()).toBe(1)
  })

  it("waits its turn behind queued packets", async () => {
    const { client, socket, events, send } = await connect()
    client.pause()
    socket.emit("first", TOO_MUCH)
    send('2["second"]')
    socket.emit("third")
    send('2["fourth"]')
    client.resume()
    await expect.poll(() => events, { interval: 5 }).toEqual(["first", "second", "third", "fourth"])
  })

  it("goes out before what Engine.IO sends after it", async () => {
    const { client, socket, events, send } = await connect()
    client.pause()
    send(`2["first","${TOO_MUCH}"]`)
    send('2["second"]')
    socket.emit("third")
    client.resume()
    await expect.poll(() => events, { interval: 5 }).toEqual(["first", "second", "third"])
  })

  it("leaves in one write with everything else of the turn, and later data in another", async () => {
    const { socket, events, chunks, send } = await connect()
    chunks.length = 0
    coalesceWrites(tcpSocketOf(socket))
    send('2["first"]')
    socket.emit("second")
    await Promise.resolve()
    send('2["third"]')
    await expect.poll(() => events, { interval: 5 }).toEqual(["first", "second", "third"])
    expect(chunks).toHaveLength(1)
    send('2["fourth"]')
    await expect.poll(() => events, { interval: 5 }).toHaveLength(4)
    expect(chunks).toHaveLength(2)
  })

  it("is dropped without error if the client has gone", async () => {
    const { client, socket, queued, send } = await connect()
    const closed = once(socket.conn, "close")
    client.terminate()
    send('2["into the void"]')
    await closed
    send('2["after it"]')
    expect(queued()).toBe(0)
  })
})

describe("a frame", () => {
  it.each([0, 124, 125, 65_533, 65_535, 200_000])(
    "carries a text of %i bytes whole, in UTF-8",
    async (size) => {
      const text = "é".repeat(Math.floor(size / 2)) + "x".repeat(size % 2)
      const received = Promise.withResolvers<string>()
      // The receiver of a `ws` client; its types do not declare it.
      const { Receiver } = ws as unknown as { Receiver: new (options: { isServer: boolean }) => Writable }
      const receiver = new Receiver({ isServer: false })
      receiver.on("message", (bytes: Buffer) => received.resolve(bytes.toString()))
      receiver.on("error", received.reject)
      receiver.write(messageFrame(text))
      expect(await received.promise).toBe(`4${text}`)
    },
  )
})
