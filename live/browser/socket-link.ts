import { io, type Socket } from "socket.io-client"
import {
  PROTOCOL_VERSION,
  REALTIME_PATH,
  type ClientEvents,
  type GoodbyeEvent,
  type Handshake,
  type Lsn,
  type Refusal,
  type ServerEvents,
} from "../protocol/contract.ts"
import { describeDevice } from "../protocol/device-contract.ts"
import { ConnectionLost } from "./connection-lost.ts"
import { retryDelay } from "./retry-delay.ts"
import type { RealtimeToken } from "./token.ts"
import type { Calls, Link, LinkEvent, LinkListener, LinkState } from "./link.ts"

interface SocketLinkOptions {
  origin: string
  /** Null if nobody is signed in any more. Throws if the server cannot be reached. */
  fetchToken(): Promise<RealtimeToken | null>
}

/**
 * Whichever comes first. Acknowledging sooner would send as many messages as are received; later
 * would exhaust the server's credit.
 */
const ACKNOWLEDGE_AFTER = { events: 16, characters: 64 * 1024, milliseconds: 15_000 }
/**
 * Milliseconds before its expiry at which the token is replaced: time for a slow request and a
 * retry.
 */
const REFRESH_AHEAD = 15_000
/**
 * Milliseconds. The server sends something about every 10 s. A page that wakes after a longer
 * silence does not trust its connection.
 */
const SILENCE = 12_000

