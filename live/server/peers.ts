import { randomBytes } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"

import * as v from "valibot"

import type { Members } from "../protocol/contract.ts"
import { PEER_LIMITS } from "./limits.ts"
import type { Metrics } from "./metrics.ts"

/** SQL that sends a text to every process. `$1` is the text. */
export const PUBLISH_CHANNELS = "select pg_logical_emit_message(true, 'realtime.channels', $1)"

export interface PeersOptions {
  readonly publish: (text: string) => Promise<void>
  readonly metrics: Metrics
  /** The topics with members in this process. */
  readonly topics: () => Iterable<string>
  readonly membersOf: (topic: string) => Members
  /** A message from another process, or one of this process's own: JSON. */
  readonly delivered: (topic: string, from: string, message: string, isOwn: boolean) => void
  /** The members of a topic in other processes have changed. */
  readonly changed: (topic: string) => void
}

const Text = v.pipe(v.string(), v.maxLength(100))
const Count = v.pipe(v.number(), v.integer(), v.minValue(0))

const Envelope = v.object({
  from: Text,
  /** The sender knows nothing of the others, who send it all of their members. */
  isNew: v.optional(v.boolean()),
  isLeaving: v.optional(v.boolean()),
  members: v.array(v.tuple([Text, Count, v.array(Text)])),
  messages: v.array(v.tuple([Text, Text, v.string()])),
})

type Envelope = v.InferInput<typeof Envelope>

/**
 * Messages and members travel in batches through the database's log. Processes tell of themselves
 * while they have members or listen, and of those, and of messages, only when there is somebody to tell.
 */
export class Peers {
  readonly #options: PeersOptions
  readonly #metrics: Metrics
  readonly #own = randomBytes(9).toString("base64url")
  readonly #heardAt = new Map<string, number>()
  /** Members in other processes, by topic and process. */
  readonly #elsewhere = new Map<string, Map<string, Members>>()
  readonly #messages = new Map<string, [topic: string, from: string, message: string]>()
  readonly #untold = new Set<string>()
  #isNew = true
  #timer: NodeJS.Timeout | undefined
  #publishing: Promise<void> | undefined
  #publishedAt = -Infinity
  #listeningUntil = -Infinity
  #closed = false
  readonly #beating = setInterval(() => this.#beat(), PEER_LIMITS.beatMs)

  constructor(options: PeersOptions) {
    this.#options = options
    this.#metrics = options.metrics
    this.#beating.unref()
  }

