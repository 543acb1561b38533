import { createHash, randomBytes } from "node:crypto"

import * as v from "valibot"

import type { Channel } from "./channel.ts"
import type { Client, Subscription } from "./client.ts"
import type { Range } from "./range.ts"
import type { Joined, Members } from "../protocol/contract.ts"
import { CHANNEL_LIMITS } from "./limits.ts"
import type { Metrics } from "./metrics.ts"
import { Peers } from "./peers.ts"
import { Refused } from "./refusal.ts"
import { createAllowance, type Allowance } from "./allowance.ts"
import { withUnknownField } from "./unknown-field.ts"

export interface ChannelsOptions {
  readonly channels: readonly Channel[]
  readonly metrics: Metrics
  /** Sends a text to every process, this one included. */
  readonly publish: (text: string) => Promise<void>
}

export interface Representation {
  /** How many there are; none at first. */
  count(people: number): void
}

/** A subscription that has joined a channel. */
interface Member {
  /** How the others know it: random, so that it tells nothing about the user. */
  readonly name: string
  readonly subscription: Subscription
  readonly topic: Topic
}

/** The members of a channel that read the same range. */
interface Topic {
  readonly id: string
  readonly channel: string
  /**
   * Access to the range can end. A message then reaches even the members in this process through
   * the log, so that one sent after the commit that ends somebody's access does not reach them.
   */
  readonly isGuarded: boolean
  readonly members: Map<string, Member>
  readonly represented: Map<symbol, { count: number; changed: (count: number) => void }>
  readonly allowance: Allowance
}

/** Delivers messages between subscriptions of the same range, in this process and in the others. */
export class Channels {
  readonly #metrics: Metrics
  readonly #byName: Map<string, Channel>
  readonly #topics = new Map<string, Topic>()
  readonly #memberships = new WeakMap<Subscription, Map<string, Member>>()
  readonly #clients = new WeakMap<Client, { allowance: Allowance; joined: number }>()
  readonly #changed = new Set<string>()
  #telling: NodeJS.Timeout | undefined
  readonly #peers: Peers

