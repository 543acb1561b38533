import type { AssistantModelMessage, ModelMessage, ToolCallPart, ToolModelMessage } from "ai"
import { and, desc, eq, like, lt, not, or, sql } from "drizzle-orm"
import { alias, unionAll } from "drizzle-orm/pg-core"
import { chatMessages, chatTurns, type ReplyPart } from "#db/schema/chat.ts"
import { spaceMembers } from "#db/schema/spaces.ts"
import type { Scope } from "#server/scope.ts"
import { readableMessages } from "./access.ts"
import { createFileReader } from "./attachments.ts"
import { leftOutAfter, MESSAGE_REFUSED_LIKE } from "./failure-contract.ts"
import { countTokens, type Conversation, type Recalled } from "./fit.ts"
import { BYTES_PER_TOKEN, MESSAGE_TOKENS } from "./tokens.ts"

/** Messages of one request to the model, however short they are. */
const RECALLED_MESSAGES = 1000

/** The latest messages among which the results of tools are read: they can be large. */
const WITH_TOOLS = 20

interface Asked {
  threadId: string
  spaceId: string | null
  questionId: string
  /** The reply's message, which comes after everything that was said before it. */
  answerId: string
  /** What the model's context holds. */
  tokens: number
}

/**
 * What the model may receive of a conversation before a reply, oldest first: the latest messages
 * that fit, with the files of messages, the text of replies, and the results of their tools. The
 * message that is replied to is the last, also if it was sent long ago. A message that the model
 * refused is left out, or only its images are. If people talked to each other, what people wrote
 * begins with their names.
 */
export async function recallMessages(
  scope: Scope<"db" | "blobs" | "log" | "thumbnailer" | "viewer">,
  asking: Asked,
): Promise<Conversation> {
  const { spaceId, questionId, tokens } = asking
  const latestFirst = await selectLatest(scope, asking)
  const isTalk =
    spaceId !== null && latestFirst.some(({ role, requestId }) => role === "user" && requestId !== null)
  const recalled: Recalled[] = []
  let left = tokens
  let more = latestFirst.length > RECALLED_MESSAGES || (latestFirst.at(-1)?.before ?? 0) > tokens
  const withFiles = createFileReader(scope, spaceId, () => left)
  for (const row of latestFirst.slice(0, RECALLED_MESSAGES)) {
    const { _id, role, attachments, tools, asked } = row
    const content =
      isTalk && role === "user" ? `${row.author ?? "Former member"}: ${row.content}` : row.content
    const isQuestion = _id === questionId
    if (left <= 0 && !isQuestion) {
      more = true
      break
    }
    const withoutImages = !isQuestion && leftOutAfter(asked?.failure ?? null) === "images"
    const messages: ModelMessage[] =
      role === "user"
        ? [{ role, content: await withFiles(content, attachments, { withoutImages }) }]
        : replyMessages(content, tools, left)
    if (messages.length === 0) continue
    left -= countTokens(messages)
    recalled.unshift({ id: _id, messages, failed: !isQuestion && asked?.status === "failed" })
  }
  return { recalled, more }
}

/** How the reply to a message ended. */
const asked = alias(chatTurns, "asked")

