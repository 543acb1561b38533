import type { Attachment } from "#server/chat/contract.ts"
import { request } from "#app/routes/dashboard/send.ts"

/** A question as it is sent. */
export interface OutgoingMessage {
  threadId: string
  /** Asked twice with one id, it is stored once. */
  requestId: string
  text: string
  attachments: Attachment[]
  /** Asks for another answer, although there is one. */
  again?: boolean
  /**
   * The id of a stored question, whose place it takes: what was said from there on is kept as its
   * earlier version.
   */
  replaces?: string | null
}

/**
 * Asks, and resolves as soon as the question is stored: its answer comes with the live records.
 * Throws RequestRefused, in words for the person who asked.
 */
export async function postMessage(question: OutgoingMessage): Promise<void> {
  const { threadId, requestId, text, attachments, again, replaces } = question
  const files = attachments.map(({ fileId }) => ({ type: "data-file", data: { fileId } }))
  const response = await request("/api/chat", {
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
