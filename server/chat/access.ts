import { and, eq, type SQL } from "drizzle-orm"
import * as v from "valibot"
import { chatMessages, chatThreads } from "#db/schema/chat.ts"
import { NotFound } from "#server/errors.ts"
import type { Scope } from "#server/scope.ts"
import { mayEdit, mayRead, requireEditor } from "#server/spaces/access.ts"
import { ThreadId } from "./contract.ts"

type Asking = Scope<"db" | "viewer">

/** Where a conversation is sought. */
interface Sought {
  trashed?: boolean
}

/** The conversations that the viewer may see, wherever they are. */
export function readableThreads(scope: Asking): SQL | undefined {
  return and(mayRead(scope, chatThreads), eq(chatThreads.trashed, false))
}

/**
 * One conversation that the viewer may see. Throws NotFound for text that is no id; the query finds
 * nothing if they may not see it.
 */
export function readableThread(scope: Asking, id: string): SQL | undefined {
  return and(readableThreads(scope), eq(chatThreads._id, parseId(id)))
}

/**
 * One conversation that the viewer may change, for a statement that changes it. Throws NotFound as
 * `readableThread` does.
 */
export function editableThread(scope: Asking, id: string, { trashed = false }: Sought = {}): SQL | undefined {
  return and(mayEdit(scope, chatThreads), eq(chatThreads.trashed, trashed), eq(chatThreads._id, parseId(id)))
}

/**
 * Resolves with the conversation's space. Throws NotFound for one that the viewer may not see, and
 * Forbidden for one that they may only read. In a transaction, their role cannot be lowered before it ends.
 */
export async function requireEditableThread(
  scope: Asking,
  id: string,
  { trashed = false }: Sought = {},
): Promise<{ spaceId: string | null }> {
  const [thread] = await scope.db
    .select({ spaceId: chatThreads.spaceId })
    .from(chatThreads)
    .where(
      and(mayRead(scope, chatThreads), eq(chatThreads.trashed, trashed), eq(chatThreads._id, parseId(id))),
    )
  if (!thread) throw new NotFound("conversation")
  if (thread.spaceId !== null) await requireEditor(scope, thread.spaceId)
  return thread
}

/** The messages that the viewer may see, of one conversation. It may be in the trash. */
export function readableMessages(scope: Asking, threadId: string): SQL | undefined {
  return and(mayRead(scope, chatMessages), eq(chatMessages.threadId, threadId))
}

function parseId(id: string): string {
  if (!v.is(ThreadId, id)) throw new NotFound("conversation")
  return id
}
