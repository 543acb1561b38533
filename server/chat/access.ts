import { and, eq, type SQL } from "drizzle-orm"
import * as v from "valibot"
import { chatMessages, chatShares, chatThreads } from "#db/schema/chat.ts"
import { NotFound } from "#server/errors.ts"
import type { Scope } from "#server/scope.ts"
import { ThreadId } from "./contract.ts"

/** The viewer's own conversations, except those in the trash. */
export function ownThreads({ viewer }: Scope<"viewer">): SQL | undefined {
  return and(eq(chatThreads.userId, viewer.user._id), eq(chatThreads.trashed, false))
}

/**
 * One of the viewer's own conversations. Throws NotFound for anybody else's, and for text that is
 * no id.
 */
export function ownThread(scope: Scope<"viewer">, id: string): SQL | undefined {
  return and(ownThreads(scope), eq(chatThreads._id, parseId(id)))
}

/** The viewer's conversations in the trash. */
export function ownTrashedThreads({ viewer }: Scope<"viewer">): SQL | undefined {
  return and(eq(chatThreads.userId, viewer.user._id), eq(chatThreads.trashed, true))
}

/** A conversation in the viewer's trash. Throws NotFound as `ownThread` does. */
export function ownTrashedThread(scope: Scope<"viewer">, id: string): SQL | undefined {
  return and(ownTrashedThreads(scope), eq(chatThreads._id, parseId(id)))
}

/**
 * The messages of one or all of the viewer's conversations: those they wrote and the replies to
 * them.
 */
export function ownMessages({ viewer }: Scope<"viewer">, threadId?: string): SQL | undefined {
  return and(
    eq(chatMessages.userId, viewer.user._id),
    threadId === undefined ? undefined : eq(chatMessages.threadId, threadId),
  )
}

/** The links to conversations that the viewer created. */
export function ownThreadShares({ viewer }: Scope<"viewer">): SQL {
  return eq(chatShares.userId, viewer.user._id)
}

function parseId(id: string): string {
  if (!v.is(ThreadId, id)) throw new NotFound("conversation")
  return id
}
