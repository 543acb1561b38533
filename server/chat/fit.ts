import type { ModelMessage } from "ai"
import { nameImage } from "./attachments.ts"
import type { LeftOut, Recall } from "./contract.ts"
import { estimateTokens, IMAGE_TOKENS, MESSAGE_TOKENS } from "./tokens.ts"

/** A message of the user, or a reply with its tool calls, as the model receives it. */
export interface Recalled {
  /** Null in a conversation that is not stored. */
  id: string | null
  messages: ModelMessage[]
  /** A message whose reply failed. */
  failed: boolean
}

/** What the model may receive of a conversation, oldest first. */
export interface Conversation {
  recalled: Recalled[]
  /** Whether the conversation has earlier messages than these. */
  more: boolean
}

/** A conversation that is not stored. A message without a reply got none. */
export function postedConversation(messages: readonly ModelMessage[]): Conversation {
  const recalled = messages.map((message, place) => {
    const failed = message.role === "user" && messages[place + 1]?.role === "user"
    return { id: null, messages: [message], failed }
  })
  return { recalled, more: false }
}

/** What to send of it. The last message is always sent. */
export interface Extent {
  tokens: number
  /** `last` sends those of the last message only. */
  images: "all" | "last" | "none"
  tools: boolean
  /** `replied` leaves out messages whose reply failed. */
  history: "all" | "replied" | "none"
}

export interface Fitted {
  messages: ModelMessage[]
  tokens: number
  /** How many entries are sent before the last. */
  before: number
  /** How many of them got no reply. */
  failed: number
  images: "none" | "history" | "last"
  /** What is missing; null if nothing is. */
  recall: Recall | null
}

export function fitConversation({ recalled, more }: Conversation, extent: Extent): Fitted {
  const last = recalled.at(-1)
  if (!last) throw new Error("There is no message to send.")
  const latest = adapt(last, extent.images === "none", extent.tools)
  const strips = extent.images !== "all"
  const without = new Set<LeftOut>()
  if (extent.images === "none" && hasImages(last)) without.add("images")
  let tokens = countTokens(latest.messages)
  let isCut = more
  let kept: Recalled[] = []
  for (const entry of recalled.slice(0, -1).toReversed()) {
    if (entry.failed && extent.history === "replied") {
      without.add("failed")
      continue
    }
    const adapted = adapt(entry, strips, extent.tools)
    const cost = countTokens(adapted.messages)
    if (extent.history === "none" || tokens + cost > extent.tokens) {
      isCut = true
      break
    }
    tokens += cost
    if (strips && hasImages(entry)) without.add("images")
    kept.push(adapted)
  }
  kept = kept.toReversed()
  // Many models refuse a conversation that begins with a reply.
  const begin = kept.findIndex(({ messages }) => messages[0]?.role === "user")
  const before = begin < 0 ? [] : kept.slice(begin)
  if (before.length < kept.length) isCut = true
  const from = (before[0] ?? latest).id
  const sent = [...before, latest]
  const recall: Recall = {
    ...(isCut && from !== null && { from }),
    ...(without.size > 0 && { without: [...without] }),
  }
  return {
    messages: sent.flatMap(({ messages }) => messages),
    tokens,
    before: before.length,
    failed: before.filter(({ failed }) => failed).length,
    images: hasImages(latest) ? "last" : before.some(hasImages) ? "history" : "none",
    recall: Object.keys(recall).length > 0 ? recall : null,
  }
}

function adapt(entry: Recalled, withoutImages: boolean, withTools: boolean): Recalled {
  if (!withoutImages && withTools) return entry
  const messages = entry.messages.flatMap((message): ModelMessage[] => {
    if (message.role === "tool") return withTools ? [message] : []
    if (typeof message.content === "string") return [message]
    if (message.role === "user") return [withoutImages ? nameImages(message) : message]
    if (message.role !== "assistant" || withTools) return [message]
    const content = message.content.filter(({ type }) => type !== "tool-call")
    return content.length > 0 ? [{ ...message, content }] : []
  })
  return { ...entry, messages }
}

function nameImages(message: Extract<ModelMessage, { role: "user" }>): ModelMessage {
  if (typeof message.content === "string") return message
  const content = message.content.map((part) =>
    part.type === "file" ? ({ type: "text", text: nameImage(part.filename ?? "") } as const) : part,
  )
  return { ...message, content }
}

function hasImages({ messages }: Recalled): boolean {
  return messages.some(
    ({ role, content }) =>
      role === "user" && typeof content !== "string" && content.some(({ type }) => type === "file"),
  )
}

export function countTokens(messages: readonly ModelMessage[]): number {
  return messages.reduce((sum, { content }) => sum + MESSAGE_TOKENS + tokensOf(content), 0)
}

function tokensOf(content: ModelMessage["content"]): number {
  if (typeof content === "string") return estimateTokens(content)
  let tokens = 0
  for (const part of content) {
    if (part.type === "file") tokens += IMAGE_TOKENS
    else tokens += estimateTokens(part.type === "text" ? part.text : JSON.stringify(part))
  }
  return tokens
}
