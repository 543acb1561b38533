import { once } from "node:events"
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { expect, it, onTestFinished, vi } from "vitest"
import { toRequest } from "#server/transport/bridge.ts"
import { readTrustedProxies } from "#server/transport/client-address.ts"
import {
  affordableConnections,
  limitConnections,
  type ConnectionLimits,
} from "#server/transport/connections.ts"
import { endStalledResponse, watchSlowBody } from "#server/transport/slow-clients.ts"
import { portOf } from "../support/port-of.ts"
import { openConnection, readAll, statusesOf } from "../support/raw-http.ts"

const REQUEST = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"

it("an idle connection is closed to make place for an active one", async () => {
  const { port, connections } = await serveLimited({ most: 3, perAddress: 100, trustsProxy: null })
  const silent = [await open(port), await open(port), await open(port)]
  const answer = await ask(port)
  expect(statusesOf(answer)).toEqual([200])
  await ended(silent[0])
  expect(silent.slice(1).every((socket) => !socket.closed)).toBe(true)
  expect(connections.refused()).toEqual({ address: 0, full: 1 })
})

it("a connection with a request in progress is not closed for another, which is refused if all are busy", async () => {
  const release = Promise.withResolvers<void>()
  const { port, connections } = await serveLimited(
    { most: 2, perAddress: 100, trustsProxy: null },
    async (_, outgoing) => {
      await release.promise
      outgoing.end("answered")
    },
  )
  const busy = [await open(port), await open(port)]
  const answers = busy.map((socket) => firstWords(socket))
  for (const socket of busy) socket.write(REQUEST)
  await expect.poll(() => connections.waiting()).toBe(0)
  await ended(await open(port))
  release.resolve()
  for (const answer of await Promise.all(answers)) expect(answer).toContain("answered")
  expect(connections.open()).toBe(2)
  expect(connections.waiting()).toBe(2)
})

it("a connection with a pipelined request is busy until both responses are complete", async () => {
  const answers: ServerResponse[] = []
  const { port, connections } = await serveLimited(
    { most: 2, perAddress: 100, trustsProxy: null },
    (_, outgoing) => {
      answers.push(outgoing)
    },
  )
  const socket = await open(port)
  const first = firstWords(socket)
  socket.write(REQUEST + REQUEST)
  await expect.poll(() => answers.length).toBe(2)
  answers[0]?.end("first")
  expect(await first).toContain("first")
  expect([connections.open(), connections.waiting()]).toEqual([1, 0])
  answers[1]?.end("second")
  await expect.poll(() => connections.waiting()).toBe(1)
})

it("an address has a limited number of connections: a new one replaces the one that was idle longest", async () => {
  const { port, connections, complaints } = await serveLimited({
    most: 100,
    perAddress: 2,
    trustsProxy: null,
  })
  const [first, second] = [await open(port), await open(port)]
  expect(statusesOf(await ask(port))).toEqual([200])
  await ended(first)
  expect(second.closed).toBe(false)
  expect(connections.refused()).toEqual({ address: 1, full: 0 })
  await expect.poll(() => connections.open()).toBe(1)
  expect(statusesOf(await ask(port))).toEqual([200])
  expect(connections.refused()).toEqual({ address: 1, full: 0 })
  expect(complaints).toEqual([expect.stringContaining("TRUSTED_PROXIES")])
})

it("an address whose connections are all busy gets no more, which is logged once", async () => {
  const { port, connections, complaints } = await serveLimited(
    { most: 100, perAddress: 1, trustsProxy: null },
    () => {},
  )
  const busy = await open(port)
  busy.write(REQUEST)
  await expect.poll(() => connections.waiting()).toBe(0)
  for (let times = 0; times < 3; times++) await ended(await open(port))
  expect(busy.closed).toBe(false)
  expect(connections.refused()).toEqual({ address: 3, full: 0 })
  expect(complaints).toHaveLength(1)
})

