import { and, asc, eq, ne, sql } from "drizzle-orm"
import type { Database, Transaction } from "#db/client.ts"
import { chatWaiting, type ChatWaiting } from "#db/schema/chat.ts"
import { NotFound } from "#server/errors.ts"
import type { Scope } from "#server/scope.ts"
import { mayRead, requireEditor } from "#server/spaces/access.ts"
import * as v from "valibot"
import { MessageId } from "./contract.ts"

/**
 * Adds a message to those that wait in its conversation, which the transaction has locked: the order
 * is that of the commits. A message sent twice waits once, with what it was sent with last, and one
 * that was withdrawn waits again, as the last.
 */
export async function addWaiting(
  tx: Transaction,
  message: Pick<ChatWaiting, "userId" | "threadId" | "spaceKey" | "requestId" | "content" | "attachments">,
): Promise<{ _id: string; ahead: number }> {
  const { threadId, requestId } = message
  await tx
    .delete(chatWaiting)
    .where(
      and(
        eq(chatWaiting.threadId, threadId),
        eq(chatWaiting.requestId, requestId),
        ne(chatWaiting.state, "waiting"),
      ),
    )
  const place = sql`(select coalesce(max(place), 0) + 1 from ${chatWaiting} where thread_id = ${threadId})`
  await tx
    .insert(chatWaiting)
    .values({ ...message, place })
    .onConflictDoUpdate({
      target: [chatWaiting.threadId, chatWaiting.requestId],
      set: { content: sql`excluded.content`, attachments: sql`excluded.attachments` },
      setWhere: sql`(${chatWaiting.content}, ${chatWaiting.attachments}) is distinct from (excluded.content, excluded.attachments)`,
    })
  const rows = await tx
    .select({ _id: chatWaiting._id, requestId: chatWaiting.requestId, state: chatWaiting.state })
    .from(chatWaiting)
    .where(eq(chatWaiting.threadId, threadId))
    .orderBy(asc(chatWaiting.place))
  const at = rows.findIndex((row) => row.requestId === requestId)
  const added = rows[at]
  if (!added) throw new Error("The database returned no row for the waiting message.")
  return { _id: added._id, ahead: rows.slice(0, at).filter(({ state }) => state === "waiting").length }
}

/**
 * Withdraws a message. Its author's is deleted. That of somebody else stays for them, as
 * withdrawn, if the viewer may write in the space. Throws NotFound, also for a message whose reply
 * has begun, and Forbidden.
 */
export async function withdrawMessage({ db, viewer }: Scope<"db" | "viewer">, id: string): Promise<void> {
  if (!v.is(MessageId, id)) throw new NotFound("waiting-message")
  await db.transaction(async (tx) => {
    const [message] = await tx
      .select({ userId: chatWaiting.userId, spaceKey: chatWaiting.spaceKey, state: chatWaiting.state })
      .from(chatWaiting)
      .where(and(mayRead({ db: tx, viewer }, chatWaiting), eq(chatWaiting._id, id)))
    if (!message) throw new NotFound("waiting-message")
    const isOwn = message.userId === viewer.user._id
    if (!isOwn) await requireEditor({ db: tx, viewer }, message.spaceKey)
    const which = eq(chatWaiting._id, id)
    const changed =
      isOwn || message.state === "passed"
        ? await tx.delete(chatWaiting).where(which).returning({ _id: chatWaiting._id })
        : await endWaiting(tx, id, "withdrawn")
    if (changed.length === 0 && message.state === "waiting") throw new NotFound("waiting-message")
  })
}

/** Does nothing to a message whose reply has begun, or that is withdrawn already. */
export function endWaiting(db: Database | Transaction, id: string, state: "withdrawn" | "passed") {
  return db
    .update(chatWaiting)
    .set({ state, endedAt: Date.now() })
    .where(and(eq(chatWaiting._id, id), eq(chatWaiting.state, "waiting")))
    .returning({ _id: chatWaiting._id })
}
