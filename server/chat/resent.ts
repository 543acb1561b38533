import type { ChatMessage } from "#db/schema/chat.ts"
import { Conflict } from "#server/errors.ts"
import type { Scope } from "#server/scope.ts"
import type { PostedMessage } from "./conversation.ts"
import type { KnownTurn, ThreadState } from "./turn-rows.ts"

/** A message, and what to do with the messages that the conversation already has. */
export interface SentMessage extends PostedMessage {
  /** Generate another reply although a complete one exists. */
  again: boolean
  /** That reply may be an earlier one: what follows it is removed, as by an edit. */
  cutsLater?: boolean
  /** The message that it replaces. */
  replaces?: string | null | undefined
  /** Create the conversation if there is none with this id. */
  createsThread?: boolean
  /** Where it is, or is created. */
  spaceId?: string | undefined
  /** In a space: it waits while a reply is being generated, instead of being refused. */
  mayWait?: boolean
  /** It has waited under this id, and is the first in line. */
  waitingId?: string
  /** To ask the model, whomever it mentions; a stored message between people, too. */
  asks?: boolean
  /** In a space: it is stored for the people there, and the model does not reply. */
  toPeople?: boolean
}

/**
 * If the message has already replaced the other, it is already stored: its sender missed the
 * response.
 */
export function isReplaced({ replaces }: SentMessage, known: KnownTurn | null): boolean {
  return replaces != null && (known === null || known.questionId === replaces)
}

/**
 * Throws Conflict if somebody else's message has this id. Anybody who may write can ask for a reply to
 * it, or another one; for one in place of a failed reply, a page sends the message itself again.
 */
export function refuseOthers({ viewer }: Scope<"viewer">, question: SentMessage, state: ThreadState): void {
  const { stored, known } = state
  if (!stored || stored.userId === viewer.user._id) return
  const asks = question.again || question.asks
  if (isChanged(question, stored) || (!asks && (!known || known.status === "completed")))
    throw new Conflict("message-id-taken")
}

/**
 * Clients keep a message's id when it is edited. With contents other than those stored under its id,
 * it replaces what is stored.
 */
export function asEdit(question: SentMessage, { stored }: ThreadState): SentMessage {
  return stored && isChanged(question, stored) ? { ...question, replaces: stored._id } : question
}

/** Whether it differs from what was stored. */
export function isChanged(
  { text, fileIds = [] }: SentMessage,
  stored: Pick<ChatMessage, "content" | "attachments"> | null,
): boolean {
  const attached = (stored?.attachments ?? []).map(({ fileId }) => fileId)
  return stored?.content !== text || sorted(fileIds) !== sorted(attached)
}

function sorted(ids: readonly string[]): string {
  return ids
    .map((id) => id.toLowerCase())
    .toSorted()
    .join()
}