  membersOf(topic: string): Members {
    const parts = [...(this.#elsewhere.get(topic)?.values() ?? [])]
    return {
      members: parts.flatMap(({ members }) => members),
      count: parts.reduce((sum, { count }) => sum + count, 0),
    }
  }

  /** Whether the topic has members in another process. */
  has(topic: string): boolean {
    return this.#elsewhere.has(topic)
  }

  /** Sends a message to the processes in which the topic has members. It comes back to this one too. */
  send(topic: string, from: string, message: string): void {
    const key = `${topic} ${from}`
    if (this.#messages.delete(key)) this.#metrics.count("channel_messages_dropped")
    this.#messages.set(key, [topic, from, message])
    const [oldest] = this.#messages.keys()
    if (this.#messages.size > PEER_LIMITS.messages && oldest !== undefined) {
      this.#messages.delete(oldest)
      this.#metrics.count("channel_messages_dropped")
    }
    this.#publishSoon()
  }

  /**
   * Call it again and again while this process has something to say to topics of which it has no
   * members itself: the others then tell it of theirs.
   */
  listen(): void {
    const now = performance.now()
    const isKnown = now < this.#listeningUntil || this.#hasMembers()
    this.#listeningUntil = now + PEER_LIMITS.beatMs
    if (isKnown) return
    this.#isNew = true
    this.#publishSoon()
  }

  /** Call it when the members of a topic in this process have changed. */
  changed(topic: string): void {
    // A process alone tells of itself with each beat, and at once after it had nothing to tell.
    if (this.#heardAt.size === 0 && performance.now() - this.#publishedAt < PEER_LIMITS.beatMs) return
    this.#untold.add(topic)
    this.#publishSoon()
  }

  /** Texts may have been missed: asks the others for all of their members again. */
  missed(): void {
    for (const peer of this.#heardAt.keys()) this.#forget(peer)
    this.#isNew = true
    if (this.#hasMembers() || performance.now() < this.#listeningUntil) this.#publishSoon()
  }

  /** Tells the others that this process has no members any more. */
  async close(): Promise<void> {
    clearInterval(this.#beating)
    clearTimeout(this.#timer)
    this.#closed = true
    // Without the farewell, the others find out by its silence.
    await Promise.race([this.#sayGoodbye(), sleep(PEER_LIMITS.farewellMs, undefined, { ref: false })])
  }

  received(text: string): void {
    const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), Envelope), text)
    // A process of another version may write another form.
    if (!parsed.success) return this.#metrics.count("channel_publishes_ignored")
    const { from, isNew: asks, isLeaving, ...told } = parsed.output
    if (this.#closed) return
    if (from === this.#own) {
      for (const message of told.messages) this.#options.delivered(...message, true)
      return
    }
    if (isLeaving) return this.#forget(from)
    if (asks || !this.#heardAt.has(from)) {
      for (const topic of this.#options.topics()) this.#untold.add(topic)
      if (this.#untold.size > 0) this.#publishSoon()
    }
    this.#heardAt.set(from, performance.now())
    for (const [topic, count, members] of told.members) this.#note(from, topic, { count, members })
    for (const message of told.messages) this.#options.delivered(...message, false)
  }

  async #sayGoodbye(): Promise<void> {
    await this.#publishing
    if (this.#heardAt.size > 0)
      await this.#publish({ from: this.#own, isLeaving: true, members: [], messages: [] })
  }

  #note(peer: string, topic: string, members: Members): void {
    const parts = this.#elsewhere.get(topic) ?? new Map<string, Members>()
    if (members.count > 0) parts.set(peer, members)
    else parts.delete(peer)
    if (parts.size === 0) this.#elsewhere.delete(topic)
    else if (this.#elsewhere.has(topic) || this.#elsewhere.size < PEER_LIMITS.topics)
      this.#elsewhere.set(topic, parts)
    this.#options.changed(topic)
  }

  #forget(peer: string): void {
    this.#heardAt.delete(peer)
    for (const [topic, parts] of this.#elsewhere) {
      if (parts.has(peer)) this.#note(peer, topic, { count: 0, members: [] })
    }
  }

  #beat(): void {
    const now = performance.now()
    for (const [peer, at] of this.#heardAt) if (now - at > PEER_LIMITS.lostMs) this.#forget(peer)
    if (this.#hasMembers() || now < this.#listeningUntil) this.#publishSoon()
  }

  #hasMembers(): boolean {
    for (const _ of this.#options.topics()) return true
    return false
  }

  #publishSoon(): void {
    if (this.#closed) return
    this.#timer ??= setTimeout(() => {
      this.#publishing = this.#publishNext().then((published) => {
        this.#publishing = undefined
        this.#timer = undefined
        if (published && (this.#messages.size > 0 || (this.#untold.size > 0 && this.#heardAt.size > 0)))
          this.#publishSoon()
      })
    }, PEER_LIMITS.publishMs).unref()
  }

  async #publishNext(): Promise<boolean> {
    const told = [...this.#untold].slice(0, PEER_LIMITS.topicsAtOnce)
    for (const topic of told) this.#untold.delete(topic)
    const sent = [...this.#messages.values()]
    this.#messages.clear()
    const asked = this.#isNew || this.#heardAt.size === 0
    this.#isNew = false
    this.#publishedAt = performance.now()
    const published = await this.#publish({
      from: this.#own,
      ...(asked && { isNew: true }),
      members: told.map((topic) => {
        const { count, members } = this.#options.membersOf(topic)
        return [topic, count, members]
      }),
      messages: sent,
    })
    if (published) return true
    // Members are told again with the next beat or message; messages are not worth keeping.
    this.#metrics.count("channel_messages_dropped", sent.length)
    for (const topic of told) this.#untold.add(topic)
    this.#isNew ||= asked
    return false
  }

  async #publish(envelope: Envelope): Promise<boolean> {
    try {
      await this.#options.publish(JSON.stringify(envelope))
      this.#metrics.count("channel_publishes")
      return true
    } catch {
      // The stream reports a database that cannot be reached.
      this.#metrics.count("channel_publishes_failed")
      return false
    }
  }
}
