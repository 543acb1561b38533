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
  type SubscribeAnswer,
  type SubscribeItem,
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
 * Events, characters and milliseconds, whichever comes first. Acknowledging sooner would send as many
 * messages as are received; later would exhaust the server's credit.
 */
const ACKNOWLEDGED_EVENTS = 16
const ACKNOWLEDGED_CHARACTERS = 64 * 1024
const ACKNOWLEDGED_AFTER = 15_000
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
export class SocketLink implements Link {
  readonly #options: SocketLinkOptions
  readonly #socket: Socket<ServerEvents, ClientEvents>
  #listener: LinkListener = { changed() {}, received() {} }
  #state: LinkState = "connecting"
  #sequence = 0
  #acknowledged = 0
  #unacknowledged = 0
  #receivedAt = 0
  #attempt = 0
  #downSince: number | null = null
  #retryAfter: number | null | undefined
  #closed = false
  #connecting = false
  #acknowledgeTimer: ReturnType<typeof setTimeout> | undefined
  #silenceTimer: ReturnType<typeof setInterval> | undefined
  #refreshTimer: ReturnType<typeof setTimeout> | undefined
  #retryTimer: ReturnType<typeof setTimeout> | undefined

  constructor(options: SocketLinkOptions) {
    this.#options = options
    this.#socket = io(this.#options.origin, {
      path: REALTIME_PATH,
      transports: ["websocket"],
      autoConnect: false,
      // Ours handles tokens, `retryAfter` and waking pages.
      reconnection: false,
      forceNew: true,
    })
    this.#socket.on("connect", () => {
      this.#sequence = 0
      this.#acknowledged = 0
      this.#unacknowledged = 0
      this.#socket.io.engine.on("packet", ({ data }: { data?: unknown }) => {
        if (typeof data === "string") this.#unacknowledged += data.length
      })
      this.#attempt = 0
      this.#downSince = null
      this.#retryAfter = undefined
      this.#receivedAt = Date.now()
      this.#listenForSilence()
      // A new connection, even if the loss of the old one was never reported.
      this.#state = "up"
      this.#listener.changed("up")
    })
    this.#socket.onAny((name, event) => this.#receive(name, event))
    this.#socket.on("disconnect", () => {
      clearTimeout(this.#acknowledgeTimer)
      this.#acknowledgeTimer = undefined
      clearInterval(this.#silenceTimer)
      this.#retry(this.#retryAfter)
    })
    this.#socket.on("connect_error", (error: Error & { data?: Refusal }) => {
      if (error.data?.code === "version") return this.#change("outdated")
      this.#retry(error.data?.retryAfter)
    })
    void this.#connect()
  }

  listen(given: LinkListener): void {
    this.#listener = given
    if (this.#state !== "connecting") this.#listener.changed(this.#state)
  }

  subscribe(subscriptions: SubscribeItem[]): Promise<SubscribeAnswer> {
    return this.#ask(() => this.#socket.emitWithAck("subscribe", { subscriptions }))
  }

  unsubscribe(ids: number[]): void {
    if (this.#socket.connected) this.#socket.emit("unsubscribe", { ids })
  }

  call<Name extends keyof Calls>(name: Name, message: Calls[Name]["message"]) {
    const answer =
      name === "leave"
        ? Promise.resolve(void this.#socket.emit("leave", message as Calls["leave"]["message"]))
        : this.#ask(() => this.#socket.emitWithAck(name as "query", message as Calls["query"]["message"]))
    return answer as Promise<Calls[Name]["answer"]>
  }

  await(lsn: Lsn): void {
    this.#acknowledge(lsn)
  }

  wake(): void {
    if (this.#state === "outdated") return
    if (this.#socket.connected && Date.now() - this.#receivedAt < SILENCE) return
    this.#attempt = 0
    if (this.#state === "signed-out") this.#state = "down"
    this.#socket.disconnect()
    void this.#connect()
  }

  close(): void {
    this.#closed = true
    for (const timer of [this.#acknowledgeTimer, this.#silenceTimer, this.#refreshTimer, this.#retryTimer])
      clearTimeout(timer)
    this.#socket.disconnect()
  }

  #ask<Answer>(send: () => Promise<Answer>): Promise<Answer> {
    return this.#socket.connected
      ? untilDisconnected(this.#socket, send())
      : Promise.reject(new ConnectionLost())
  }

  #change(to: LinkState) {
    if (this.#state === to) return
    this.#state = to
    this.#listener.changed(to)
  }

  async #connect() {
    if (this.#closed || this.#connecting || this.#socket.connected) return
    clearTimeout(this.#retryTimer)
    this.#connecting = true
    try {
      const issued = await this.#options.fetchToken()
      if (!issued) return this.#change("signed-out")
      const handshake: Handshake = {
        version: PROTOCOL_VERSION,
        token: issued.token,
        client: describeDevice(navigator.userAgent),
      }
      this.#socket.auth = handshake
      this.#scheduleRefresh(issued.lifetime)
      // It may have been closed while the token was being fetched.
      if (!this.#closed) this.#socket.connect()
    } catch {
      this.#retry()
    } finally {
      this.#connecting = false
    }
  }

  #retry(wait?: number | null) {
    if (this.#closed || this.#state === "signed-out" || this.#state === "outdated") return
    this.#change("down")
    this.#downSince ??= performance.now()
    const delay = retryDelay(this.#attempt, performance.now() - this.#downSince, Math.random())
    this.#attempt += 1
    clearTimeout(this.#retryTimer)
    this.#retryTimer = setTimeout(() => void this.#connect(), (wait ?? 0) + delay)
  }

  #scheduleRefresh(lifetime: number) {
    clearTimeout(this.#refreshTimer)
    if (this.#closed) return
    this.#refreshTimer = setTimeout(() => void this.#refresh(), Math.max(1000, lifetime - REFRESH_AHEAD))
  }

  async #refresh() {
    if (!this.#socket.connected) return
    try {
      const issued = await this.#options.fetchToken()
      if (!issued) {
        this.#change("signed-out")
        this.#socket.disconnect()
        return
      }
      const answer = await this.#socket.timeout(10_000).emitWithAck("authenticate", { token: issued.token })
      if ("error" in answer) this.#socket.disconnect()
      else this.#scheduleRefresh(issued.lifetime)
    } catch {
      this.#scheduleRefresh(REFRESH_AHEAD + 3000)
    }
  }

  #acknowledge(awaiting?: Lsn) {
    clearTimeout(this.#acknowledgeTimer)
    this.#acknowledgeTimer = undefined
    this.#acknowledged = this.#sequence
    this.#unacknowledged = 0
    if (this.#socket.connected)
      this.#socket.emit("acknowledge", { sequence: this.#sequence, ...(awaiting && { awaiting }) })
  }

  /** Every event counts, even one that only a newer client understands. */
  #receive(name: string, event: { sequence: number }) {
    this.#receivedAt = Date.now()
    if (event.sequence !== this.#sequence + 1) {
      this.#socket.disconnect()
      return
    }
    this.#sequence = event.sequence
    if (name === "goodbye") {
      this.#retryAfter = (event as GoodbyeEvent).retryAfter
      return
    }
    // Those of a newer server are left to the listener, which does nothing about them.
    this.#listener.received([name, event] as LinkEvent)
    const isDue =
      this.#sequence - this.#acknowledged >= ACKNOWLEDGED_EVENTS ||
      this.#unacknowledged >= ACKNOWLEDGED_CHARACTERS
    if (isDue) this.#acknowledge()
    else this.#acknowledgeTimer ??= setTimeout(() => this.#acknowledge(), ACKNOWLEDGED_AFTER)
  }

  /** A connection can be dead for most of a minute before its socket reports it. */
  #listenForSilence() {
    clearInterval(this.#silenceTimer)
    this.#silenceTimer = setInterval(() => {
      if (Date.now() - this.#receivedAt > 2 * SILENCE) this.#socket.disconnect()
    }, SILENCE / 2)
  }
}

/** When its connection is lost, socket.io leaves an acknowledgement pending forever. */
function untilDisconnected<Answer>(socket: Socket<ServerEvents, ClientEvents>, answer: Promise<Answer>) {
  const lost = Promise.withResolvers<never>()
  const lose = () => lost.reject(new ConnectionLost())
  socket.once("disconnect", lose)
  return Promise.race([answer, lost.promise]).finally(() => socket.off("disconnect", lose))
}
