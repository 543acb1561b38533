import { href } from "react-router"
import type { Attachment } from "#server/chat/contract.ts"
import type { Taken } from "#server/chat/request.ts"
import { request } from "#app/routes/dashboard/requests/send.ts"

/** The body of a request to send a message. */
export interface OutgoingMessage {
  threadId: string
  /** Creates the conversation, unless an earlier attempt has. */
  createThread?: boolean
  /** Where it is created. */
  spaceId?: string | undefined
  /** Makes the request idempotent: a message sent twice with one id is stored once. */
  requestId: string
  text: string
  attachments: Attachment[]
  /** Requests another reply even if there is a complete one. */
  again?: boolean
  /**
   * The id of the stored message to replace: everything from it on is kept as its earlier version.
   */
  replaces?: string | null
  /** In a space: it waits for its turn if a reply is being generated. */
  mayWait?: boolean
  /** Asks the model, whomever the message mentions; also for a stored message between people. */
  ask?: boolean
}

/**
 * Sends a message, and resolves as soon as it is stored, with whether it waits for its turn or asks
 * nobody: the rest arrives with the live records. Throws RequestRefused, with a text for the user.
 */
export async function postMessage(
  question: OutgoingMessage,
): Promise<{ waits: boolean; asksNobody: boolean }> {
  const { threadId, createThread, spaceId, requestId, text, attachments } = question
  const { again, replaces, mayWait, ask } = question
  const files = attachments.map(({ fileId }) => ({ type: "data-file", data: { fileId } }))
  const response = await request(href("/api/chat"), {
    method: "POST",
    headers: { "content-type": "application/json", prefer: "respond-async" },
    body: JSON.stringify({
      threadId,
      ...(createThread && { createThread, spaceId }),
      ...(again && { trigger: "regenerate-message" }),
      ...(replaces && { replaces }),
      ...(mayWait && { mayWait }),
      ...(ask && { ask }),
      messages: [{ id: requestId, role: "user", parts: [{ type: "text", text }, ...files] }],
    }),
  })
  const stored = (await response.json()) as Taken
  const waits = "waitingId" in stored
  return { waits, asksNobody: !waits && stored.answerId === null }
}