/** The texts that fit and the one after them, measured by the database. */
async function selectLatest(
  scope: Scope<"db" | "viewer">,
  { threadId, questionId, answerId, tokens }: Asked,
) {
  const isQuestion = eq(chatMessages._id, questionId)
  const isRefused = sql`exists (
    select from ${chatTurns} where ${chatTurns.questionId} = ${chatMessages._id}
      and ${or(...MESSAGE_REFUSED_LIKE.map((sentence) => like(chatTurns.failure, sentence)))})`
  const select = () => scope.db.select({ _id: chatMessages._id }).from(chatMessages)
  const sought = unionAll(
    select()
      .where(
        and(
          readableMessages(scope, threadId),
          lt(chatMessages._id, answerId),
          not(isQuestion),
          not(isRefused),
        ),
      )
      .orderBy(desc(chatMessages._id))
      .limit(RECALLED_MESSAGES),
    select().where(and(readableMessages(scope, threadId), isQuestion)),
  ).as("sought")
  const latestFirst = sql`${isQuestion} desc, ${chatMessages._id} desc`
  const cost = sql`(octet_length(${chatMessages.content}) / ${BYTES_PER_TOKEN} + ${MESSAGE_TOKENS})`
  const measured = scope.db.$with("measured").as(
    scope.db
      .select({
        _id: chatMessages._id,
        place: sql<number>`row_number() over (order by ${latestFirst})`.as("place"),
        before: sql<number>`sum(${cost}) over (order by ${latestFirst})`.mapWith(Number).as("before"),
      })
      .from(sought)
      .innerJoin(chatMessages, eq(chatMessages._id, sought._id)),
  )
  return scope.db
    .with(measured)
    .select({
      _id: chatMessages._id,
      role: chatMessages.role,
      content: chatMessages.content,
      attachments: chatMessages.attachments,
      requestId: chatMessages.requestId,
      author: sql<string | null>`coalesce(${spaceMembers.memberName}, ${spaceMembers.memberEmail})`,
      before: measured.before,
      tools: sql<ReplyPart[] | null>`case when ${measured.place} <= ${WITH_TOOLS}
        and jsonb_path_exists(${chatTurns.parts}, '$[*] ? (@.type == "tool")') then ${chatTurns.parts} end`,
      asked: { status: asked.status, failure: asked.failure },
    })
    .from(measured)
    .innerJoin(chatMessages, eq(chatMessages._id, measured._id))
    .leftJoin(chatTurns, and(eq(chatTurns._id, chatMessages._id), eq(chatTurns.status, "completed")))
    .leftJoin(asked, eq(asked.questionId, chatMessages._id))
    .leftJoin(
      spaceMembers,
      and(eq(spaceMembers.spaceId, chatMessages.spaceKey), eq(spaceMembers.userId, chatMessages.userId)),
    )
    .where(sql`${measured.before} - ${cost} <= ${tokens}`)
    .orderBy(latestFirst)
}

/**
 * A reply as the model gave it: its text, and each group of tool calls with their results. If the
 * results do not fit, only the text.
 */
function replyMessages(content: string, parts: ReplyPart[] | null, tokens: number): ModelMessage[] {
  const plain: ModelMessage[] = content === "" ? [] : [{ role: "assistant", content }]
  if (!parts) return plain
  const messages = partMessages(parts)
  return countTokens(messages) <= tokens ? messages : plain
}

function partMessages(parts: readonly ReplyPart[]): ModelMessage[] {
  const messages: ModelMessage[] = []
  let said: Exclude<AssistantModelMessage["content"], string> = []
  let results: ToolModelMessage["content"] = []
  const flush = () => {
    if (said.length > 0) messages.push({ role: "assistant", content: said })
    if (results.length > 0) messages.push({ role: "tool", content: results })
    said = []
    results = []
  }
  for (const [place, part] of parts.entries()) {
    if (part.type === "tool") {
      const call = toCall(part, place)
      if (!call) continue
      said.push(call)
      results.push({
        type: "tool-result",
        toolCallId: call.toolCallId,
        toolName: part.name,
        output: toOutput(part),
      })
    } else if (part.type === "text" && part.text !== "") {
      if (results.length > 0) flush()
      said.push({ type: "text", text: part.text })
    }
  }
  flush()
  return messages
}

type ToolPart = Extract<ReplyPart, { type: "tool" }>

/** Null for a call that was never complete. Mistral requires ids of nine letters and digits. */
function toCall({ name, input, output, error }: ToolPart, place: number): ToolCallPart | null {
  if (output === undefined && error === undefined) return null
  const toolCallId = `call${String(place).padStart(5, "0")}`
  return { type: "tool-call", toolCallId, toolName: name, input: input ?? {} }
}

function toOutput({ output, error }: ToolPart) {
  if (error !== undefined) return { type: "error-text", value: error } as const
  // It is JSON: it was read from a column of that type.
  return { type: "json", value: output as never } as const
}
