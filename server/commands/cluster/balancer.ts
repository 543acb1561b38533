import { EventEmitter, once } from "node:events"
import { Agent, createServer, request, type IncomingMessage, type ServerResponse } from "node:http"
import { connect, type Socket } from "node:net"
import { joinSockets } from "./join-sockets.ts"

/** A process behind the balancer. `ops` is the port of its `/readyz`. */
export interface Backend {
  port: number
  ops: number
}

export interface Balancer {
  origin: string
  /** The processes that it considers ready. */
  ready(): Backend[]
  /** Resolves when that many are ready; throws after 45 s. */
  whenReady(count: number): Promise<void>
  /** The errors that the proxy itself returned because no process could respond. */
  failures: string[]
  close(): Promise<void>
}

/** Milliseconds. How long it may still send requests to a process that is no longer ready. */
const PROBE_INTERVAL = 500

/** Milliseconds. Less than a test's timeout, so that the failure names what was waited for. */
const TIMEOUT = 45_000

/**
 * A proxy such as one would put in front of several processes: it polls `/readyz` of each, keeps
 * connections to those that are ready, and spreads requests and sockets over them in turn. A failed
 * request gets a 502 and is never retried, so that the client sees it. Listens on a free port unless
 * it is given one.
 */
export async function openBalancer(backends: readonly Backend[], listensOn = 0): Promise<Balancer> {
  const agents = new Map(backends.map((backend) => [backend, new Agent({ keepAlive: true })]))
  const ready = new Set<Backend>()
  const upgraded = new Set<Socket>()
  const failures: string[] = []
  const probed = new EventEmitter()
  let turn = 0
  let isClosed = false

  const next = () => [...ready][turn++ % ready.size]
  const probes = backends.map((backend) => probe(backend))
  const server = createServer(forward)
  server.on("upgrade", forwardSocket)
  server.listen(listensOn, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("The proxy has no port.")
  return {
    origin: `http://localhost:${address.port}`,
    ready: () => [...ready],
    whenReady: (count) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (ready.size < count) return
          end()
          resolve()
        }
        const timer = setTimeout(() => {
          end()
          const ports = [...ready].map(({ port }) => port).join(", ") || "none"
          reject(
            new Error(`Waited ${TIMEOUT} ms for ${count} ready processes. Ready at the ports: ${ports}.`),
          )
        }, TIMEOUT)
        const end = () => {
          clearTimeout(timer)
          probed.off("probed", look)
        }
        probed.on("probed", look)
        look()
      }),
    failures,
    async close() {
      isClosed = true
      await Promise.all(probes)
      for (const socket of upgraded) socket.destroy()
      server.close()
      server.closeAllConnections()
      for (const agent of agents.values()) agent.destroy()
    },
  }

  async function probe(backend: Backend) {
    while (!isClosed) {
      const answer = await fetch(`http://127.0.0.1:${backend.ops}/readyz`).catch(() => null)
      await answer?.arrayBuffer().catch(() => {})
      if (answer?.ok) ready.add(backend)
      else ready.delete(backend)
      probed.emit("probed")
      await new Promise((resolve) => setTimeout(resolve, PROBE_INTERVAL))
    }
  }

  function forward(incoming: IncomingMessage, outgoing: ServerResponse) {
    const backend = next()
    const fail = (reason: string) => {
      failures.push(`${incoming.method} ${incoming.url}: ${reason}`)
      if (outgoing.headersSent) outgoing.destroy()
      else outgoing.writeHead(502).end()
    }
    if (!backend) return fail("no process is ready")
    const going = request({
      agent: agents.get(backend),
      port: backend.port,
      host: "127.0.0.1",
      method: incoming.method,
      path: incoming.url,
      headers: { ...incoming.headers, "x-forwarded-for": addressOf(incoming) },
    })
    incoming.pipe(going)
    outgoing.on("close", () => outgoing.writableFinished || going.destroy())
    going.on("response", (answer) => {
      const { connection: _, "keep-alive": __, ...headers } = answer.headers
      outgoing.writeHead(answer.statusCode ?? 502, headers)
      answer.pipe(outgoing)
      answer.on("error", (error) => fail(error.message))
    })
    going.on("error", (error) => !outgoing.destroyed && fail(error.message))
  }

  function forwardSocket(incoming: IncomingMessage, coming: Socket, head: Buffer) {
    const backend = next()
    if (!backend) return coming.destroy()
    const going = connect(backend.port, "127.0.0.1")
    const lines = [`${incoming.method} ${incoming.url} HTTP/1.1`]
    for (let at = 0; at < incoming.rawHeaders.length; at += 2)
      lines.push(`${incoming.rawHeaders[at]}: ${incoming.rawHeaders[at + 1]}`)
    going.write(`${lines.join("\r\n")}\r\n\r\n`)
    going.write(head)
    joinSockets(coming, going, upgraded)
  }
}

/** It trusts the clients' own header, so that one test can act as many people. */
function addressOf({ headers, socket }: IncomingMessage) {
  return headers["x-forwarded-for"] ?? socket.remoteAddress
}
