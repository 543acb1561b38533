import { msg } from "@lingui/core/macro"
import { i18nOfDocument } from "#app/language/i18n.ts"
import { sentencesIn } from "#app/language/sentences.ts"
import type { Attachment } from "#server/chat/contract.ts"

/** The server refused a question; nothing of it was stored, unless `status` is 0: then nobody knows. */
export class AskRefused extends Error {
  readonly status: number
  /** Milliseconds since the epoch: when the next question will be taken. Null where waiting is not what helps. */
  readonly retryAt: number | null

  constructor(status: number, message: string, retryAt: number | null) {
    super(message)
    this.name = "AskRefused"
    this.status = status
    this.retryAt = retryAt
  }
}

/** A question as it is sent. */
export interface Question {
  threadId: string
  /** Asked twice with one id, it is stored once. */
  requestId: string
  text: string
  attachments: Attachment[]
  /** Asks for another answer, although there is one. */
  again?: boolean
  /** The id of a stored question, whose place it takes: what was said from there on is kept as its earlier version. */
  replaces?: string | null
}

/**
 * Asks, and resolves as soon as the question is stored: its answer comes with the live records. Throws AskRefused, in words
 * for the person who asked.
 */
export async function askQuestion(question: Question): Promise<void> {
  const { threadId, requestId, text, attachments, again, replaces } = question
  const files = attachments.map(({ fileId }) => ({ type: "data-file", data: { fileId } }))
  const response = await fetchOrRefuse("/api/chat", {
    method: "POST",
    headers: { "content-type": "application/json", prefer: "respond-async" },
    body: JSON.stringify({
      threadId,
      ...(again && { trigger: "regenerate-message" }),
      ...(replaces && { replaces }),
      messages: [{ id: requestId, role: "user", parts: [{ type: "text", text }, ...files] }],
    }),
  })
  // Nothing in it is news; a body that nobody reads keeps its connection.
  await response.body?.cancel()
}

interface Sending {
  /** Goes as JSON. */
  body?: object
  /** Goes as it is. */
  content?: Blob
  signal?: AbortSignal
}

/** Sends something to an address of ours and gives back the JSON of the answer. Throws AskRefused. */
export async function send<Answer>(
  method: "GET" | "POST" | "PATCH" | "DELETE",
  address: string,
  { body, content, signal }: Sending = {},
): Promise<Answer> {
  const response = await fetchOrRefuse(address, {
    method,
    ...(signal && { signal }),
    ...(body && { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
    ...(content && { headers: { "content-type": "application/octet-stream" }, body: content }),
  })
  return (response.status === 204 ? undefined : await response.json()) as Answer
}

async function fetchOrRefuse(address: string, init: RequestInit): Promise<Response> {
  const response = await fetch(address, init).catch((error: unknown) => {
    if (error instanceof Error && error.name === "AbortError") throw error
    const unreachable = msg`The server can't be reached. Check your connection and try again.`
    throw new AskRefused(0, i18nOfDocument()._(unreachable), null)
  })
  if (response.ok) return response
  const seconds = Number(response.headers.get("retry-after"))
  const retryAt = response.status === 429 && seconds > 0 ? Date.now() + seconds * 1000 : null
  throw new AskRefused(response.status, await describe(response), retryAt)
}

async function describe(response: Response) {
  const { status } = response
  const i18n = i18nOfDocument()
  if (status === 401) return i18n._(msg`You're signed out. Sign in again to continue.`)
  if (status === 429) return i18n._(msg`You've sent a lot of messages in a short time.`)
  try {
    const body: unknown = await response.json()
    if (typeof body === "object" && body !== null && "error" in body && typeof body.error === "string") {
      return sentencesIn(i18n)(body.error)
    }
  } catch {
    // No JSON: a proxy answered in place of the application.
  }
  return i18n._(msg`The server responded with status ${status}.`)
}
