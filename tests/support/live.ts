import { io, type Socket } from "socket.io-client"
import type {
  AuthenticateAnswer,
  BroadcastAnswer,
  ClientEvents,
  CommitEvent,
  JoinAnswer,
  MutateAnswer,
  QueryAnswer,
  Refusal,
  RevokedEvent,
  ServerEvents,
  SnapshotEvent,
  SubscribeAnswer,
} from "../../live/protocol/contract.ts"
import type { TidelineApp } from "./app.ts"
import type { Person } from "./people.ts"

type App = Pick<TidelineApp, "origin">

/** Less than a test's own timeout, so that the failure names what was waited for. */
const UNTIL_MS = 30_000

/** The server answers within 9 s. */
const ANSWER_MS = 15_000

/** A socket client; `received` has its events in order. */
export interface LiveSocket {
  received: { name: string; event: SnapshotEvent | CommitEvent | RevokedEvent }[]
  subscribe(query: unknown, args: unknown, id?: number): Promise<SubscribeAnswer>
  unsubscribe(id: number): void
  query(query: unknown, args?: unknown): Promise<QueryAnswer>
  mutate(mutation: unknown, args?: unknown, mutationId?: string): Promise<MutateAnswer>
  join(channel: string, id?: number): Promise<JoinAnswer>
  broadcast(channel: string, message: unknown, id?: number): Promise<BroadcastAnswer>
  /** Goes on with a new token. */
  authenticate(token: string): Promise<AuthenticateAnswer>
  /** Resolves with the first event that matches, including one received before. */
  until(fits: (event: { name: string; event: unknown }) => boolean): Promise<unknown>
  close(): void
}

export async function realtimeToken(person: Person): Promise<string> {
  const response = await person("/api/realtime/token")
  return ((await response.json()) as { token: string }).token
}

/** Throws the server's refusal. `origin` is the Origin header that a browser would send. */
export async function openLiveSocket(
  app: App,
  token: unknown,
  { origin, version = 1 }: { origin?: string; version?: number } = {},
): Promise<LiveSocket> {
  const socket: Socket<ServerEvents, ClientEvents> = io(app.origin, {
    path: "/realtime",
    transports: ["websocket"],
    reconnection: false,
    forceNew: true,
    auth: { version, token },
    ...(origin && { extraHeaders: { origin } }),
  })
  const received: LiveSocket["received"] = []
  const listening = new Set<() => void>()
  socket.onAny((name: string, event: CommitEvent) => {
    received.push({ name, event })
    if (name === "commit") socket.emit("acknowledge", { sequence: event.sequence })
    for (const look of listening) look()
  })
  await new Promise<void>((resolve, reject) => {
    socket.once("connect", resolve)
    socket.once("connect_error", (error: Error & { data?: Refusal }) => reject(error))
  })
  const ask = (name: string, message: unknown) =>
    socket.timeout(ANSWER_MS).emitWithAck(name as "query", message as { query: string; args: unknown })
  return {
    received,
    subscribe: (query, args, id = 1) => ask("subscribe", { subscriptions: [{ id, query, args }] }),
    unsubscribe: (id) => void socket.emit("unsubscribe", { ids: [id] }),
    query: (query, args = {}) => ask("query", { query, args }),
    mutate: (mutation, args = {}, mutationId = crypto.randomUUID()) =>
      ask("mutate", { mutation, args, mutationId }),
    join: (channel, id = 1) => ask("join", { id, channel }),
    broadcast: (channel, message, id = 1) => ask("broadcast", { id, channel, message }),
    authenticate: (fresh) => ask("authenticate", { token: fresh }),
    until: (fits) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          listening.delete(look)
          const state = socket.connected ? "connected" : "closed"
          const last = JSON.stringify(received.slice(-5))
          reject(
            new Error(
              `No event fits ${String(fits)} after ${UNTIL_MS / 1000} s. The socket is ${state} and received ${last}`,
            ),
          )
        }, UNTIL_MS)
        const look = () => {
          const found = received.find(fits)
          if (!found) return
          clearTimeout(timer)
          listening.delete(look)
          resolve(found.event)
        }
        listening.add(look)
        look()
      }),
    close: () => void socket.disconnect(),
  }
}