  constructor(options: ChannelsOptions) {
    this.#metrics = options.metrics
    this.#byName = new Map(options.channels.map((channel) => [channel.name, channel]))
    if (this.#byName.size < options.channels.length) throw new Error("Two channels have the same name.")
    this.#peers = new Peers({
      publish: options.publish,
      metrics: this.#metrics,
      topics: () => this.#topics.keys(),
      membersOf: (id) => localMembers(this.#topics.get(id)),
      delivered: (id, from, message, isOwn) => {
        const topic = this.#topics.get(id)
        if (!topic || (isOwn && !topic.isGuarded)) return
        // Of its own, this process has counted each when it was sent.
        if (isOwn || topic.allowance.take()) this.#deliver(topic, from, message)
        else this.#metrics.count("channel_messages_dropped")
      },
      changed: (id) => this.#tellLater(id),
    })
    this.#metrics.gauge("channel_topics", () => this.#topics.size)
    this.#metrics.gauge("channel_members", () => {
      let count = 0
      for (const { members } of this.#topics.values()) count += members.size
      return count
    })
  }

  /** Throws `Refused` without a subscription that the channel belongs to. */
  join(client: Client, id: number, channel: string): Joined {
    const declared = this.#find(channel)
    const subscription = client.subscriptions.get(id)
    if (subscription?.query.name !== declared.query.name) {
      throw new Refused("not_found", `Subscribe to ${declared.query.name} first, and pass the id of that.`)
    }
    const joined = this.#memberships.get(subscription) ?? new Map<string, Member>()
    if (joined.has(channel)) throw new Refused("conflict", `The subscription ${id} has joined ${channel}.`)
    const state = this.#stateOf(client)
    if (state.joined >= CHANNEL_LIMITS.joined) {
      throw new Refused(
        "rate_limited",
        `One connection may join ${CHANNEL_LIMITS.joined} channels. Leave one that is not needed.`,
        10_000,
      )
    }
    const member = {
      name: randomBytes(9).toString("base64url"),
      subscription,
      topic: this.#open(subscription.range, channel, { isGuarded: subscription.dependencies.length > 0 }),
    }
    state.joined += 1
    this.#memberships.set(subscription, joined.set(channel, member))
    member.topic.members.set(member.name, member)
    this.#membersChanged(member.topic)
    return { member: member.name, ...this.#allMembers(member.topic) }
  }

  leave(client: Client, id: number, channel: string): void {
    const subscription = client.subscriptions.get(id)
    const member = subscription && this.#memberships.get(subscription)?.get(channel)
    if (!member) return
    this.#memberships.get(subscription)?.delete(channel)
    client.outbox.forgetBroadcasts(id, channel)
    this.#remove(member)
  }

  /** Throws `Refused` for a message that is not delivered to anybody. */
  broadcast(client: Client, id: number, channel: string, message: unknown): void {
    const declared = this.#find(channel)
    const subscription = client.subscriptions.get(id)
    const member = subscription && this.#memberships.get(subscription)?.get(channel)
    if (!member) throw new Refused("not_found", `Join ${channel} first: the subscription ${id} has not.`)
    if (declared.sentBy === "server")
      throw new Refused("forbidden", `Only the server sends messages to ${channel}.`)
    const parsed = v.safeParse(declared.schema, message)
    if (!parsed.success)
      throw new Refused(
        "invalid",
        withUnknownField(`The message for ${channel} has the wrong form.`, declared.schema, message),
      )
    if (declared.accepts?.(parsed.output, client.viewer) === false)
      throw new Refused("forbidden", `The message for ${channel} says something about somebody else.`)
    const text = JSON.stringify(parsed.output)
    if (Buffer.byteLength(text) > CHANNEL_LIMITS.messageBytes) {
      throw new Refused("too_large", `A message of a channel may have ${CHANNEL_LIMITS.messageBytes} bytes.`)
    }
    if (!this.#stateOf(client).allowance.take())
      throw new Refused("rate_limited", "You are sending too many messages.", 1000)
    if (!member.topic.allowance.take())
      throw new Refused("rate_limited", "Too many messages are being sent here.", 1000)
    // Its access is being checked again, or it does not keep up with its commits.
    if (client.outbox.held) throw new Refused("unavailable", "The connection is busy.", 100)
    this.#metrics.count("channel_messages")
    const { topic, name } = member
    if (!topic.isGuarded) this.#deliver(topic, name, text)
    if (this.#peers.has(topic.id) || (topic.isGuarded && topic.members.size > 1))
      this.#peers.send(topic.id, name, text)
  }

  /**
   * Sends a message of the server itself to the members of a range. `from` is a name that stays the
   * same for what follows each other: of several messages, a slow client receives the last. Returns
   * whether there are members.
   */
  sendToMembers(range: Range, channel: string, from: string, message: unknown): boolean {
    const { schema } = this.#find(channel)
    const id = identify(range, channel)
    const topic = this.#topics.get(id)
    this.#peers.listen()
    if (!topic && !this.#peers.has(id)) return false
    const text = JSON.stringify(v.parse(schema, message))
    if (topic && !topic.allowance.take()) {
      this.#metrics.count("channel_messages_dropped")
      return true
    }
    this.#metrics.count("channel_messages")
    if (topic && !topic.isGuarded) this.#deliver(topic, from, text)
    if (this.#peers.has(id) || topic?.isGuarded) this.#peers.send(id, from, text)
    return true
  }

  /**
   * Counts people without a socket, whom the server itself serves, among the members of a range.
   * `changed` receives the number of all members.
   */
  represent(range: Range, channel: string, told: (count: number) => void): Representation {
    const party = Symbol(channel)
    return {
      count: (people) => {
        const topic = this.#open(range, this.#find(channel).name, { isGuarded: false })
        if (people > 0) topic.represented.set(party, { count: people, changed: told })
        else topic.represented.delete(party)
        this.#membersChanged(topic)
      },
    }
  }

  /** Call it when a subscription has ended, for whatever reason: its memberships end with it. */
  ended(subscription: Subscription): void {
    const joined = this.#memberships.get(subscription)
    if (!joined) return
    this.#memberships.delete(subscription)
    for (const member of joined.values()) this.#remove(member)
  }

  /** Takes what a process has published. */
  received(text: string): void {
    return this.#peers.received(text)
  }

  /** Call it when published texts may have been missed. */
  missed(): void {
    return this.#peers.missed()
  }

  async close(): Promise<void> {
    clearTimeout(this.#telling)
    await this.#peers.close()
  }

  #find(name: string): Channel {
    const channel = this.#byName.get(name)
    if (!channel) throw new Refused("unknown", `There is no channel named ${name}.`)
    return channel
  }

  #stateOf(client: Client) {
    const known = this.#clients.get(client)
    if (known) return known
    const { messagesPerSecond, messagesAtOnce } = CHANNEL_LIMITS
    const state = { allowance: createAllowance(messagesPerSecond, messagesAtOnce), joined: 0 }
    this.#clients.set(client, state)
    return state
  }

  #open(range: Range, channel: string, { isGuarded }: { isGuarded: boolean }): Topic {
    const id = identify(range, channel)
    const { topicMessagesPerSecond } = CHANNEL_LIMITS
    const topic: Topic = this.#topics.get(id) ?? {
      id,
      channel,
      isGuarded,
      members: new Map(),
      represented: new Map(),
      allowance: createAllowance(topicMessagesPerSecond, topicMessagesPerSecond),
    }
    this.#topics.set(id, topic)
    return topic
  }

  #remove({ name, subscription, topic }: Member): void {
    topic.members.delete(name)
    this.#stateOf(subscription.client).joined -= 1
    this.#membersChanged(topic)
  }

  #membersChanged(topic: Topic): void {
    if (topic.members.size + topic.represented.size === 0) this.#topics.delete(topic.id)
    this.#peers.changed(topic.id)
    this.#tellLater(topic.id)
  }

  #deliver(topic: Topic, from: string, message: string): void {
    const tail = `,"channel":${JSON.stringify(topic.channel)},"from":"${from}","message":${message}}]`
    this.#send(topic, "message", from, tail)
  }

  /** A newer event with the same subject replaces one that a slow client has not received. */
  #send(topic: Topic, event: "message" | "members", subject: string, tail: string): void {
    let dropped = 0
    let sent = 0
    for (const { name, subscription } of topic.members.values()) {
      if (event === "message" && name === subject) continue
      sent += 1
      const { id, client } = subscription
      dropped += client.outbox.broadcast({ event, id, channel: topic.channel, subject, tail })
    }
    if (event !== "message") return
    this.#metrics.count("channel_messages_sent", sent - dropped)
    this.#metrics.count("channel_messages_dropped", dropped)
  }

  /** Tells the members once for all that come and go within a moment. */
  #tellLater(id: string): void {
    if (!this.#topics.has(id)) return
    this.#changed.add(id)
    this.#telling ??= setTimeout(() => {
      this.#telling = undefined
      for (const each of this.#changed) {
        const topic = this.#topics.get(each)
        if (!topic) continue
        const { members, count } = this.#allMembers(topic)
        const tail = `,"channel":${JSON.stringify(topic.channel)},"members":${JSON.stringify(members)},"count":${count}}]`
        this.#send(topic, "members", "", tail)
        for (const { changed: told } of topic.represented.values()) told(count)
      }
      this.#changed.clear()
    }, CHANNEL_LIMITS.membersMs).unref()
  }

  #allMembers(topic: Topic): Members {
    const local = localMembers(topic)
    const elsewhere = this.#peers.membersOf(topic.id)
    return {
      members: [...local.members, ...elsewhere.members].slice(0, CHANNEL_LIMITS.membersListed),
      count: local.count + elsewhere.count,
    }
  }
}

function localMembers(topic: Topic | undefined): Members {
  const names = [...(topic?.members.keys() ?? [])]
  let count = names.length
  for (const party of topic?.represented.values() ?? []) count += party.count
  return { members: names.slice(0, CHANNEL_LIMITS.membersListed), count }
}

/** All pages of a range are one topic. */
function identify(range: Range, channel: string): string {
  const fields = range.shape.columns.map((column) => range.table.fields[column])
  const identity = JSON.stringify([channel, fields, range.key])
  return createHash("sha256").update(identity).digest("base64url").slice(0, 22)
}
