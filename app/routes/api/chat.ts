import type { IncomingMessage } from "node:http"
import * as v from "valibot"
import { incomingContext } from "#server/context.ts"
import { ThreadId } from "#server/chat/contract.ts"
import { readPostedBody } from "#server/chat/posted-body.ts"
import { ChatRequest } from "#server/chat/request.ts"
import {
  readConversation,
  readPostedMessage,
  toModelMessages,
  type ReadMessage,
} from "#server/chat/conversation.ts"
import { isToPeople } from "#server/chat/addressee.ts"
import { answerFailure } from "#server/chat/failure.ts"
import { openAfterLeft, readPersonally, untilEnd } from "#server/chat/left-replies.ts"
import type { SentMessage } from "#server/chat/resent.ts"
import { followReply } from "#server/chat/resume.ts"
import { storeFiles } from "#server/chat/store-files.ts"
import { streamResponse } from "#server/chat/stream-response.ts"
import { answerOnce, askInBackground, startReply } from "#server/chat/turn.ts"
import { claimedAddress } from "#server/http/client-key.ts"
import { bodyTooLarge, json } from "#server/transport/json.ts"
import { allowMethods, ANY_QUERY } from "#server/http/methods.ts"
import { prefersAsync } from "#server/http/prefer.ts"
import { rateLimitHeaders } from "#server/transport/rate-limit.ts"
import { requireScope, servicesOf, sessionOf } from "#server/http/scope.ts"
import { replyLimit } from "#server/transport/spending-limiter.ts"
import { unauthorized } from "#server/http/unauthorized.ts"
import { networkIn } from "#server/http/visit.ts"
import { limitsOf } from "#server/plans/limits.ts"
import type { Route } from "./+types/chat.ts"

export const handle = { credential: "key", scope: "chat" }

export const middleware: Route.MiddlewareFunction[] = [allowMethods({ POST: ANY_QUERY })]

/** The checks run in the order of docs/http-api.md; the first that fails ends the request. */
export async function action({ request, context }: Route.ActionArgs) {
  const session = sessionOf(context)
  if (!session) return unauthorized()

  const services = servicesOf(context)
  const { config, limiters, model } = services
  const plan = limitsOf(config, session)
  const limit = limiters.chat.check(`${session.userId}:${claimedAddress(request)}`, plan.chatPerMinute)
  const headers = { ...rateLimitHeaders(limit), "X-AI-Model": model.name }
  if (!limit.success) return json({ error: "Too many requests" }, { status: 429, headers })
  if (!model.available) return json({ error: "Missing AI_GATEWAY_API_KEY" }, { status: 500, headers })

  const body = await readPostedBody(request, services, session.userId)
  if (!body.ok && body.status === 413) return bodyTooLarge(headers, body.limit)
  if (!body.ok && body.status === 429)
    return json({ error: "Too many requests" }, { status: 429, headers: { ...headers, "Retry-After": "1" } })
  if (!body.ok) return json({ error: "Invalid JSON body" }, { status: 400, headers })
  const ask = v.safeParse(ChatRequest, body.value)
  if (!ask.success) return json({ error: SHAPE }, { status: 400, headers })
  const problem = findProblem(ask.output, { isAsync: prefersAsync(request) })
  if (problem) return json({ error: problem }, { status: 400, headers })

  try {
    const scope = await requireScope(context)
    const posted = await readPosted(scope, ask.output)
    const spender = { userId: session.userId, network: networkIn(context) }
    const spending = "question" in posted && posted.question.toPeople ? limiters.notes : limiters.answers
    const spent = spending.check(spender, replyLimit(plan))
    if (!spent.success) {
      return json(
        { error: "Too many requests" },
        { status: 429, headers: { ...headers, ...rateLimitHeaders(spent) } },
      )
    }
    return "messages" in posted
      ? await answerAlone(scope, posted.messages, { headers, incoming: context.get(incomingContext) })
      : await answerInThread(scope, posted, { headers, request })
  } catch (error) {
    return answerFailure(services, error, headers)
  }
}