it("connections from the operator's own proxies are not limited by address", async () => {
  const trustsProxy = readTrustedProxies("127.0.0.0/8") ?? null
  const { port, connections } = await serveLimited({ most: 100, perAddress: 1, trustsProxy })
  const silent = [await open(port), await open(port)]
  expect(statusesOf(await ask(port))).toEqual([200])
  expect(silent.some((socket) => socket.closed)).toBe(false)
  expect(connections.refused()).toEqual({ address: 0, full: 0 })
})

it("as many connections as configured are accepted, if the system allows that many open files", () => {
  expect(affordableConnections(10)).toBe(10)
  const all = affordableConnections(Number.MAX_SAFE_INTEGER)
  expect(all).toBeGreaterThan(100)
})

it("a request body that hardly arrives is aborted, but not one that the server is not reading", async () => {
  const given = new Map<string, () => void>()
  const isGivenUp = new Set<string>()
  const port = await serve(
    createServer((incoming) => {
      const name = incoming.url ?? ""
      if (name === "/unread") incoming.pause()
      else incoming.resume()
      watchSlowBody(
        incoming,
        () => {
          isGivenUp.add(name)
          given.get(name)?.()
        },
        150,
      )
    }),
  )
  const slow = new Promise<void>((resolve) => given.set("/slow", resolve))
  for (const name of ["/unread", "/slow"]) {
    const socket = await open(port)
    socket.write(`POST ${name} HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n`)
    socket.write("a little")
  }
  await slow
  expect([...isGivenUp]).toEqual(["/slow"])
})

it("a request whose body was aborted gets a response that says so, and is counted as such", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] })
  onTestFinished(() => void vi.useRealTimers())
  const arrived = Promise.withResolvers<void>()
  const counted = Promise.withResolvers<number>()
  const port = await serve(
    createServer((incoming, outgoing) => {
      outgoing.once("close", () => counted.resolve(outgoing.statusCode))
      void toRequest(incoming, outgoing, "http://x")
        .text()
        .catch(() => {})
      incoming.once("data", () => arrived.resolve())
    }),
  )
  const socket = await open(port)
  const received = readAll(socket)
  socket.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\na little")
  await arrived.promise
  // In the first of these times it was not read yet.
  vi.advanceTimersByTime(180_000)
  expect(statusesOf(await received)).toEqual([408])
  expect(await counted.promise).toBe(408)
})

it("a connection whose client does not read is closed, but not one that has nothing to send at the moment", async () => {
  const quiet = Promise.withResolvers<ServerResponse>()
  const stalled = Promise.withResolvers<ServerResponse>()
  const port = await serve(
    createServer((incoming, outgoing) => {
      endStalledResponse(outgoing, 150)
      if (incoming.url === "/quiet") {
        outgoing.write("first")
        quiet.resolve(outgoing)
      } else {
        outgoing.write(Buffer.alloc(50_000_000))
        stalled.resolve(outgoing)
      }
    }),
  )
  const reader = await open(port)
  reader.write("GET /quiet HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
  const received = readAll(reader)
  const outgoing = await quiet.promise
  const idler = await open(port)
  idler.pause()
  idler.write(REQUEST)
  await once(await stalled.promise, "close")
  outgoing.end("last")
  expect(await received).toMatch(/first[^]*last/)
})

async function serveLimited(
  limits: ConnectionLimits,
  answer: (incoming: IncomingMessage, outgoing: ServerResponse) => unknown = (_, outgoing) =>
    outgoing.end("ok"),
) {
  const server = createServer(answer)
  const complaints: string[] = []
  const warn = (_: unknown, message?: string) => void complaints.push(message ?? "")
  const connections = limitConnections(server, limits, { warn })
  return { port: await serve(server), connections, complaints }
}

async function serve(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return portOf(server)
}

async function open(port: number): Promise<Socket> {
  const socket = await openConnection(port)
  socket.on("error", () => {})
  socket.resume()
  onTestFinished(() => void socket.destroy())
  return socket
}

async function ask(port: number): Promise<string> {
  const socket = await open(port)
  const answer = readAll(socket)
  socket.write("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
  return answer
}

function firstWords(socket: Socket): Promise<string> {
  return new Promise((resolve) => socket.once("data", (chunk) => resolve(String(chunk))))
}

async function ended(socket: Socket | undefined) {
  if (socket && !socket.closed) await once(socket, "close")
}
