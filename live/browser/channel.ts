import type { ChannelType, Loaded, Members } from "../protocol/contract.ts"
import type { LiveClient } from "./client.ts"

interface Listener<Message> {
  /** The channel was joined, now or again: what was known of the others is out of date. */
  joined(member: string): void
  /** Who is there, this page included. */
  members(members: Members): void
  message(from: string, message: Message): void
  /** It was left, or the connection was lost. */
  left(): void
}

export interface OpenChannel<Message> {
  /** Sends to the others, or to nobody while the channel is not joined. */
  send(message: Message): void
  leave(): void
}

/**
 * Joins a channel beside live rows, and again whenever they are subscribed again. It ends with their
 * subscription: with the right to read them.
 */
export function openChannel<Message>(
  client: LiveClient,
  rows: Pick<Loaded, "query" | "args">,
  { name: channel }: ChannelType<string, Message>,
  listener: Listener<Message>,
): OpenChannel<Message> {
  let joined: number | null = null
  let isOver = false

  const end = client.accompany(rows, ([name, event]) => {
    if (name === "began") void join(event)
    else if (name === "ended") {
      joined = null
      listener.left()
    } else if (event.channel === channel && event.id === joined) {
      if (name === "members") listener.members(event)
      else listener.message(event.from, event.message as Message)
    }
  })

  async function join(id: number) {
    joined = id
    const answer = await client.call("join", { id, channel }).catch(() => null)
    if (!answer || "error" in answer || joined !== id || isOver) return
    listener.joined(answer.value.member)
    listener.members(answer.value)
  }

  return {
    send(message) {
      if (joined !== null) void client.call("broadcast", { id: joined, channel, message }).catch(() => {})
    },
    leave() {
      isOver = true
      end()
      if (joined !== null) void client.call("leave", { id: joined, channel }).catch(() => {})
      joined = null
    },
  }
}
