import type { Socket } from "socket.io"
import * as v from "valibot"

import type { Channels } from "./channels.ts"
import type { Client } from "./client.ts"
import { coalesceWrites, createSender, tcpSocketOf } from "./frame.ts"
import type { Committed, ErrorCode, GoodbyeEvent, RevokedEvent } from "../protocol/contract.ts"
import type { Hub } from "./hub.ts"
import { CONNECTION_LIMITS } from "./limits.ts"
import type { Log } from "./log.ts"
import { lsnFromWire } from "./lsn.ts"
import {
  AcknowledgeMessage,
  AuthenticateMessage,
  BroadcastMessage,
  JoinMessage,
  LeaveMessage,
  MutateMessage,
  QueryMessage,
  SubscribeMessage,
  UnsubscribeMessage,
} from "./messages.ts"
import type { Metrics } from "./metrics.ts"
import type { MutationRequest } from "./mutate.ts"
import { Outbox } from "./outbox.ts"
import { refusalFor, createRefusal, Refused, tookTooLong } from "./refusal.ts"
import type { Subscriber } from "./subscribe.ts"
import { withUnknownField } from "./unknown-field.ts"

export interface Verified<Viewer> {
  readonly viewer: Viewer
  /** ms. */
  readonly expiresAt: number
  /** When the session behind the token ends, however often the token is renewed. ms. */
  readonly endsAt?: number | undefined
}

/** A connection as the product may show it to its user. */
export interface ConnectionInfo<Viewer> {
  readonly id: string
  readonly userId: string
  readonly viewer: Viewer
  readonly client: string | null
  readonly connectedAt: number
}

export interface ConnectionOptions<Viewer> {
  readonly hub: Hub
  readonly subscriber: Subscriber
  readonly channels: Channels
  readonly log: Log
  readonly metrics: Metrics
  /** Throws `Refused` for an invalid token. */
  readonly verify: (token: string) => Promise<Verified<Viewer>>
  readonly credentialsOf: (viewer: Viewer) => readonly string[]
  readonly isSessionValid: (viewer: Viewer) => Promise<boolean>
  readonly userIdOf: (viewer: Viewer) => string
  readonly query: (query: string, args: unknown, viewer: Viewer) => Promise<unknown>
  readonly mutate: (request: MutationRequest, viewer: Viewer, userId: string) => Promise<Committed>
  readonly opened: (connection: ConnectionInfo<Viewer>) => void
  readonly closed: (connection: ConnectionInfo<Viewer>) => void
  /** The longest that an idle connection goes without receiving its position, in ms. */
  readonly positionMs: number
  readonly messagesPerSecond: number
  /** Every call gets a response within this time, even if it is still running. ms. */
  readonly answerMs: number
  /** How long a connection lives on after its token. */
  readonly graceMs: number
}

/** One accepted connection: what it may send, and when it is closed. */
export class Connection<Viewer> {
  readonly #socket: Socket
  readonly #options: ConnectionOptions<Viewer>
  #viewer: Viewer
  #expiresAt: number
  #endsAt: number | undefined
  readonly #hub: Hub
  readonly #channels: Channels
  readonly #metrics: Metrics
  #credentials: Set<string>
  /**
   * Sessions and credentials that ended while a token was verified, which may have been valid just
   * before.
   */
  #endedDuringRenewal: Set<string> | null = null
  readonly #outbox: Outbox
  readonly #userId: string
  readonly client: Client
  readonly #info: ConnectionInfo<Viewer>
  readonly #positionAfter: number
  readonly #burst: number
  #tokens: number
  #refusedInARow = 0
  #resets: number[] = []
  #ending = false
  #mutations = Promise.resolve()
  #mutationsWaiting = 0
  #queriesRunning = 0
  #placesAwaited = 0
  readonly #gone = Promise.withResolvers<void>()

