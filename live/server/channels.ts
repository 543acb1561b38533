import { createHash, randomBytes } from "node:crypto"

import * as v from "valibot"

import type { Channel } from "./channel.ts"
import type { Client, Subscription } from "./client.ts"
import type { Range } from "./range.ts"
import type { Joined, Members } from "../protocol/contract.ts"
import { CHANNEL_LIMITS } from "./limits.ts"
import type { Metrics } from "./metrics.ts"
import { createPeers, type Peers } from "./peers.ts"
import { Refused } from "./refusal.ts"
import { createAllowance, type Allowance } from "./allowance.ts"
import { withUnknownField } from "./unknown-field.ts"

export interface ChannelsOptions {
  readonly channels: readonly Channel[]
  readonly metrics: Metrics
  /** Sends a text to every process, this one included. */
  readonly publish: (text: string) => Promise<void>
}

export interface Channels {
  /** Throws `Refused` without a subscription that the channel belongs to. */
  join(client: Client, id: number, channel: string): Joined
  leave(client: Client, id: number, channel: string): void
  /** Throws `Refused` for a message that is not delivered to anybody. */
  broadcast(client: Client, id: number, channel: string, message: unknown): void
  /**
   * Sends a message of the server itself to the members of a range. `from` is a name that stays the
   * same for what follows each other: of several messages, a slow client receives the last. Returns
   * whether there are members.
   */
  sendToMembers(range: Range, channel: string, from: string, message: unknown): boolean
  /**
   * Counts people without a socket, whom the server itself serves, among the members of a range.
   * `changed` receives the number of all members.
   */
  represent(range: Range, channel: string, changed: (count: number) => void): Representation
  /** Call it when a subscription has ended, for whatever reason: its memberships end with it. */
  ended(subscription: Subscription): void
  /** Takes what a process has published. */
  received(text: string): void
  /** Call it when published texts may have been missed. */
  missed(): void
  close(): Promise<void>
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
export function createChannels({ channels, metrics, publish }: ChannelsOptions): Channels {
  const byName = new Map(channels.map((channel) => [channel.name, channel]))
  if (byName.size < channels.length) throw new Error("Two channels have the same name.")
  const topics = new Map<string, Topic>()
  const memberships = new WeakMap<Subscription, Map<string, Member>>()
  const clients = new WeakMap<Client, { allowance: Allowance; joined: number }>()
  const changed = new Set<string>()
  let telling: NodeJS.Timeout | undefined
  const peers: Peers = createPeers({
    publish,
    metrics,
    topics: () => topics.keys(),
    membersOf: (id) => localMembers(topics.get(id)),
    delivered(id, from, message, isOwn) {
      const topic = topics.get(id)
      if (!topic || (isOwn && !topic.isGuarded)) return
      // Of its own, this process has counted each when it was sent.
      if (isOwn || topic.allowance.take()) deliver(topic, from, message)
      else metrics.count("channel_messages_dropped")
    },
    changed: tellLater,
  })
  metrics.gauge("channel_topics", () => topics.size)
  metrics.gauge("channel_members", () => {
    let count = 0
    for (const { members } of topics.values()) count += members.size
    return count
  })

  return {
    join(client, id, channel) {
      const declared = find(channel)
      const subscription = client.subscriptions.get(id)
      if (subscription?.query.name !== declared.query.name) {
        throw new Refused("not_found", `Subscribe to ${declared.query.name} first, and pass the id of that.`)
      }
      const joined = memberships.get(subscription) ?? new Map<string, Member>()
      if (joined.has(channel)) throw new Refused("conflict", `The subscription ${id} has joined ${channel}.`)
      const state = stateOf(client)
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
        topic: open(subscription.range, channel, { isGuarded: subscription.dependencies.length > 0 }),
      }
      state.joined += 1
      memberships.set(subscription, joined.set(channel, member))
      member.topic.members.set(member.name, member)
      membersChanged(member.topic)
      return { member: member.name, ...allMembers(member.topic) }
    },
    leave(client, id, channel) {
      const subscription = client.subscriptions.get(id)
      const member = subscription && memberships.get(subscription)?.get(channel)
      if (!member) return
      memberships.get(subscription)?.delete(channel)
      client.outbox.forgetBroadcasts(id, channel)
      remove(member)
    },
    broadcast(client, id, channel, message) {
      const declared = find(channel)
      const subscription = client.subscriptions.get(id)
      const member = subscription && memberships.get(subscription)?.get(channel)
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
        throw new Refused(
          "too_large",
          `A message of a channel may have ${CHANNEL_LIMITS.messageBytes} bytes.`,
        )
      }
      if (!stateOf(client).allowance.take())
        throw new Refused("rate_limited", "You are sending too many messages.", 1000)
      if (!member.topic.allowance.take())
        throw new Refused("rate_limited", "Too many messages are being sent here.", 1000)
      // Its access is being checked again, or it does not keep up with its commits.
      if (client.outbox.held) throw new Refused("unavailable", "The connection is busy.", 100)
      metrics.count("channel_messages")
      const { topic, name } = member
      if (!topic.isGuarded) deliver(topic, name, text)
      if (peers.has(topic.id) || (topic.isGuarded && topic.members.size > 1)) peers.send(topic.id, name, text)
    },
    sendToMembers(range, channel, from, message) {
      const { schema } = find(channel)
      const id = identify(range, channel)
      const topic = topics.get(id)
      peers.listen()
      if (!topic && !peers.has(id)) return false
      const text = JSON.stringify(v.parse(schema, message))
      if (topic && !topic.allowance.take()) {
        metrics.count("channel_messages_dropped")
        return true
      }
      metrics.count("channel_messages")
      if (topic && !topic.isGuarded) deliver(topic, from, text)
      if (peers.has(id) || topic?.isGuarded) peers.send(id, from, text)
      return true
    },
    represent(range, channel, told) {
      const party = Symbol(channel)
      return {
        count(people) {
          const topic = open(range, find(channel).name, { isGuarded: false })
          if (people > 0) topic.represented.set(party, { count: people, changed: told })
          else topic.represented.delete(party)
          membersChanged(topic)
        },
      }
    },
    ended(subscription) {
      const joined = memberships.get(subscription)
      if (!joined) return
      memberships.delete(subscription)
      for (const member of joined.values()) remove(member)
    },
    received: (text) => peers.received(text),
    missed: () => peers.missed(),
    async close() {
      clearTimeout(telling)
      await peers.close()
    },
  }

  function find(name: string): Channel {
    const channel = byName.get(name)
    if (!channel) throw new Refused("unknown", `There is no channel named ${name}.`)
    return channel
  }

  function stateOf(client: Client) {
    const known = clients.get(client)
    if (known) return known
    const { messagesPerSecond, messagesAtOnce } = CHANNEL_LIMITS
    const state = { allowance: createAllowance(messagesPerSecond, messagesAtOnce), joined: 0 }
    clients.set(client, state)
    return state
  }

  function open(range: Range, channel: string, { isGuarded }: { isGuarded: boolean }): Topic {
    const id = identify(range, channel)
    const { topicMessagesPerSecond } = CHANNEL_LIMITS
    const topic: Topic = topics.get(id) ?? {
      id,
      channel,
      isGuarded,
      members: new Map(),
      represented: new Map(),
      allowance: createAllowance(topicMessagesPerSecond, topicMessagesPerSecond),
    }
    topics.set(id, topic)
    return topic
  }

  function remove({ name, subscription, topic }: Member): void {
    topic.members.delete(name)
    stateOf(subscription.client).joined -= 1
    membersChanged(topic)
  }

  function membersChanged(topic: Topic): void {
    if (topic.members.size + topic.represented.size === 0) topics.delete(topic.id)
    peers.changed(topic.id)
    tellLater(topic.id)
  }

  function deliver(topic: Topic, from: string, message: string): void {
    const tail = `,"channel":${JSON.stringify(topic.channel)},"from":"${from}","message":${message}}]`
    send(topic, "message", from, tail)
  }

  /** A newer event with the same subject replaces one that a slow client has not received. */
  function send(topic: Topic, event: "message" | "members", subject: string, tail: string): void {
    let dropped = 0
    let sent = 0
    for (const { name, subscription } of topic.members.values()) {
      if (event === "message" && name === subject) continue
      sent += 1
      const { id, client } = subscription
      dropped += client.outbox.broadcast({ event, id, channel: topic.channel, subject, tail })
    }
    if (event !== "message") return
    metrics.count("channel_messages_sent", sent - dropped)
    metrics.count("channel_messages_dropped", dropped)
  }

  /** Tells the members once for all that come and go within a moment. */
  function tellLater(id: string): void {
    if (!topics.has(id)) return
    changed.add(id)
    telling ??= setTimeout(() => {
      telling = undefined
      for (const each of changed) {
        const topic = topics.get(each)
        if (!topic) continue
        const { members, count } = allMembers(topic)
        const tail = `,"channel":${JSON.stringify(topic.channel)},"members":${JSON.stringify(members)},"count":${count}}]`
        send(topic, "members", "", tail)
        for (const { changed: told } of topic.represented.values()) told(count)
      }
      changed.clear()
    }, CHANNEL_LIMITS.membersMs).unref()
  }

  function allMembers(topic: Topic): Members {
    const local = localMembers(topic)
    const elsewhere = peers.membersOf(topic.id)
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
