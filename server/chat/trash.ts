import { and, eq, lt } from "drizzle-orm"
import type { Database } from "#db/client.ts"
import { chatThreads, chatWaiting } from "#db/schema/chat.ts"
import { startRecurring, type Recurring } from "#server/recurring.ts"
import type { Scope } from "#server/scope.ts"
import { editableThread, editableTrashedThread } from "./access.ts"
import type { ThreadSummary } from "./contract.ts"
import { stopTurn, type StopScope } from "./stop.ts"
import { refuseThread, summary } from "./threads.ts"
import { forgetEndedWaiting } from "./waiting.ts"

/** Milliseconds between two checks. */
const INTERVAL = 10 * 60 * 1000

/** Milliseconds for which a conversation can be restored. */
export const TRASH_LIFETIME = 24 * 60 * 60 * 1000

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
    .where(editableTrashedThread(scope, id))
    .returning(summary)
  if (!thread) return refuseThread(scope, id, { trashed: true })
  return thread
}

/**
 * Every ten minutes, permanently deletes conversations that have been in the trash for a day, and
 * what is over of the messages that waited. Any number of processes may run it concurrently.
 */
export function startPurgingThreads({ db, log }: Scope<"db" | "log">): Recurring {
  return startRecurring(async () => {
    try {
      await purgeThreads(db)
      await forgetEndedWaiting(db)
    } catch (error) {
      log.warn({ err: error }, "could not purge trashed conversations; will retry")
    }
  }, INTERVAL)
}

/**
 * One conversation at a time: deleting it deletes all its messages, and each of them is written to
 * the log.
 */
export async function purgeThreads(db: Database, now = Date.now()): Promise<void> {
  const isOver = and(eq(chatThreads.trashed, true), lt(chatThreads.trashedAt, now - TRASH_LIFETIME))
  const old = await db.select({ _id: chatThreads._id }).from(chatThreads).where(isOver).limit(1000)
  for (const { _id } of old) await db.delete(chatThreads).where(and(isOver, eq(chatThreads._id, _id)))
}
