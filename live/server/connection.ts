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

export interface Connection {
  readonly client: Client
  /** Whether this credential opened it or is renewing it. */
  wasOpenedBy(credential: string): boolean
  /** Whether the credential that opened it is still valid. */
  isSessionValid(): Promise<boolean>
  /** Resolves when the connection is closed. */
  readonly gone: Promise<void>
  tick(now: number, lag: number, lagChanged: boolean): void
  end(reason: GoodbyeEvent["reason"], retryAfter: number | null): void
  left(): void
}

/** One accepted connection: what it may send, and when it is closed. */
export function createConnection<Viewer>(
  socket: Socket,
  verified: Verified<Viewer>,
  name: string | null,
  options: ConnectionOptions<Viewer>,
): Connection {
  const { hub, subscriber, channels, log, metrics } = options
  let { viewer, expiresAt, endsAt } = verified
  let credentials = new Set(options.credentialsOf(viewer))
  /**
   * Sessions and credentials that ended while a token was verified, which may have been valid just
   * before.
   */
  let endedDuringRenewal: Set<string> | null = null
  const tcp = tcpSocketOf(socket)
  const outbox = new Outbox(createSender(socket), () => performance.now())
  const userId = options.userIdOf(viewer)
  const client: Client = {
    outbox,
    userId,
    viewer,
    coalesce: () => coalesceWrites(tcp),
    subscriptions: new Map(),
    pending: new Map(),
    closed: false,
  }
  const info: ConnectionInfo<Viewer> = {
    id: socket.id,
    userId,
    viewer,
    client: name,
    connectedAt: Date.now(),
  }
  // Spreads the positions of connections that were opened at the same moment.
  const positionAfter = options.positionMs * (1 - Math.random() / 2)
  const burst = options.messagesPerSecond * CONNECTION_LIMITS.burstSeconds
  let tokens = burst
  let refusedInARow = 0
  let resets: number[] = []
  let ending = false
  let mutations = Promise.resolve()
  let mutationsWaiting = 0
  let queriesRunning = 0
  let placesAwaited = 0
  const gone = Promise.withResolvers<void>()

  socket.use(([event], next) => {
    tokens = Math.max(-burst, tokens - (event === "acknowledge" ? CONNECTION_LIMITS.acknowledgeCost : 1))
    refusedInARow = tokens < 0 ? refusedInARow + 1 : 0
    if (refusedInARow > CONNECTION_LIMITS.floodMessages) end("flooding", 10_000)
    else next()
  })

  socket.on("subscribe", (message: unknown, answer: unknown) => {
    const parsed = v.safeParse(SubscribeMessage, message)
    const unfit = parsed.success ? null : malformed("subscribe", SubscribeMessage, message)
    const error = unfit ?? limited()
    if (error || !parsed.success) return reply(answer, { accepted: [], refused: [], error })
    void subscriber.subscribe(client, parsed.output.subscriptions).then((done) => reply(answer, done))
  })

  socket.on("unsubscribe", (message: unknown) => {
    const parsed = v.safeParse(UnsubscribeMessage, message)
    if (!parsed.success) return
    hub.between(() => {
      for (const id of parsed.output.ids) {
        client.pending.delete(id)
        const subscription = client.subscriptions.get(id)
        if (subscription) hub.unfollow(subscription)
      }
    })
  })

  socket.on("query", (message: unknown, answer: unknown) => {
    void answered(answer, "query", async () => {
      const { query, args } = parse(QueryMessage, message, "query")
      if (queriesRunning >= CONNECTION_LIMITS.queriesRunning)
        throw createRefusal("rate_limited", "too-many-queries", 100)
      queriesRunning += 1
      try {
        return { value: await options.query(query, args, viewer) }
      } finally {
        queriesRunning -= 1
      }
    })
  })

  socket.on("mutate", (message: unknown, answer: unknown) => {
    const error = mutationsWaiting >= CONNECTION_LIMITS.mutationsWaiting ? tooMany("changes") : limited()
    if (error) return reply(answer, { error })
    mutationsWaiting += 1
    const turn = mutations
    const done = Promise.withResolvers<void>()
    mutations = done.promise
    void answered(answer, "mutate", async (isLate) => {
      try {
        const request = parse(MutateMessage, message, "mutate")
        await turn
        // It was refused, and the client may have sent it again. A repeated message must not
        // overtake those sent in between.
        if (isLate()) throw tookTooLong()
        const committed = await options.mutate(request, viewer, userId)
        metrics.count("mutations")
        tellWhenPassed(lsnFromWire(committed.lsn))
        return committed
      } finally {
        mutationsWaiting -= 1
        done.resolve()
      }
    })
  })

  socket.on("join", (message: unknown, answer: unknown) => {
    void answered(answer, "join", async () => {
      const { id, channel } = parse(JoinMessage, message, "join")
      return { value: channels.join(client, id, channel) }
    })
  })

  socket.on("leave", (message: unknown) => {
    const parsed = v.safeParse(LeaveMessage, message)
    if (parsed.success) channels.leave(client, parsed.output.id, parsed.output.channel)
  })

  socket.on("broadcast", (message: unknown, answer: unknown) => {
    void answered(answer, "broadcast", async () => {
      const { id, channel, message: content } = parse(BroadcastMessage, message, "broadcast")
      channels.broadcast(client, id, channel, content)
      return { value: null }
    })
  })

  socket.on("authenticate", (message: unknown, answer: unknown) => {
    void answered(answer, "authenticate", async () => {
      const { token } = parse(AuthenticateMessage, message, "authenticate")
      const renewed = await verifyRenewal(token)
      if (options.userIdOf(renewed.viewer) !== userId) {
        // The response is sent first.
        setImmediate(() => end("signed_out", null))
        throw new Refused("unauthorized", "The token belongs to another user.")
      }
      ;({ viewer, expiresAt, endsAt } = renewed)
      credentials = new Set(options.credentialsOf(viewer))
      client.viewer = viewer
      return { expiresAt }
    })
  })

  socket.on("acknowledge", (message: unknown) => {
    const parsed = v.safeParse(AcknowledgeMessage, message)
    if (!parsed.success) return
    outbox.acknowledge(parsed.output.sequence)
    if (parsed.output.awaiting !== undefined) tellWhenPassed(lsnFromWire(parsed.output.awaiting))
  })

  options.opened(info)
  return {
    client,
    wasOpenedBy(credential) {
      endedDuringRenewal?.add(credential)
      return credentials.has(credential)
    },
    isSessionValid: () => options.isSessionValid(viewer),
    gone: gone.promise,
    tick,
    end,
    left,
  }

  async function verifyRenewal(token: string): Promise<Verified<Viewer>> {
    if (endedDuringRenewal) throw new Refused("rate_limited", "A token is being verified already.", 1000)
    const ended = (endedDuringRenewal = new Set<string>())
    try {
      const renewed = await options.verify(token)
      if (options.credentialsOf(renewed.viewer).some((credential) => ended.has(credential)))
        throw createRefusal("unauthorized", "session-ended")
      return renewed
    } finally {
      endedDuringRenewal = null
    }
  }

  function tick(now: number, lag: number, lagChanged: boolean): void {
    tokens = Math.min(burst, tokens + options.messagesPerSecond)
    if (now > Math.min(expiresAt + options.graceMs, endsAt ?? Infinity)) return end("expired", null)
    const stalled = outbox.stalledMs()
    if (stalled > CONNECTION_LIMITS.deadMs) return end("slow", 10_000)
    if (outbox.overflowing || (stalled > CONNECTION_LIMITS.stallMs && outbox.backlogBytes > 0)) giveUp()
    const quiet = performance.now() - outbox.sentAt >= positionAfter
    if (lagChanged || quiet) hub.between(() => outbox.position(hub.position(), now, lag))
  }

  /**
   * The client does not keep up, so its queued events are dropped, and it reads again when it can.
   */
  function giveUp(): void {
    if (outbox.held || client.subscriptions.size === 0) return
    const now = performance.now()
    resets = [...resets.filter((at) => now - at < CONNECTION_LIMITS.slowResets.withinMs), now]
    if (resets.length > CONNECTION_LIMITS.slowResets.count) return end("slow", 10_000)
    hub.between(() => {
      outbox.abandon()
      hub.reset(client.subscriptions.values(), "slow")
    })
  }

  function end(reason: GoodbyeEvent["reason"], retryAfter: number | null): void {
    if (ending) return
    ending = true
    metrics.count(`goodbyes_${reason}`)
    hub.between(() => {
      const ids = [...client.subscriptions.keys()]
      if ((reason === "expired" || reason === "signed_out") && ids.length > 0) {
        outbox.abandon()
        outbox.revoked(ids, reason satisfies RevokedEvent["reason"])
      }
      outbox.goodbye(reason, retryAfter)
      hub.leave(client)
      socket.disconnect(true)
    })
  }

  function left(): void {
    options.closed(info)
    gone.resolve()
  }

  /**
   * A client that receives commits learns its position from them; only idle ones need this event.
   */
  function tellWhenPassed(lsn: bigint): void {
    if (lsn > hub.position() + 0x1000_0000_0000n || placesAwaited >= CONNECTION_LIMITS.lsnsAwaited) return
    placesAwaited += 1
    void hub.reached(lsn, 30_000).then((reached) => {
      placesAwaited -= 1
      if (!reached || client.closed) return
      hub.between(() => {
        if (outbox.lsn < lsn && !client.closed) outbox.position(hub.position(), Date.now(), 0)
      })
    })
  }

  async function answered(
    answer: unknown,
    doing: string,
    work: (isLate: () => boolean) => Promise<object>,
  ): Promise<void> {
    const error = limited()
    if (error) return reply(answer, { error })
    let isLate = false
    let timer: NodeJS.Timeout | undefined
    const deadline = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => {
        isLate = true
        metrics.count("answers_late")
        reject(tookTooLong())
      }, options.answerMs)
    })
    try {
      reply(answer, await Promise.race([work(() => isLate), deadline]))
    } catch (failure) {
      reply(answer, { error: refusalFor(failure, log, `answering ${doing}`) })
    } finally {
      clearTimeout(timer)
    }
  }

  function limited() {
    return tokens >= 0 ? null : tooMany("messages")
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
