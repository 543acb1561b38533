import { and, eq, ne, sql, type SQL } from "drizzle-orm"
import type { Database } from "#db/client.ts"
import {
  chatMessages,
  chatReads,
  chatReplacedMessages,
  chatShares,
  chatThreads,
  chatTurns,
  chatWaiting,
} from "#db/schema/chat.ts"
import { PERSONAL, spaceMembers } from "#db/schema/spaces.ts"
import { Conflict } from "#server/errors.ts"
import type { Scope } from "#server/scope.ts"
import { requireEditor, requireMember } from "#server/spaces/access.ts"
import { editableThread, readableThread } from "./access.ts"
import type { MoveThread, ThreadSummary } from "./contract.ts"
import { bringAttachments, hideFindings } from "./move-contents.ts"
import { forgetReplies } from "./replaced.ts"
import { refuseThread, summary } from "./threads.ts"

type Moving = Scope<"config" | "db" | "viewer">

/**
 * Moves a conversation into a space, or without one to what is personal to the viewer. Public links
 * to it end. Throws `NotFound` for it and for the space, `Forbidden` if the viewer may only read in
 * one of the places, `Conflict` while a reply is being generated in it, and for a conversation in
 * which others have written that would become personal, and as `copyFiles` does for its
 * attachments.
 */
export function moveThread(
  scope: Moving,
  id: string,
  { spaceId: to, attachments }: MoveThread,
): Promise<ThreadSummary> {
  return scope.db.transaction(async (tx) => {
    const inside = { ...scope, db: tx }
    const spaceId = await requireDestination(inside, to)
    // Locked in the mode that waits for messages that are being added, and makes the next wait.
    const [thread] = await tx
      .select(summary)
      .from(chatThreads)
      .where(editableThread(inside, id))
      .for("update")
    if (!thread) return refuseThread(inside, id)
    if (thread.spaceId === spaceId) return thread
    await refuseWhileReplying(inside, id)
    await refuseWhileWaiting(inside, id)
    const userId = scope.viewer.user._id
    await tx.delete(chatShares).where(eq(chatShares.threadId, id))
    await forgetReplies(tx, id)
    if (spaceId === null) await refuseOthers(inside, id)
    await bringAttachments(inside, id, spaceId, attachments)
    if (spaceId !== null) await hideFindings(inside, id)
    const [moved] = await tx
      .update(chatThreads)
      .set({ spaceId, ...(spaceId === null && { userId, peopleOnly: false }) })
      .where(eq(chatThreads._id, id))
      .returning(summary)
    if (!moved) throw new Error("The database returned no row for the moved conversation.")
    await tx
      .update(chatReads)
      .set({ spaceKey: spaceId ?? PERSONAL })
      .where(eq(chatReads.threadId, id))
    if (spaceId !== null) await noteRead(inside, moved, spaceId)
    return moved
  })
}

/** What was personal is not new to the person who moves it into a space. */
async function noteRead({ db, viewer }: Moving, thread: ThreadSummary, spaceKey: string): Promise<void> {
  const { _id: threadId, messageCount } = thread
  await db
    .insert(chatReads)
    .values({ userId: viewer.user._id, threadId, spaceKey, messageCount, readAt: Date.now() })
    .onConflictDoNothing()
}

/**
 * Copies a conversation that the viewer may see, without earlier versions of its messages and
 * without its links. In a space, messages keep their authors. What is personal has one: what others
 * wrote begins with their names there. Throws as `moveThread` does, except for what others have
 * written.
 */
export function copyThread(
  scope: Moving,
  id: string,
  { spaceId: to, attachments }: MoveThread,
): Promise<ThreadSummary> {
  return scope.db.transaction(async (tx) => {
    const inside = { ...scope, db: tx }
    const spaceId = await requireDestination(inside, to)
    const [thread] = await tx
      .select({ ...summary, titleSource: chatThreads.titleSource })
      .from(chatThreads)
      .where(readableThread(inside, id))
      .for("share")
    if (!thread) return refuseThread(inside, id)
    // It is committed before a removal, or not at all.
    if (thread.spaceId !== null) await requireMember(inside, thread.spaceId)
    await refuseWhileReplying(inside, id)
    const { title, titleSource } = thread
    const [copy] = await tx
      .insert(chatThreads)
      .values({
        userId: scope.viewer.user._id,
        title,
        titleSource,
        lastMessageAt: Date.now(),
        spaceId,
        peopleOnly: spaceId !== null && thread.peopleOnly,
      })
      .returning(summary)
    if (!copy) throw new Error("The database returned no row for the copied conversation.")
    await copyMessages(inside, thread, copy)
    await bringAttachments(inside, copy._id, spaceId, attachments)
    if (spaceId !== null && spaceId !== thread.spaceId) await hideFindings(inside, copy._id)
    return copy
  })
}

