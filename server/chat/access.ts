import { and, eq, type SQL } from "drizzle-orm"
import * as v from "valibot"
import { chatMessages, chatThreads } from "#db/schema/chat.ts"
import { NotFound } from "../errors.ts"
import type { Scope } from "../scope.ts"
import { ThreadId } from "./contract.ts"

/** The viewer's own conversations. */
export function ownThreads({ viewer }: Scope<"viewer">): SQL {
  return eq(chatThreads.userId, viewer.user._id)
}

/** One of the viewer's own conversations. Throws NotFound for what cannot be an id, as for what is somebody else's. */
export function ownThread(scope: Scope<"viewer">, id: string): SQL | undefined {
  if (!v.is(ThreadId, id)) throw new NotFound("conversation")
  return and(ownThreads(scope), eq(chatThreads._id, id))
}

/** The messages of a conversation, as far as the viewer wrote or was answered in it. */
export function ownMessages({ viewer }: Scope<"viewer">, threadId: string): SQL | undefined {
  return and(eq(chatMessages.userId, viewer.user._id), eq(chatMessages.threadId, threadId))
}
