import { spawn } from "node:child_process"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { resolve } from "node:path"
import { createInterface } from "node:readline"
import { Server, type Socket } from "socket.io"
import { expect, it, onTestFinished } from "vitest"

const command = resolve(import.meta.dirname, "../../server/commands/live.ts")

it("npm run live resumes from the last snapshot that was whole", async () => {
  const server = await startScript()
  follow(server.origin)

  const first = await server.subscribed()
  expect(first.have).toBeUndefined()
  first.socket.emit("snapshot", snapshot(1, "half", { more: true }))
  await first.acknowledged(1)
  first.socket.disconnect()

  const second = await server.subscribed()
  expect(second.have).toBeUndefined()
  second.socket.emit("snapshot", snapshot(1, "half", { more: true }))
  second.socket.emit("snapshot", snapshot(2, "whole"))
  second.socket.emit("commit", { sequence: 3, lsn: "0/30", at: 0, xids: [], changes: [] })
  await second.acknowledged(3)
  second.socket.disconnect()

  const third = await server.subscribed()
  expect(third.have).toEqual({ token: "whole", lsn: "0/30" })
  third.socket.emit("snapshot", snapshot(1, "half", { more: true }))
  await third.acknowledged(1)
  third.socket.disconnect()

  const fourth = await server.subscribed()
  expect(fourth.have).toEqual({ token: "whole", lsn: "0/30" })
})

it("npm run live replaces its token before it expires, and connects again if that is refused", async () => {
  const server = await startScript({ lifetime: 2000 })
  follow(server.origin)
  const { socket } = await server.subscribed()
  const tokens: string[] = []
  socket.on("authenticate", ({ token }: { token: string }, answer: (response: object) => void) => {
    tokens.push(token)
    answer(
      tokens.length === 1
        ? { expiresAt: Date.now() }
        : { error: { code: "unauthenticated", message: "No." } },
    )
  })
  await server.subscribed()
  expect(tokens).toEqual(["token 2", "token 3"])
})

it("npm run live says why it was refused, and ends", async () => {
  const server = await startScript({ refuses: true })
  const { child, errors } = follow(server.origin)
  expect(await once(child, "close")).toEqual([1, null])
  expect(errors.join("\n")).toBe("not_found: There is no such query.")
})

function snapshot(sequence: number, token: string, more = {}) {
  const subscription = { id: 1, kind: "rows", rows: [], order: [], end: null, token }
  return { sequence, position: { epoch: "1", lsn: "0/20" }, at: 0, subscriptions: [subscription], ...more }
}

function follow(origin: string) {
  const child = spawn(process.execPath, [command, "files.list"], {
    stdio: ["ignore", "ignore", "pipe"],
    env: { PATH: process.env["PATH"], TIDELINE_URL: origin, TIDELINE_API_KEY: "tide_key" },
  })
  onTestFinished(() => void child.kill())
  const errors: string[] = []
  createInterface({ input: child.stderr }).on("line", (line) => errors.push(line))
  return { child, errors }
}

interface Subscribed {
  socket: Socket
  have: unknown
  /** Resolves when the client has acknowledged this event. */
  acknowledged(sequence: number): Promise<void>
}

/** A server that issues tokens valid for `lifetime` ms; the test sends the events. */
async function startScript({ lifetime = 60_000, refuses = false } = {}) {
  let given = 0
  const http = createServer((_request, response) => {
    const token = { token: `token ${++given}`, expiresAt: Date.now() + lifetime, userId: "ada" }
    response.setHeader("content-type", "application/json").end(JSON.stringify(token))
  })
  const io = new Server(http, { path: "/realtime", serveClient: false })
  const arrived: Subscribed[] = []
  const waiting: ((subscribed: Subscribed) => void)[] = []
  io.on("connection", (socket) => {
    const seen = new Set<number>()
    const looking = new Set<() => void>()
    socket.on("acknowledge", ({ sequence }: { sequence: number }) => {
      seen.add(sequence)
      for (const look of looking) look()
    })
    socket.on(
      "subscribe",
      (message: { subscriptions: { have?: unknown }[] }, answer: (response: object) => void) => {
        const problem = { code: "not_found", message: "There is no such query." }
        answer(
          refuses ? { accepted: [], refused: [{ id: 1, error: problem }] } : { accepted: [1], refused: [] },
        )
        const subscribed: Subscribed = {
          socket,
          have: message.subscriptions[0]?.have,
          acknowledged: (sequence) =>
            new Promise((done) => {
              const look = () => void (seen.has(sequence) && done())
              looking.add(look)
              look()
            }),
        }
        const next = waiting.shift()
        if (next) next(subscribed)
        else arrived.push(subscribed)
      },
    )
  })
  await once(http.listen(0, "127.0.0.1"), "listening")
  onTestFinished(() => io.close())
  const { port } = http.address() as AddressInfo
  return {
    origin: `http://127.0.0.1:${port}`,
    subscribed: () =>
      new Promise<Subscribed>((done) => {
        const first = arrived.shift()
        if (first) done(first)
        else waiting.push(done)
      }),
  }
}
