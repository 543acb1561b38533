import { and, desc, isNotNull, sql, type SQL } from "drizzle-orm"
import * as v from "valibot"
import { chatThreads } from "#db/schema/chat.ts"
import { requirePlace, writeCursor } from "#server/cursor.ts"
import { Conflict, NotFound } from "#server/errors.ts"
import type { Scope } from "#server/scope.ts"
import { requireEditor, requireMember } from "#server/spaces/access.ts"
import {
  editableThread,
  ownTrashedThreads,
  readableThread,
  requireEditableThread,
  threadsIn,
} from "./access.ts"
import {
  ThreadId,
  titleOf,
  type CreateThread,
  type PageQuery,
  type RenameThread,
  type SetPeopleOnly,
  type ThreadPage,
  type ThreadsQuery,
  type ThreadSummary,
} from "./contract.ts"

/**
 * The viewer's own conversations, or those in a space, the most recently used first, in the order
 * of `liveThreads`. Throws NotFound for a space that the viewer is not a member of.
 */
export async function listThreads(
  scope: Scope<"db" | "viewer">,
  { spaceId, ...page }: ThreadsQuery = { limit: 50, cursor: undefined },
): Promise<ThreadPage> {
  if (spaceId !== undefined) await requireMember(scope, spaceId)
  return listAmong(threadsIn(scope, spaceId), scope, page)
}

/** The conversations in the viewer's trash, in the same order. */
export function listTrashedThreads(scope: Scope<"db" | "viewer">, page: PageQuery): Promise<ThreadPage> {
  return listAmong(ownTrashedThreads(scope), scope, page)
}

async function listAmong(
  place: SQL | undefined,
  { db }: Scope<"db">,
  { cursor, limit }: Pick<ThreadsQuery, "cursor" | "limit">,
): Promise<ThreadPage> {
  const after = requirePlace(Cursor, cursor)
  const threads = await db
    .select(summary)
    .from(chatThreads)
    .where(
      and(
        place,
        after && sql`(${chatThreads.lastMessageAt}, ${chatThreads._id}) < (${after[0]}, ${after[1]})`,
      ),
    )
    .orderBy(desc(chatThreads.lastMessageAt), desc(chatThreads._id))
    .limit(limit + 1)
  const page = threads.slice(0, limit)
  const last = page.at(-1)
  return {
    threads: page,
    nextCursor:
      threads.length > limit && last ? writeCursor([last.lastMessageAt, last._id] satisfies Cursor) : null,
  }
}

/** Throws NotFound. */
export async function findThread(scope: Scope<"db" | "viewer">, id: string): Promise<ThreadSummary> {
  const [thread] = await scope.db.select(summary).from(chatThreads).where(readableThread(scope, id))
  if (!thread) throw new NotFound("conversation")
  return thread
}

/**
 * Personal, or in a space. Throws `NotFound` for a space that the viewer is not a member of, and
 * `Forbidden` for one in which they may only read.
 */
export function createThread(scope: Scope<"db" | "viewer">, thread: CreateThread): Promise<ThreadSummary> {
  const { spaceId } = thread
  if (spaceId === undefined) return insertThread(scope, thread)
  return scope.db.transaction(async (tx) => {
    const inside = { ...scope, db: tx }
    await requireEditor(inside, spaceId)
    return insertThread(inside, thread)
  })
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

/** Throws NotFound, and Forbidden for a conversation that the viewer may only read. */
export async function renameThread(
  scope: Scope<"db" | "viewer">,
  id: string,
  { title }: RenameThread,
): Promise<ThreadSummary> {
  const [thread] = await scope.db
    .update(chatThreads)
    .set({ title, titleSource: "user" })
    .where(editableThread(scope, id))
    .returning(summary)
  if (!thread) return refuseThread(scope, id)
  return thread
}

/**
 * Whether a conversation of a space is for people only. Throws as `renameThread` does, and Conflict
 * for a personal one.
 */
export async function setPeopleOnly(
  scope: Scope<"db" | "viewer">,
  id: string,
  { peopleOnly }: SetPeopleOnly,
): Promise<ThreadSummary> {
  const [thread] = await scope.db
    .update(chatThreads)
    .set({ peopleOnly })
    .where(and(editableThread(scope, id), isNotNull(chatThreads.spaceId)))
    .returning(summary)
  if (thread) return thread
  await requireEditableThread(scope, id)
  throw new Conflict("conversation-personal")
}

/** Says why a conversation was not changed: see `requireEditableThread`. */
export async function refuseThread(
  scope: Scope<"db" | "viewer">,
  id: string,
  where: { trashed: boolean } = { trashed: false },
): Promise<never> {
  await requireEditableThread(scope, id, where)
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

const Cursor = v.tuple([v.pipe(v.number(), v.safeInteger(), v.minValue(0)), ThreadId])
type Cursor = v.InferOutput<typeof Cursor>