type FullScope = Awaited<ReturnType<typeof requireScope>>

const SHAPE = "Expected a JSON object of the shape { messages: UIMessage[] }"

/** What does not fit together in a body whose fields do. */
function findProblem(
  { replaces, threadId, createThread, spaceId, mayWait }: ChatRequest,
  { isAsync }: { isAsync: boolean },
): string | null {
  if (replaces != null && !threadId)
    return "replaces needs a threadId: it names a question of a conversation."
  if (createThread && !v.is(ThreadId, threadId)) return "createThread needs a threadId: a UUID of your own."
  if (spaceId !== undefined && !createThread)
    return "spaceId needs createThread: it says where the conversation is created."
  if (mayWait && !isAsync) return "mayWait needs Prefer: respond-async: the reply may begin minutes later."
  return null
}

interface PostedInThread {
  threadId: string
  question: SentMessage
}

/** Throws BadRequest. */
async function readPosted(
  scope: FullScope,
  { threadId, messages, ...said }: ChatRequest,
): Promise<PostedInThread | { messages: ReadMessage[] }> {
  if (!threadId) return { messages: await readConversation(messages) }
  const question = {
    ...(await readPostedMessage(messages)),
    again: said.trigger === "regenerate-message",
    cutsLater: said.messageId !== undefined,
    replaces: said.replaces,
    createsThread: said.createThread,
    spaceId: said.spaceId,
    mayWait: said.mayWait,
    asks: said.ask,
  }
  const toPeople = await isToPeople(scope, threadId, question)
  return { threadId, question: { ...question, toPeople } }
}

/** Milliseconds until a client's closing of its stream is known, if it sends a message immediately. */
const LEAVING_TIME = 1000

/**
 * The conversation is stored, and the reply continues if the reader disconnects or was never
 * connected.
 */
async function answerInThread(
  scope: FullScope,
  { threadId, question }: PostedInThread,
  { headers, request }: { headers: Record<string, string>; request: Request },
) {
  const isAsync = prefersAsync(request)
  const next = { threadId, question, leavingTime: isAsync ? 0 : LEAVING_TIME }
  if (isAsync) {
    const asked = await openAfterLeft(scope, next, async () =>
      askInBackground(scope, threadId, await storeFiles(scope, threadId, question)),
    )
    return json(asked, { status: 202, headers: { ...headers, "Preference-Applied": "respond-async" } })
  }
  const { chunks, turn } = await openAfterLeft(scope, next, async () =>
    startReply(scope, threadId, await storeFiles(scope, threadId, question)),
  )
  // The stream of somebody who is removed from the space ends with that commit, so it is read as
  // everybody else in the space reads it.
  if (turn?.spaceId != null) {
    const followed = { ...turn, _id: turn.answerId, model: scope.model.name }
    const reply = followReply(scope, followed)
    return streamResponse(reply.chunks, { headers, leave: reply.leave })
  }
  const reply = turn ? readPersonally(scope, turn.answerId, { chunks }) : { chunks, leave: () => {} }
  return streamResponse(reply.chunks, { headers, leave: reply.leave })
}

/** Nothing is stored, so a reply ends when its reader disconnects. */
async function answerAlone(
  scope: FullScope,
  messages: readonly ReadMessage[],
  { headers, incoming }: { headers: Record<string, string>; incoming: IncomingMessage },
) {
  const { chunks, stop } = answerOnce(scope, await toModelMessages(scope, messages))
  const leave = () => stop("stopped")
  const forget = onDisconnect(incoming, leave)
  return streamResponse(untilEnd(chunks, forget), { headers, leave })
}

/**
 * Listens on the socket, because the router's copies of the request lose `request.signal`, which
 * then misses most disconnects.
 */
function onDisconnect({ socket }: IncomingMessage, leave: () => void) {
  socket.once("close", leave)
  return () => {
    socket.off("close", leave)
  }
}
