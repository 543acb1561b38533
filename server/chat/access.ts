import { and, eq, type SQL } from "drizzle-orm"
import * as v from "valibot"
import { chatMessages, chatThreads } from "#db/schema/chat.ts"
import { NotFound } from "#server/errors.ts"
import type { Scope } from "#server/scope.ts"
import { ThreadId } from "./contract.ts"

/** The viewer's own conversations. What is in the trash is not among them. */
export function ownThreads({ viewer }: Scope<"viewer">): SQL | undefined {
  return and(eq(chatThreads.userId, viewer.user._id), eq(chatThreads.trashed, false))
}

/**
 * One of the viewer's own conversations. Throws NotFound for what cannot be an id, as for what is
 * somebody else's.
 */
export function ownThread(scope: Scope<"viewer">, id: string): SQL | undefined {
  return and(ownThreads(scope), eq(chatThreads._id, parseId(id)))
}

/** The viewer's conversations in the trash. */
export function ownTrashedThreads({ viewer }: Scope<"viewer">): SQL | undefined {
  return and(eq(chatThreads.userId, viewer.user._id), eq(chatThreads.trashed, true))
}

/** One that the viewer has in the trash. Throws NotFound as `ownThread` does. */
export function ownTrashedThread(scope: Scope<"viewer">, id: string): SQL | undefined {
  return and(ownTrashedThreads(scope), eq(chatThreads._id, parseId(id)))
}

/** The messages of a conversation, or of all, as far as the viewer wrote or was answered in it. */
export function ownMessages({ viewer }: Scope<"viewer">, threadId?: string): SQL | undefined {
  return and(
    eq(chatMessages.userId, viewer.user._id),
    threadId === undefined ? undefined : eq(chatMessages.threadId, threadId),
  )
}

function parseId(id: string): string {
  if (!v.is(ThreadId, id)) throw new NotFound("conversation")
  return id
}