/** A connection of this page's (or worker's) own. */
export function openSocketLink({ origin, fetchToken }: SocketLinkOptions): Link {
  const socket: Socket<ServerEvents, ClientEvents> = io(origin, {
    path: REALTIME_PATH,
    transports: ["websocket"],
    autoConnect: false,
    // Ours handles tokens, `retryAfter` and waking pages.
    reconnection: false,
    forceNew: true,
  })
  let listener: LinkListener = { changed() {}, received() {} }
  let state: LinkState = "connecting"
  let sequence = 0
  let acknowledged = 0
  let unacknowledged = 0
  let receivedAt = 0
  let attempt = 0
  let downSince: number | null = null
  let retryAfter: number | null | undefined
  let closed = false
  let connecting = false
  let acknowledgeTimer: ReturnType<typeof setTimeout> | undefined
  let silenceTimer: ReturnType<typeof setInterval> | undefined
  let refreshTimer: ReturnType<typeof setTimeout> | undefined
  let retryTimer: ReturnType<typeof setTimeout> | undefined

  function change(to: LinkState) {
    if (state === to) return
    state = to
    listener.changed(to)
  }

  async function connect() {
    if (closed || connecting || socket.connected) return
    clearTimeout(retryTimer)
    connecting = true
    try {
      const issued = await fetchToken()
      if (!issued) return change("signed-out")
      const handshake: Handshake = {
        version: PROTOCOL_VERSION,
        token: issued.token,
        client: describeDevice(navigator.userAgent),
      }
      socket.auth = handshake
      scheduleRefresh(issued.lifetime)
      // It may have been closed while the token was being fetched.
      if (!closed) socket.connect()
    } catch {
      retry()
    } finally {
      connecting = false
    }
  }

  function retry(wait?: number) {
    if (closed || state === "signed-out" || state === "outdated") return
    change("down")
    downSince ??= performance.now()
    const delay = retryDelay(attempt, performance.now() - downSince, Math.random())
    attempt += 1
    clearTimeout(retryTimer)
    retryTimer = setTimeout(() => void connect(), (wait ?? 0) + delay)
  }

  function scheduleRefresh(lifetime: number) {
    clearTimeout(refreshTimer)
    if (closed) return
    refreshTimer = setTimeout(() => void refresh(), Math.max(1000, lifetime - REFRESH_AHEAD))
  }

  async function refresh() {
    if (!socket.connected) return
    try {
      const issued = await fetchToken()
      if (!issued) {
        change("signed-out")
        socket.disconnect()
        return
      }
      const answer = await socket.timeout(10_000).emitWithAck("authenticate", { token: issued.token })
      if ("error" in answer) socket.disconnect()
      else scheduleRefresh(issued.lifetime)
    } catch {
      scheduleRefresh(REFRESH_AHEAD + 3000)
    }
  }

  function acknowledge(awaiting?: Lsn) {
    clearTimeout(acknowledgeTimer)
    acknowledgeTimer = undefined
    acknowledged = sequence
    unacknowledged = 0
    if (socket.connected) socket.emit("acknowledge", awaiting ? { sequence, awaiting } : { sequence })
  }

  /** Every event counts, even one that only a newer client understands. */
  function receive(name: string, event: { sequence: number }) {
    receivedAt = Date.now()
    if (event.sequence !== sequence + 1) {
      socket.disconnect()
      return
    }
    sequence = event.sequence
    if (name === "goodbye") {
      retryAfter = (event as GoodbyeEvent).retryAfter
      return
    }
    // Those of a newer server are left to the listener, which does nothing about them.
    listener.received([name, event] as LinkEvent)
    const { events, characters, milliseconds } = ACKNOWLEDGE_AFTER
    if (sequence - acknowledged >= events || unacknowledged >= characters) acknowledge()
    else acknowledgeTimer ??= setTimeout(acknowledge, milliseconds)
  }

  /** A connection can be dead for most of a minute before its socket reports it. */
  function listenForSilence() {
    clearInterval(silenceTimer)
    silenceTimer = setInterval(() => {
      if (Date.now() - receivedAt > 2 * SILENCE) socket.disconnect()
    }, SILENCE / 2)
  }

  socket.on("connect", () => {
    sequence = 0
    acknowledged = 0
    unacknowledged = 0
    socket.io.engine.on("packet", ({ data }: { data?: unknown }) => {
      if (typeof data === "string") unacknowledged += data.length
    })
    attempt = 0
    downSince = null
    retryAfter = undefined
    receivedAt = Date.now()
    listenForSilence()
    // A new connection, even if the loss of the old one was never reported.
    state = "up"
    listener.changed("up")
  })
  socket.onAny(receive)
  socket.on("disconnect", () => {
    clearTimeout(acknowledgeTimer)
    acknowledgeTimer = undefined
    clearInterval(silenceTimer)
    retry(retryAfter ?? 0)
  })
  socket.on("connect_error", (error: Error & { data?: Refusal }) => {
    if (error.data?.code === "version") return change("outdated")
    retry(error.data?.retryAfter)
  })
  void connect()

  const ask = <Answer>(send: () => Promise<Answer>): Promise<Answer> =>
    socket.connected ? untilDisconnected(socket, send()) : Promise.reject(new ConnectionLost())

  return {
    listen(given) {
      listener = given
      if (state !== "connecting") listener.changed(state)
    },
    subscribe: (subscriptions) => ask(() => socket.emitWithAck("subscribe", { subscriptions })),
    unsubscribe: (ids) => void (socket.connected && socket.emit("unsubscribe", { ids })),
    call<Name extends keyof Calls>(name: Name, message: Calls[Name]["message"]) {
      const answer =
        name === "leave"
          ? Promise.resolve(void socket.emit("leave", message as Calls["leave"]["message"]))
          : ask(() => socket.emitWithAck(name as "query", message as Calls["query"]["message"]))
      return answer as Promise<Calls[Name]["answer"]>
    },
    await: acknowledge,
    wake() {
      if (state === "outdated") return
      if (socket.connected && Date.now() - receivedAt < SILENCE) return
      attempt = 0
      if (state === "signed-out") state = "down"
      socket.disconnect()
      void connect()
    },
    close() {
      closed = true
      for (const timer of [acknowledgeTimer, silenceTimer, refreshTimer, retryTimer]) clearTimeout(timer)
      socket.disconnect()
    },
  }
}

/** When its connection is lost, socket.io leaves an acknowledgement pending forever. */
function untilDisconnected<Answer>(socket: Socket<ServerEvents, ClientEvents>, answer: Promise<Answer>) {
  const lost = Promise.withResolvers<never>()
  const lose = () => lost.reject(new ConnectionLost())
  socket.once("disconnect", lose)
  return Promise.race([answer, lost.promise]).finally(() => socket.off("disconnect", lose))
}
