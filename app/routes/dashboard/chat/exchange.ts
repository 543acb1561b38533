import { getToolName, isToolUIPart } from "ai"
import type { AnswerPart, ChatUIMessage, Entry } from "#server/chat/contract.ts"

/** A message on the screen, whether it is stored or still on its way. */
export interface Bubble {
  /** The same before and after it is stored, so that it stays in place. */
  key: string
  role: Entry["role"]
  parts: AnswerPart[]
  /** `running` for an answer that grows. Null for a question. */
  status: NonNullable<Entry["turn"]>["status"] | null
  failure: string | null
  model: string | null
  requestId: string | null
}

interface Running {
  messages: ChatUIMessage[]
  isAnswering: boolean
  /** What went wrong after the question was taken. */
  failure: string | null
}

/** The stored messages, and after them the exchange that is running in this tab; what is in both is shown once. */
export function mergeExchange(entries: Entry[], running: Running): Bubble[] {
  const question = running.messages.findLast(({ role }) => role === "user")
  if (!question) return entries.map(storedBubble)
  const stored = entries.filter(({ requestId }) => requestId !== question.id).map(storedBubble)
  const answer = running.messages.at(-1)
  return [
    ...stored,
    questionBubble(question),
    answerBubble(question.id, answer === question ? undefined : answer, running),
  ]
}

/** How the server's own record of the running exchange stands; null where it has none yet. */
export function findStoredStatus(entries: Entry[], messages: ChatUIMessage[]): Bubble["status"] {
  const question = messages.findLast(({ role }) => role === "user")
  return entries.find(({ requestId, turn }) => turn && requestId === question?.id)?.turn?.status ?? null
}

export function plainText(parts: AnswerPart[]): string {
  return parts
    .filter((part) => part.type === "text")
    .map(({ text }) => text)
    .join("\n\n")
}

function storedBubble({ _id, role, content, turn, requestId }: Entry): Bubble {
  return {
    key: requestId ? `${requestId} ${role}` : _id,
    role,
    parts: turn?.parts ?? (content ? [{ type: "text", text: content }] : []),
    status: turn?.status ?? null,
    failure: turn?.failure ?? null,
    model: turn?.model ?? null,
    requestId,
  }
}

function questionBubble({ id, parts }: ChatUIMessage): Bubble {
  return {
    key: `${id} user`,
    role: "user",
    parts: parts.flatMap((part) => (part.type === "text" ? [{ type: "text", text: part.text }] : [])),
    status: null,
    failure: null,
    model: null,
    requestId: id,
  }
}

function answerBubble(requestId: string, answer: ChatUIMessage | undefined, running: Running): Bubble {
  const ended = running.failure === null ? (answer?.metadata?.stop ?? "completed") : "failed"
  return {
    key: `${requestId} assistant`,
    role: "assistant",
    parts: answer ? answer.parts.flatMap(answerPart) : [],
    status: running.isAnswering ? "running" : ended,
    failure: running.failure,
    model: answer?.metadata?.model ?? null,
    requestId,
  }
}

function answerPart(part: ChatUIMessage["parts"][number]): AnswerPart[] {
  if (part.type === "text" || part.type === "reasoning") {
    return part.text ? [{ type: part.type, text: part.text }] : []
  }
  if (!isToolUIPart(part)) return []
  return [
    {
      type: "tool",
      callId: part.toolCallId,
      name: part.type === "dynamic-tool" ? part.toolName : getToolName(part),
      input: part.input,
      ...(part.state === "output-available" && { output: part.output }),
      ...(part.state === "output-error" && { error: part.errorText }),
    },
  ]
}
