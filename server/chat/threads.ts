import { and, isNotNull } from "drizzle-orm"
import { chatThreads } from "#db/schema/chat.ts"
import { BadRequest, Conflict, NotFound, requireRow } from "#server/errors.ts"
import type { Scope } from "#server/scope.ts"
import { inSpace } from "#server/spaces/access.ts"
import { editableThread, readableThread, requireEditableThread } from "./access.ts"
import { titleOf, type ChangeThread, type CreateThread, type ThreadSummary } from "./contract.ts"

/** Throws NotFound. */
export async function findThread(scope: Scope<"db" | "viewer">, id: string): Promise<ThreadSummary> {
  return requireRow(
    scope.db.select(summary).from(chatThreads).where(readableThread(scope, id)),
    "conversation",
  )
}

/**
 * Personal, or in a space. Throws `NotFound` for a space that the viewer is not a member of, and
 * `Forbidden` for one in which they may only read.
 */
export function createThread(scope: Scope<"db" | "viewer">, thread: CreateThread): Promise<ThreadSummary> {
  const { spaceId } = thread
  if (spaceId === undefined) return insertThread(scope, thread)
  return inSpace(scope, spaceId, (db) => insertThread({ ...scope, db }, thread))
}

async function insertThread(
  { db, viewer }: Scope<"db" | "viewer">,
  { title, question = "", spaceId }: CreateThread,
): Promise<ThreadSummary> {
  const [thread] = await db
    .insert(chatThreads)
    .values({
      userId: viewer.user._id,
      title: title ?? titleOf(question),
      titleSource: title === undefined ? "question" : "user",
      lastMessageAt: Date.now(),
      spaceId: spaceId ?? null,
    })
    .returning(summary)
  if (!thread) throw new Error("The database returned no row for the new conversation.")
  return thread
}

/**
 * Changes the title of a conversation, in a space also whether it is for people only, or both.
 * Throws BadRequest without either, NotFound, Forbidden for a conversation that the viewer may only
 * read, and Conflict for a personal one that would be for people only, or not.
 */
export async function changeThread(
  scope: Scope<"db" | "viewer">,
  id: string,
  { title, peopleOnly }: ChangeThread,
): Promise<ThreadSummary> {
  if (title === undefined && peopleOnly === undefined) throw new BadRequest("title-missing")
  const changeable = peopleOnly === undefined ? undefined : isNotNull(chatThreads.spaceId)
  const [thread] = await scope.db
    .update(chatThreads)
    .set({ peopleOnly, ...(title !== undefined && { title, titleSource: "user" }) })
    .where(and(editableThread(scope, id), changeable))
    .returning(summary)
  if (thread) return thread
  if (peopleOnly === undefined) return refuseThread(scope, id)
  await requireEditableThread(scope, id)
  throw new Conflict("conversation-personal")
}

/** Says why a conversation was not changed: see `requireEditableThread`. */
export async function refuseThread(
  scope: Scope<"db" | "viewer">,
  id: string,
  sought?: Parameters<typeof requireEditableThread>[2],
): Promise<never> {
  await requireEditableThread(scope, id, sought)
  throw new NotFound("conversation")
}

/** The columns of a `ThreadSummary`. */
export const summary = {
  _id: chatThreads._id,
  _creationTime: chatThreads._creationTime,
  title: chatThreads.title,
  lastMessageAt: chatThreads.lastMessageAt,
  spaceId: chatThreads.spaceId,
  peopleOnly: chatThreads.peopleOnly,
  messageCount: chatThreads.messageCount,
}
