import { and, desc, sql } from "drizzle-orm"
import * as v from "valibot"
import { chatThreads } from "#db/schema/chat.ts"
import { NotFound } from "../errors.ts"
import type { Scope } from "../scope.ts"
import { ownThread, ownThreads } from "./access.ts"
import {
  ThreadId,
  titleOf,
  type CreateThread,
  type PageQuery,
  type RenameThread,
  type ThreadPage,
  type ThreadSummary,
} from "./contract.ts"

/** The viewer's conversations, the last used first. */
export async function listThreads(
  scope: Scope<"db" | "viewer">,
  { cursor, limit }: PageQuery = { limit: 50, cursor: undefined },
): Promise<ThreadPage> {
  const after = readCursor(cursor)
  const threads = await scope.db
    .select(summary)
    .from(chatThreads)
    .where(
      and(
        ownThreads(scope),
        after &&
          sql`(${chatThreads.lastMessageAt}, ${chatThreads._id}) < (${after.lastMessageAt}, ${after.id})`,
      ),
    )
    .orderBy(desc(chatThreads.lastMessageAt), desc(chatThreads._id))
    .limit(limit + 1)
  const page = threads.slice(0, limit)
  const last = page.at(-1)
  return {
    threads: page,
    nextCursor: threads.length > limit && last ? `${last.lastMessageAt}.${last._id}` : null,
  }
}

/** Throws NotFound. */
export async function findThread(scope: Scope<"db" | "viewer">, id: string): Promise<ThreadSummary> {
  const [thread] = await scope.db.select(summary).from(chatThreads).where(ownThread(scope, id))
  if (!thread) throw new NotFound("conversation")
  return thread
}

export async function createThread(
  { db, viewer }: Scope<"db" | "viewer">,
  { title, question = "" }: CreateThread,
): Promise<ThreadSummary> {
  const [thread] = await db
    .insert(chatThreads)
    .values({
      userId: viewer.user._id,
      title: title ?? titleOf(question),
      titleSource: title === undefined ? "question" : "user",
      lastMessageAt: Date.now(),
    })
    .returning(summary)
  if (!thread) throw new Error("The new conversation did not come back from the database.")
  return thread
}

/** Throws NotFound. */
export async function renameThread(
  scope: Scope<"db" | "viewer">,
  id: string,
  { title }: RenameThread,
): Promise<ThreadSummary> {
  const [thread] = await scope.db
    .update(chatThreads)
    .set({ title, titleSource: "user" })
    .where(ownThread(scope, id))
    .returning(summary)
  if (!thread) throw new NotFound("conversation")
  return thread
}

/** What a list shows of a conversation: `ThreadSummary`. */
export const summary = {
  _id: chatThreads._id,
  _creationTime: chatThreads._creationTime,
  title: chatThreads.title,
  lastMessageAt: chatThreads.lastMessageAt,
}

function readCursor(cursor: string | undefined) {
  const [, time, id] = /^(\d{1,15})\.(.+)$/.exec(cursor ?? "") ?? []
  return time && v.is(ThreadId, id) ? { lastMessageAt: Number(time), id } : undefined
}
