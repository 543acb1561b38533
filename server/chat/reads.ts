import { sql } from "drizzle-orm"
import { chatReads, chatThreads } from "#db/schema/chat.ts"
import type { Scope } from "#server/scope.ts"
import { readableThread } from "./access.ts"
import { findThread } from "./threads.ts"

/**
 * Stores that the viewer has seen all messages of a conversation. Does nothing in a personal one,
 * which nobody else writes in. Throws NotFound.
 */
export async function markThreadRead(scope: Scope<"db" | "viewer">, threadId: string): Promise<void> {
  const { spaceId } = await findThread(scope, threadId)
  if (spaceId === null) return
  // The lock waits for a move of the conversation.
  await scope.db.execute(sql`
    insert into ${chatReads} (user_id, thread_id, space_key, message_count, read_at)
    select ${scope.viewer.user._id}::uuid, _id, space_key, message_count, ${Date.now()}::bigint
    from ${chatThreads} where ${readableThread(scope, threadId)} and space_id is not null
    for key share
    on conflict (user_id, thread_id) do update set
      message_count = excluded.message_count, read_at = excluded.read_at, space_key = excluded.space_key
    where chat_reads.message_count < excluded.message_count`)
}