/** Throws as `requireEditor` does. */
async function requireDestination(scope: Moving, spaceId: string | undefined): Promise<string | null> {
  if (spaceId === undefined) return null
  await requireEditor(scope, spaceId)
  return spaceId.toLowerCase()
}

/** The process that generates it has decided who may follow the reply. */
async function refuseWhileReplying({ db }: Scope<"db">, threadId: string): Promise<void> {
  const running = and(eq(chatTurns.threadId, threadId), eq(chatTurns.status, "running"))
  if ((await db.$count(chatTurns, running)) > 0) throw new Conflict("reply-running")
}

/** A reply to what waits begins at any moment. What no longer waits is forgotten. */
async function refuseWhileWaiting({ db }: Scope<"db">, threadId: string): Promise<void> {
  const here = eq(chatWaiting.threadId, threadId)
  if ((await db.$count(chatWaiting, and(here, eq(chatWaiting.state, "waiting")))) > 0)
    throw new Conflict("reply-running")
  await db.delete(chatWaiting).where(here)
}

/** A personal conversation belongs to one person: nobody may take what others wrote as their own. */
async function refuseOthers({ db, viewer }: Scope<"db" | "viewer">, threadId: string): Promise<void> {
  for (const table of [chatMessages, chatReplacedMessages]) {
    const ofOthers = and(eq(table.threadId, threadId), ne(table.userId, viewer.user._id))
    if ((await db.$count(table, ofOthers)) > 0) throw new Conflict("conversation-of-several")
  }
}

/** Ids of one statement are in the order in which it asks for them. */
async function copyMessages(
  { db, viewer }: { db: Database } & Scope<"viewer">,
  from: Pick<ThreadSummary, "_id" | "spaceId">,
  to: Pick<ThreadSummary, "_id" | "spaceId">,
): Promise<void> {
  const viewerId = viewer.user._id
  const author = (userId: SQL) => (to.spaceId === null ? sql`${viewerId}::uuid` : userId)
  const content =
    to.spaceId === null
      ? sql`case when old.role = 'user' and old.user_id <> ${viewerId}
      then coalesce(${nameOfMember(from.spaceId)}, 'Former member') || E':\\n\\n' || old.content
      else old.content end`
      : sql`old.content`
  await db.execute(sql`
    with pair as materialized (
      select _id as old, uuidv7() as new
      from (select _id from ${chatMessages} where thread_id = ${from._id} order by _id) as ordered
    ), copied as (
      insert into ${chatMessages} (_id, _creation_time, user_id, thread_id, role, content, attachments, request_id)
      select pair.new, old._creation_time, ${author(sql`old.user_id`)}, ${to._id}::uuid, old.role, ${content}, old.attachments, old.request_id
      from pair join ${chatMessages} as old on old._id = pair.old
    )
    insert into ${chatTurns} (_id, _creation_time, user_id, thread_id, question_id, request_id, status, model, parts,
      input_tokens, output_tokens, finish_reason, failure, ended_at)
    select reply.new, turn._creation_time, ${author(sql`turn.user_id`)}, ${to._id}::uuid, question.new, turn.request_id,
      turn.status, turn.model, turn.parts, turn.input_tokens, turn.output_tokens, turn.finish_reason, turn.failure,
      turn.ended_at
    from ${chatTurns} as turn
      join pair as reply on reply.old = turn._id
      join pair as question on question.old = turn.question_id`)
}

/** As the other members see it. */
function nameOfMember(spaceId: string | null): SQL {
  return sql`(select coalesce(member_name, member_email) from ${spaceMembers}
    where space_id = ${spaceId} and ${spaceMembers.userId} = old.user_id)`
}
