import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { Server, type Socket } from "socket.io"
import type { Change, Refusal, RowOrder, SubscribeItem } from "../protocol/contract.ts"
import { DOCUMENT } from "./document.ts"
import { Queue, Unmet } from "./queue.ts"

type Answer = (answer: object) => void

/** One connection of the client, with the script's side of it. */
export interface Connection {
  readonly handshake: Record<string, unknown>
  readonly subscriptions: Queue<SubscribeItem[]>
  readonly acknowledged: Queue<number>
  readonly queries: Queue<{ query: string; args: unknown }>
  readonly mutations: Queue<{ mutation: string; args: unknown; mutationId: string; answer: Answer }>
  readonly authentications: Queue<{ token: string; answer: Answer }>
  readonly lost: Queue<string>
  /** The reply to the next subscription message, instead of acceptance. */
  answerSubscribe: ((items: SubscribeItem[]) => object) | null
  /** The reply to a `query`. */
  queryAnswer: object
  /** Sends an event with the next sequence number, or another. */
  send(name: string, event: object, sequence?: number): void
  rows(id: number, rows: object[], how?: SnapshotOptions): void
  changes(id: number, changes: Change[], how?: SnapshotOptions): void
  commit(changes: Change[], lsn?: string, xids?: string[]): void
  drop(): void
}

export interface SnapshotOptions {
  lsn?: string
  epoch?: string
  more?: boolean
  order?: RowOrder
  end?: string | null
  token?: string
}

export interface ScriptedServer {
  readonly origin: string
  readonly connections: Queue<Connection>
  /** The refusals of the next handshakes, in order. */
  readonly refusals: Refusal[]
  /** The HTTP statuses that the next token requests get instead of a token. */
  readonly tokenFailures: number[]
  /** Whether nobody is signed in: every token request gets 401, until the situation ends. */
  signedOut: boolean
  /** Milliseconds. */
  tokenLife: number
  /** All tokens issued in this situation. */
  readonly issued: string[]
  /** Drops all connections, and forgets the situation's script. */
  clear(): void
  close(): Promise<void>
}

/** LSNs as the protocol writes them. */
export function lsn(number: number): string {
  return number.toString(16).toUpperCase().padStart(16, "0")
}

export async function startScriptedServer(): Promise<ScriptedServer> {
  const connections = new Queue<Connection>()
  const refusals: Refusal[] = []
  const tokenFailures: number[] = []
  const issued: string[] = []
  const http = createServer(serve)
  const io = new Server(http, { path: "/realtime", transports: ["websocket"], serveClient: false })
  io.use((_socket, next) => {
    const refusal = refusals.shift()
    if (refusal) next(Object.assign(new Error(refusal.code), { data: refusal }))
    else next()
  })
  io.on("connection", (socket) => connections.put(connectionOf(socket)))
  await new Promise<void>((resolve) => void http.listen(0, "127.0.0.1", resolve))
  const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`

  const server: ScriptedServer = {
    origin,
    connections,
    refusals,
    tokenFailures,
    signedOut: false,
    tokenLife: 60_000,
    issued,
    clear() {
      for (const list of [refusals, tokenFailures, issued]) list.splice(0)
      server.signedOut = false
      server.tokenLife = 60_000
      io.disconnectSockets(true)
      connections.clear()
    },
    close: () => io.close(),
  }
  return server

  function serve(request: IncomingMessage, response: ServerResponse): void {
    const [path] = (request.url ?? "").split("?")
    if (path === "/api/realtime.json") return respond(response, 200, DOCUMENT)
    if (path !== "/api/realtime/token") return respond(response, 404, { error: "Not found" })
    if (request.headers.authorization !== "Bearer conformance")
      return respond(response, 401, { error: "Unauthorized" })
    const failure = server.signedOut ? 401 : tokenFailures.shift()
    if (failure !== undefined) return respond(response, failure, { error: "Scripted" })
    const token = `token ${issued.length + 1}`
    issued.push(token)
    respond(response, 200, { token, expiresAt: Date.now() + server.tokenLife, userId: "ada" })
  }
}

function respond(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body))
}

function connectionOf(socket: Socket): Connection {
  let sequence = 0
  const connection: Connection = {
    handshake: socket.handshake.auth,
    subscriptions: new Queue(),
    acknowledged: new Queue(),
    queries: new Queue(),
    mutations: new Queue(),
    authentications: new Queue(),
    lost: new Queue(),
    answerSubscribe: null,
    queryAnswer: { value: [] },
    send(name, event, as) {
      sequence = as ?? sequence + 1
      socket.emit(name, { sequence, ...event })
    },
    rows(id, rows, { order = [["_id", "asc"]], end = null, token = "first", ...how } = {}) {
      snapshot({ id, kind: "rows", rows, order, end, token }, how)
    },
    changes(id, changes, { token = "second", ...how } = {}) {
      snapshot({ id, kind: "changes", changes, token }, how)
    },
    commit(changes, at = lsn(32), xids = ["7"]) {
      connection.send("commit", { lsn: at, at: Date.now(), xids, changes })
    },
    drop: () => void socket.disconnect(true),
  }

  function snapshot(part: object, { lsn: at = lsn(16), epoch = "one", more }: SnapshotOptions): void {
    const position = { epoch, lsn: at }
    connection.send("snapshot", {
      position,
      at: Date.now(),
      ...(more && { more }),
      subscriptions: [part],
    })
  }

  socket.on("subscribe", ({ subscriptions }: { subscriptions: SubscribeItem[] }, answer: Answer) => {
    const scripted = connection.answerSubscribe
    connection.answerSubscribe = null
    answer(scripted?.(subscriptions) ?? { accepted: subscriptions.map(({ id }) => id), refused: [] })
    connection.subscriptions.put(subscriptions)
  })
  socket.on("acknowledge", (message: { sequence: number }) => connection.acknowledged.put(message.sequence))
  socket.on("query", (message: { query: string; args: unknown }, answer: Answer) => {
    connection.queries.put(message)
    answer(connection.queryAnswer)
  })
  socket.on("mutate", (message: { mutation: string; args: unknown; mutationId: string }, answer: Answer) =>
    connection.mutations.put({ ...message, answer }),
  )
  socket.on("authenticate", ({ token }: { token: string }, answer: Answer) =>
    connection.authentications.put({ token, answer }),
  )
  socket.on("disconnect", (reason) => connection.lost.put(reason))
  return connection
}

/** Throws `Unmet` with what was expected and what was found, unless both are equal as JSON. */
export function mustEqual(found: unknown, expected: unknown, what: string): void {
  if (JSON.stringify(found) === JSON.stringify(expected)) return
  throw new Unmet(`${what}: expected ${JSON.stringify(expected)}, found ${JSON.stringify(found)}.`)
}
