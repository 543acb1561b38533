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

/** The other processes' part of the channels. */
export interface Peers {
  membersOf(topic: string): Members
  /** Sends a message to the processes in which the topic has members. It comes back to this one too. */
  send(topic: string, from: string, message: string): void
  /** Whether the topic has members in another process. */
  has(topic: string): boolean
  /**
   * Call it again and again while this process has something to say to topics of which it has no
   * members itself: the others then tell it of theirs.
   */
  listen(): void
  /** Call it when the members of a topic in this process have changed. */
  changed(topic: string): void
  received(text: string): void
  /** Texts may have been missed: asks the others for all of their members again. */
  missed(): void
  /** Tells the others that this process has no members any more. */
  close(): Promise<void>
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
export function createPeers(options: PeersOptions): Peers {
  const { metrics } = options
  const own = randomBytes(9).toString("base64url")
  const heardAt = new Map<string, number>()
  /** Members in other processes, by topic and process. */
  const elsewhere = new Map<string, Map<string, Members>>()
  const messages = new Map<string, [topic: string, from: string, message: string]>()
  const untold = new Set<string>()
  let isNew = true
  let timer: NodeJS.Timeout | undefined
  let publishing: Promise<void> | undefined
  let publishedAt = -Infinity
  let listeningUntil = -Infinity
  let closed = false
  const beating = setInterval(beat, PEER_LIMITS.beatMs)
  beating.unref()

  return {
    membersOf(topic) {
      const parts = [...(elsewhere.get(topic)?.values() ?? [])]
      return {
        members: parts.flatMap(({ members }) => members),
        count: parts.reduce((sum, { count }) => sum + count, 0),
      }
    },
    has: (topic) => elsewhere.has(topic),
    send(topic, from, message) {
      const key = `${topic} ${from}`
      if (messages.delete(key)) metrics.count("channel_messages_dropped")
      messages.set(key, [topic, from, message])
      const [oldest] = messages.keys()
      if (messages.size > PEER_LIMITS.messages && oldest !== undefined) {
        messages.delete(oldest)
        metrics.count("channel_messages_dropped")
      }
      publishSoon()
    },
    listen() {
      const now = performance.now()
      const isKnown = now < listeningUntil || hasMembers()
      listeningUntil = now + PEER_LIMITS.beatMs
      if (isKnown) return
      isNew = true
      publishSoon()
    },
    changed(topic) {
      // A process alone tells of itself with each beat, and at once after it had nothing to tell.
      if (heardAt.size === 0 && performance.now() - publishedAt < PEER_LIMITS.beatMs) return
      untold.add(topic)
      publishSoon()
    },
    received,
    missed() {
      for (const peer of heardAt.keys()) forget(peer)
      isNew = true
      if (hasMembers() || performance.now() < listeningUntil) publishSoon()
    },
    async close() {
      clearInterval(beating)
      clearTimeout(timer)
      closed = true
      // Without the farewell, the others find out by its silence.
      await Promise.race([sayGoodbye(), sleep(PEER_LIMITS.farewellMs, undefined, { ref: false })])
    },
  }

  function received(text: string): void {
    const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), Envelope), text)
    // A process of another version may write another form.
    if (!parsed.success) return metrics.count("channel_publishes_ignored")
    const { from, isNew: asks, isLeaving, ...told } = parsed.output
    if (closed) return
    if (from === own) {
      for (const message of told.messages) options.delivered(...message, true)
      return
    }
    if (isLeaving) return forget(from)
    if (asks || !heardAt.has(from)) {
      for (const topic of options.topics()) untold.add(topic)
      if (untold.size > 0) publishSoon()
    }
    heardAt.set(from, performance.now())
    for (const [topic, count, members] of told.members) note(from, topic, { count, members })
    for (const message of told.messages) options.delivered(...message, false)
  }

  async function sayGoodbye(): Promise<void> {
    await publishing
    if (heardAt.size > 0) await publish({ from: own, isLeaving: true, members: [], messages: [] })
  }

  function note(peer: string, topic: string, members: Members): void {
    const parts = elsewhere.get(topic) ?? new Map<string, Members>()
    if (members.count > 0) parts.set(peer, members)
    else parts.delete(peer)
    if (parts.size === 0) elsewhere.delete(topic)
    else if (elsewhere.has(topic) || elsewhere.size < PEER_LIMITS.topics) elsewhere.set(topic, parts)
    options.changed(topic)
  }

  function forget(peer: string): void {
    heardAt.delete(peer)
    for (const [topic, parts] of elsewhere) {
      if (parts.has(peer)) note(peer, topic, { count: 0, members: [] })
    }
  }

  function beat(): void {
    const now = performance.now()
    for (const [peer, at] of heardAt) if (now - at > PEER_LIMITS.lostMs) forget(peer)
    if (hasMembers() || now < listeningUntil) publishSoon()
  }

  function hasMembers(): boolean {
    for (const _ of options.topics()) return true
    return false
  }

  function publishSoon(): void {
    if (closed) return
    timer ??= setTimeout(() => {
      publishing = publishNext().then((published) => {
        publishing = undefined
        timer = undefined
        if (published && (messages.size > 0 || (untold.size > 0 && heardAt.size > 0))) publishSoon()
      })
    }, PEER_LIMITS.publishMs).unref()
  }

  async function publishNext(): Promise<boolean> {
    const told = [...untold].slice(0, PEER_LIMITS.topicsAtOnce)
    for (const topic of told) untold.delete(topic)
    const sent = [...messages.values()]
    messages.clear()
    const asked = isNew || heardAt.size === 0
    isNew = false
    publishedAt = performance.now()
    const published = await publish({
      from: own,
      ...(asked && { isNew: true }),
      members: told.map((topic) => {
        const { count, members } = options.membersOf(topic)
        return [topic, count, members]
      }),
      messages: sent,
    })
    if (published) return true
    // Members are told again with the next beat or message; messages are not worth keeping.
    metrics.count("channel_messages_dropped", sent.length)
    for (const topic of told) untold.add(topic)
    isNew ||= asked
    return false
  }

  async function publish(envelope: Envelope): Promise<boolean> {
    try {
      await options.publish(JSON.stringify(envelope))
      metrics.count("channel_publishes")
      return true
    } catch {
      // The stream reports a database that cannot be reached.
      metrics.count("channel_publishes_failed")
      return false
    }
  }
}
