import { eq } from "drizzle-orm"
import { chatThreads, chatWaiting } from "#db/schema/chat.ts"
import type { Scope } from "#server/scope.ts"
import { editableThread } from "./access.ts"
import type { ThreadSummary } from "./contract.ts"
import { stopTurn, type StopScope } from "./stop.ts"
import { refuseThread, summary } from "./threads.ts"

/**
 * Removes it from every list and URL, and stops its reply in progress. Throws NotFound, and
 * Forbidden for a conversation that the viewer may only read.
 */
export async function trashThread(scope: StopScope, id: string): Promise<void> {
  const [trashed] = await scope.db
    .update(chatThreads)
    .set({ trashed: true, trashedAt: Date.now() })
    .where(editableThread(scope, id))
    .returning({ _id: chatThreads._id })
  if (!trashed) return refuseThread(scope, id)
  // Otherwise a restored conversation would go on by itself.
  await scope.db.delete(chatWaiting).where(eq(chatWaiting.threadId, id))
  await stopTurn(scope, id)
}

/**
 * Puts it back, with all its messages. Throws NotFound if it is not in the trash, and Forbidden as
 * `trashThread` does.
 */
export async function restoreThread(scope: Scope<"db" | "viewer">, id: string): Promise<ThreadSummary> {
  const [thread] = await scope.db
    .update(chatThreads)
    .set({ trashed: false, trashedAt: null })
    .where(editableThread(scope, id, { trashed: true }))
    .returning(summary)
  if (!thread) return refuseThread(scope, id, { trashed: true })
  return thread
}
