import {
  foldChunks,
  shortfallOf,
  type ReplyPart,
  type Attachment,
  type LiveChunk,
  type Recall,
  type Shortfall,
} from "#server/chat/contract.ts"
import type { LiveMessage, LiveTurn } from "#server/chat/read-operations.ts"
import type { PendingMessage, QueuedMessage } from "#app/routes/dashboard/chat/composer/pending-messages.tsx"

/** A message on the screen, whether it is stored or still being sent. */
export interface Bubble {
  /** Who wrote it, or asked for it. Null for the user's own that is still being sent. */
  authorId: string | null
  /** Does not change when the message is stored, so that its element stays in place. */
  key: string
  /** Null until it is stored. */
  id: string | null
  /** Milliseconds since the epoch; null until it is stored. */
  createdAt: number | null
  role: LiveMessage["role"]
  parts: ReplyPart[]
  attachments: Attachment[]
  /** Names of members of the space that follow an @ in it. */
  mentions: string[]
  /** Whether it has earlier versions. */
  edited: boolean
  /** `running` for a growing reply; null for a user's message. */
  status: LiveTurn["status"] | null
  failure: string | null
  /** What is missing although the model completed the reply. */
  shortfall: Shortfall | null
  model: string | null
  tokens: { input: number | null; output: number | null } | null
  requestId: string | null
  /** A message between people: the model was not asked. */
  isNote: boolean
  /** What the model did not receive for this reply. */
  recall: Recall | null
}

interface Records {
  /** Newest first. */
  messages: readonly LiveMessage[]
  turns: readonly LiveTurn[]
  chunks: readonly LiveChunk[]
}

/**
 * Returns a function that computes the bubbles of a conversation, oldest first, and is called again
 * whenever its records change. A bubble whose records did not change is the same object.
 */
export function createBubbles() {
  const known = new Map<string, { message: LiveMessage; turn: LiveTurn | undefined; bubble: Bubble }>()
  let last: { messages: Records["messages"]; turns: Records["turns"]; stored: Bubble[] } | null = null

  function store(messages: Records["messages"], turns: Records["turns"]) {
    if (last?.messages === messages && last.turns === turns) return last.stored
    const answers = new Map(turns.map((turn) => [turn._id, turn]))
    const questions = new Map(turns.map((turn) => [turn.questionId, turn]))
    const stored = messages.toReversed().map((message) => {
      const turn = answers.get(message._id) ?? questions.get(message._id)
      const before = known.get(message._id)
      if (before?.message === message && before.turn === turn) return before.bubble
      const bubble = storedBubble(message, turn)
      known.set(message._id, { message, turn, bubble })
      return bubble
    })
    last = { messages, turns, stored }
    return stored
  }

  return function join(
    { messages, turns, chunks }: Records,
    asking: PendingMessage | null,
    queued: readonly QueuedMessage[] = [],
  ): Bubble[] {
    const records = { messages, turns }
    const bubbles = grow(store(messages, turns), chunks)
    const told = queued.filter((note) => note.toPeople && !isStored(records, { ...note, supersedes: null }))
    const all = asking && !isStored(records, asking) ? withPending(bubbles, asking) : bubbles
    return told.length > 0 ? [...all, ...told.map(questionBubble)] : all
  }
}

/** Whether the records have the turn that was requested, or the message if it asked nobody. */
export function isStored(
  { messages, turns }: Pick<Records, "messages" | "turns">,
  { requestId, supersedes, ask }: Pick<PendingMessage, "requestId" | "supersedes" | "ask">,
) {
  return (
    turns.some((turn) => turn.requestId === requestId && turn._id !== supersedes) ||
    (supersedes === null && !ask && messages.some((message) => message.requestId === requestId))
  )
}

export function plainText(parts: readonly ReplyPart[]): string {
  return parts
    .filter((part) => part.type === "text")
    .map(({ text }) => text)
    .join("\n\n")
}

function storedBubble(
  { _id, _creationTime, userId, role, content, attachments, edited, mentions, requestId }: LiveMessage,
  turn: LiveTurn | undefined,
): Bubble {
  const answer = role === "assistant" ? turn : undefined
  const sentAs = turn?.requestId ?? requestId
  return {
    key: sentAs ? `${sentAs} ${role}` : _id,
    id: _id,
    createdAt: _creationTime,
    authorId: userId,
    role,
    parts: answer?.parts ?? textParts(content),
    attachments: attachments ?? [],
    mentions: mentions ?? [],
    edited,
    status: answer?.status ?? null,
    failure: answer?.failure ?? null,
    shortfall: answer ? shortfallOf(answer, content.trim() !== "") : null,
    model: answer?.model ?? null,
    tokens: answer ? { input: answer.inputTokens, output: answer.outputTokens } : null,
    requestId: sentAs,
    isNote: !turn && requestId !== null,
    recall: answer?.recall ?? null,
  }
}

/**
 * The text of a running reply is in its chunks: its message is only written when the reply ends.
 */
function grow(stored: Bubble[], chunks: Records["chunks"]): Bubble[] {
  const at = stored.findLastIndex(({ status }) => status === "running")
  const bubble = stored[at]
  if (!bubble) return stored
  const said = chunks.filter(({ turnId }) => turnId === bubble.id)
  if (said.length === 0) return stored
  const { content, parts } = foldChunks(said)
  return stored.with(at, { ...bubble, parts: parts ?? textParts(content) })
}

function withPending(bubbles: Bubble[], asking: PendingMessage): Bubble[] {
  const { requestId, supersedes, replaces, ask, staysInPlace, toPeople, text, attachments } = asking
  const answer = toPeople ? [] : [answerBubble(requestId)]
  if (supersedes) return [...bubbles.filter(({ id }) => id !== supersedes), ...answer]
  if (ask) return [...bubbles, ...answer]
  if (staysInPlace) {
    const changed = { parts: textParts(text), attachments }
    return [
      ...bubbles.map((bubble) => (bubble.id === replaces ? { ...bubble, ...changed } : bubble)),
      ...answer,
    ]
  }
  const at = replaces ? bubbles.findIndex(({ id }) => id === replaces) : -1
  const before = at < 0 ? bubbles.filter((bubble) => bubble.requestId !== requestId) : bubbles.slice(0, at)
  return [...before, questionBubble(asking), ...answer]
}

function questionBubble({ requestId, text, attachments }: Omit<QueuedMessage, "toPeople">): Bubble {
  return {
    ...answerBubble(requestId),
    key: `${requestId} user`,
    role: "user",
    parts: textParts(text),
    attachments,
    status: null,
  }
}

function answerBubble(requestId: string): Bubble {
  return {
    key: `${requestId} assistant`,
    id: null,
    createdAt: null,
    authorId: null,
    role: "assistant",
    parts: [],
    attachments: [],
    mentions: [],
    edited: false,
    status: "running",
    failure: null,
    shortfall: null,
    model: null,
    tokens: null,
    requestId,
    isNote: false,
    recall: null,
  }
}

function textParts(text: string): ReplyPart[] {
  return text ? [{ type: "text", text }] : []
}
