import { and, eq, lt } from "drizzle-orm"
import type { Database } from "#db/client.ts"
import { chatThreads } from "#db/schema/chat.ts"
import { NotFound } from "#server/errors.ts"
import { startRecurring, type Recurring } from "#server/recurring.ts"
import type { Scope } from "#server/scope.ts"
import { ownThread, ownTrashedThread } from "./access.ts"
import type { ThreadSummary } from "./contract.ts"
import { requestStop, type StopScope } from "./stop.ts"
import { summary } from "./threads.ts"

/** Milliseconds between two checks. */
const INTERVAL = 10 * 60 * 1000

/** Milliseconds for which a conversation can be restored. */
export const TRASH_LIFETIME = 24 * 60 * 60 * 1000

/** Removes it from every list and URL, and stops its reply in progress. Throws NotFound. */
export async function trashThread(scope: StopScope, id: string): Promise<void> {
  const [trashed] = await scope.db
    .update(chatThreads)
    .set({ trashed: true, trashedAt: Date.now() })
    .where(ownThread(scope, id))
    .returning({ _id: chatThreads._id })
  if (!trashed) throw new NotFound("conversation")
  await requestStop(scope, id)
}

/** Puts it back, with all its messages. Throws NotFound if it is not in the trash. */
export async function restoreThread(scope: Scope<"db" | "viewer">, id: string): Promise<ThreadSummary> {
  const [thread] = await scope.db
    .update(chatThreads)
    .set({ trashed: false, trashedAt: null })
    .where(ownTrashedThread(scope, id))
    .returning(summary)
  if (!thread) throw new NotFound("conversation")
  return thread
}

/**
 * Every ten minutes, permanently deletes conversations that have been in the trash for a day. Any
 * number of processes may run it concurrently.
 */
export function startPurgingThreads({ db, log }: Scope<"db" | "log">): Recurring {
  return startRecurring(
    () =>
      purgeThreads(db).catch((error: unknown) => {
        log.warn({ err: error }, "could not purge trashed conversations; will retry")
      }),
    INTERVAL,
  )
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
