import { and, eq, type SQL } from "drizzle-orm"
import * as v from "valibot"
import { chatMessages, chatShares, chatThreads } from "#db/schema/chat.ts"
import { NotFound } from "#server/errors.ts"
import type { Scope } from "#server/scope.ts"
import { isPersonal } from "#server/spaces/access.ts"
import { ThreadId } from "./contract.ts"

/** The viewer's own conversations, except those in the trash. */
export function ownThreads(scope: Scope<"viewer">): SQL | undefined {
  return and(isPersonal(scope, chatThreads), eq(chatThreads.trashed, false))
}

/**
 * One of the viewer's own conversations. Throws NotFound for anybody else's, and for text that is
 * no id.
 */
export function ownThread(scope: Scope<"viewer">, id: string): SQL | undefined {
  return and(ownThreads(scope), eq(chatThreads._id, parseId(id)))
}

/** The viewer's conversations in the trash. */
export function ownTrashedThreads(scope: Scope<"viewer">): SQL | undefined {
  return and(isPersonal(scope, chatThreads), eq(chatThreads.trashed, true))
}

/** A conversation in the viewer's trash. Throws NotFound as `ownThread` does. */
export function ownTrashedThread(scope: Scope<"viewer">, id: string): SQL | undefined {
  return and(ownTrashedThreads(scope), eq(chatThreads._id, parseId(id)))
}

/**
 * The messages of one or all of the viewer's conversations: those they wrote and the replies to
 * them.
 */
export function ownMessages(scope: Scope<"viewer">, threadId?: string): SQL | undefined {
  return and(
    isPersonal(scope, chatMessages),
    threadId === undefined ? undefined : eq(chatMessages.threadId, threadId),
  )
}

/** The links to conversations that the viewer created. */
export function ownThreadShares(scope: Scope<"viewer">): SQL | undefined {
  return isPersonal(scope, chatShares)
}

function parseId(id: string): string {
  if (!v.is(ThreadId, id)) throw new NotFound("conversation")
  return id
}