  constructor(
    socket: Socket,
    verified: Verified<Viewer>,
    name: string | null,
    options: ConnectionOptions<Viewer>,
  ) {
    this.#socket = socket
    this.#options = options
    this.#hub = options.hub
    this.#channels = options.channels
    this.#metrics = options.metrics
    ;({ viewer: this.#viewer, expiresAt: this.#expiresAt, endsAt: this.#endsAt } = verified)
    this.#credentials = new Set(options.credentialsOf(this.#viewer))
    const tcp = tcpSocketOf(socket)
    this.#outbox = new Outbox(createSender(socket), () => performance.now())
    this.#userId = options.userIdOf(this.#viewer)
    this.client = {
      outbox: this.#outbox,
      userId: this.#userId,
      viewer: this.#viewer,
      coalesce: () => coalesceWrites(tcp),
      subscriptions: new Map(),
      pending: new Map(),
      closed: false,
    }
    this.#info = {
      id: socket.id,
      userId: this.#userId,
      viewer: this.#viewer,
      client: name,
      connectedAt: Date.now(),
    }
    // Spreads the positions of connections that were opened at the same moment.
    this.#positionAfter = options.positionMs * (1 - Math.random() / 2)
    this.#burst = options.messagesPerSecond * CONNECTION_LIMITS.burstSeconds
    this.#tokens = this.#burst
    socket.use(([event], next) => (this.#isFlooding(event) ? this.end("flooding", 10_000) : next()))
    socket.on("subscribe", (message: unknown, answer: unknown) => this.#subscribe(message, answer))
    socket.on("unsubscribe", (message: unknown) => this.#unsubscribe(message))
    socket.on("query", (message: unknown, answer: unknown) => this.#query(message, answer))
    socket.on("mutate", (message: unknown, answer: unknown) => this.#mutate(message, answer))
    socket.on("join", (message: unknown, answer: unknown) => this.#join(message, answer))
    socket.on("leave", (message: unknown) => this.#leave(message))
    socket.on("broadcast", (message: unknown, answer: unknown) => this.#broadcast(message, answer))
    socket.on("authenticate", (message: unknown, answer: unknown) => this.#authenticate(message, answer))
    socket.on("acknowledge", (message: unknown) => this.#acknowledge(message))
    options.opened(this.#info)
  }

  /** Whether this credential opened it or is renewing it. */
  wasOpenedBy(credential: string): boolean {
    this.#endedDuringRenewal?.add(credential)
    return this.#credentials.has(credential)
  }

  /** Whether the credential that opened it is still valid. */
  isSessionValid(): Promise<boolean> {
    return this.#options.isSessionValid(this.#viewer)
  }

  /** Resolves when the connection is closed. */
  get gone(): Promise<void> {
    return this.#gone.promise
  }

  #isFlooding(event: string): boolean {
    const cost = event === "acknowledge" ? CONNECTION_LIMITS.acknowledgeCost : 1
    this.#tokens = Math.max(-this.#burst, this.#tokens - cost)
    this.#refusedInARow = this.#tokens < 0 ? this.#refusedInARow + 1 : 0
    return this.#refusedInARow > CONNECTION_LIMITS.floodMessages
  }

  #subscribe(message: unknown, answer: unknown): void {
    const parsed = v.safeParse(SubscribeMessage, message)
    const unfit = parsed.success ? null : malformed("subscribe", SubscribeMessage, message)
    const error = unfit ?? this.#limited()
    if (error || !parsed.success) return reply(answer, { accepted: [], refused: [], error })
    void this.#options.subscriber
      .subscribe(this.client, parsed.output.subscriptions)
      .then((done) => reply(answer, done))
  }

  #unsubscribe(message: unknown): void {
    const parsed = v.safeParse(UnsubscribeMessage, message)
    if (!parsed.success) return
    this.#hub.between(() => {
      for (const id of parsed.output.ids) {
        this.client.pending.delete(id)
        const subscription = this.client.subscriptions.get(id)
        if (subscription) this.#hub.unfollow(subscription)
      }
    })
  }

  #query(message: unknown, answer: unknown): void {
    void this.#answered(answer, "query", async () => {
      const { query, args } = parse(QueryMessage, message, "query")
      if (this.#queriesRunning >= CONNECTION_LIMITS.queriesRunning)
        throw createRefusal("rate_limited", "too-many-queries", 100)
      this.#queriesRunning += 1
      try {
        return { value: await this.#options.query(query, args, this.#viewer) }
      } finally {
        this.#queriesRunning -= 1
      }
    })
  }

  #mutate(message: unknown, answer: unknown): void {
    const error =
      this.#mutationsWaiting >= CONNECTION_LIMITS.mutationsWaiting ? tooMany("changes") : this.#limited()
    if (error) return reply(answer, { error })
    this.#mutationsWaiting += 1
    const turn = this.#mutations
    const done = Promise.withResolvers<void>()
    this.#mutations = done.promise
    void this.#answered(answer, "mutate", async (isLate) => {
      try {
        const request = parse(MutateMessage, message, "mutate")
        await turn
        // It was refused, and the client may have sent it again. A repeated message must not
        // overtake those sent in between.
        if (isLate()) throw tookTooLong()
        const committed = await this.#options.mutate(request, this.#viewer, this.#userId)
        this.#metrics.count("mutations")
        this.#tellWhenPassed(lsnFromWire(committed.lsn))
        return committed
      } finally {
        this.#mutationsWaiting -= 1
        done.resolve()
      }
    })
  }

  #join(message: unknown, answer: unknown): void {
    void this.#answered(answer, "join", async () => {
      const { id, channel } = parse(JoinMessage, message, "join")
      return { value: this.#channels.join(this.client, id, channel) }
    })
  }

  #leave(message: unknown): void {
    const parsed = v.safeParse(LeaveMessage, message)
    if (parsed.success) this.#channels.leave(this.client, parsed.output.id, parsed.output.channel)
  }

  #broadcast(message: unknown, answer: unknown): void {
    void this.#answered(answer, "broadcast", async () => {
      const { id, channel, message: content } = parse(BroadcastMessage, message, "broadcast")
      this.#channels.broadcast(this.client, id, channel, content)
      return { value: null }
    })
  }

  #authenticate(message: unknown, answer: unknown): void {
    void this.#answered(answer, "authenticate", async () => {
      const { token } = parse(AuthenticateMessage, message, "authenticate")
      const renewed = await this.#verifyRenewal(token)
      if (this.#options.userIdOf(renewed.viewer) !== this.#userId) {
        // The response is sent first.
        setImmediate(() => this.end("signed_out", null))
        throw new Refused("unauthorized", "The token belongs to another user.")
      }
      ;({ viewer: this.#viewer, expiresAt: this.#expiresAt, endsAt: this.#endsAt } = renewed)
      this.#credentials = new Set(this.#options.credentialsOf(this.#viewer))
      this.client.viewer = this.#viewer
      return { expiresAt: this.#expiresAt }
    })
  }

  #acknowledge(message: unknown): void {
    const parsed = v.safeParse(AcknowledgeMessage, message)
    if (!parsed.success) return
    this.#outbox.acknowledge(parsed.output.sequence)
    if (parsed.output.awaiting !== undefined) this.#tellWhenPassed(lsnFromWire(parsed.output.awaiting))
  }

  async #verifyRenewal(token: string): Promise<Verified<Viewer>> {
    if (this.#endedDuringRenewal)
      throw new Refused("rate_limited", "A token is being verified already.", 1000)
    const ended = (this.#endedDuringRenewal = new Set<string>())
    try {
      const renewed = await this.#options.verify(token)
      if (this.#options.credentialsOf(renewed.viewer).some((credential) => ended.has(credential)))
        throw createRefusal("unauthorized", "session-ended")
      return renewed
    } finally {
      this.#endedDuringRenewal = null
    }
  }

  tick(now: number, lag: number, lagChanged: boolean): void {
    this.#tokens = Math.min(this.#burst, this.#tokens + this.#options.messagesPerSecond)
    if (now > Math.min(this.#expiresAt + this.#options.graceMs, this.#endsAt ?? Infinity))
      return this.end("expired", null)
    const stalled = this.#outbox.stalledMs()
    if (stalled > CONNECTION_LIMITS.deadMs) return this.end("slow", 10_000)
    if (this.#outbox.overflowing || (stalled > CONNECTION_LIMITS.stallMs && this.#outbox.backlogBytes > 0))
      this.#giveUp()
    const quiet = performance.now() - this.#outbox.sentAt >= this.#positionAfter
    if (lagChanged || quiet) this.#hub.between(() => this.#outbox.position(this.#hub.position(), now, lag))
  }

  /**
   * The client does not keep up, so its queued events are dropped, and it reads again when it can.
   */
  #giveUp(): void {
    if (this.#outbox.held || this.client.subscriptions.size === 0) return
    const now = performance.now()
    this.#resets = [...this.#resets.filter((at) => now - at < CONNECTION_LIMITS.slowResets.withinMs), now]
    if (this.#resets.length > CONNECTION_LIMITS.slowResets.count) return this.end("slow", 10_000)
    this.#hub.between(() => {
      this.#outbox.abandon()
      this.#hub.reset(this.client.subscriptions.values(), "slow")
    })
  }

  end(reason: GoodbyeEvent["reason"], retryAfter: number | null): void {
    if (this.#ending) return
    this.#ending = true
    this.#metrics.count(`goodbyes_${reason}`)
    this.#hub.between(() => {
      const ids = [...this.client.subscriptions.keys()]
      if ((reason === "expired" || reason === "signed_out") && ids.length > 0) {
        this.#outbox.abandon()
        this.#outbox.revoked(ids, reason satisfies RevokedEvent["reason"])
      }
      this.#outbox.goodbye(reason, retryAfter)
      this.#hub.leave(this.client)
      this.#socket.disconnect(true)
    })
  }

  left(): void {
    this.#options.closed(this.#info)
    this.#gone.resolve()
  }

  /**
   * A client that receives commits learns its position from them; only idle ones need this event.
   */
  #tellWhenPassed(lsn: bigint): void {
    if (
      lsn > this.#hub.position() + 0x1000_0000_0000n ||
      this.#placesAwaited >= CONNECTION_LIMITS.lsnsAwaited
    )
      return
    this.#placesAwaited += 1
    void this.#hub.reached(lsn, 30_000).then((reached) => {
      this.#placesAwaited -= 1
      if (!reached || this.client.closed) return
      this.#hub.between(() => {
        if (this.#outbox.lsn < lsn && !this.client.closed)
          this.#outbox.position(this.#hub.position(), Date.now(), 0)
      })
    })
  }

  async #answered(
    answer: unknown,
    doing: string,
    work: (isLate: () => boolean) => Promise<object>,
  ): Promise<void> {
    const error = this.#limited()
    if (error) return reply(answer, { error })
    let isLate = false
    let timer: NodeJS.Timeout | undefined
    const deadline = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => {
        isLate = true
        this.#metrics.count("answers_late")
        reject(tookTooLong())
      }, this.#options.answerMs)
    })
    try {
      reply(answer, await Promise.race([work(() => isLate), deadline]))
    } catch (failure) {
      reply(answer, { error: refusalFor(failure, this.#options.log, `answering ${doing}`) })
    } finally {
      clearTimeout(timer)
    }
  }

  #limited() {
    return this.#tokens >= 0 ? null : tooMany("messages")
  }
}

function parse<Schema extends v.GenericSchema>(
  schema: Schema,
  message: unknown,
  event: string,
): v.InferOutput<Schema> {
  const parsed = v.safeParse(schema, message)
  if (!parsed.success) throw new Refused("invalid", malformed(event, schema, message).message)
  return parsed.output
}

function tooMany(what: "messages" | "changes") {
  return createRefusal("rate_limited", `too-many-${what}`, 1000).refusal
}

function malformed(event: string, schema: v.GenericSchema, message: unknown) {
  return {
    code: "invalid" satisfies ErrorCode as ErrorCode,
    message: withUnknownField(`The message ${event} has the wrong form.`, schema, message),
  }
}

function reply(answer: unknown, value: object): void {
  if (typeof answer === "function") answer(value)
}
