import { and, asc, desc, eq } from "drizzle-orm"
import * as v from "valibot"
import { chatMessages, chatShares, chatThreads, chatTurns, type ChatShare } from "#db/schema/chat.ts"
import { Conflict, NotFound } from "#server/errors.ts"
import { hashLinkPassword } from "#server/links/password.ts"
import { createLinkToken } from "#server/links/token.ts"
import type { Scope } from "#server/scope.ts"
import { mayRead } from "#server/spaces/access.ts"
import {
  editableThread,
  editableThreadShares,
  readableMessages,
  readableThreadShares,
  requireEditableThread,
} from "./access.ts"
import { ThreadShareId, type NewThreadShare, type ShareThread, type ThreadShareSummary } from "./contract.ts"
import { forgetReplies } from "./replaced.ts"
import { findThread } from "./threads.ts"

/** Links to one conversation. */
const MOST_SHARES = 100

/**
 * Creates a public link to a conversation. Its URL is in the response and nowhere else. Throws
 * `NotFound`, `Forbidden` for a conversation that the viewer may only read, and `Conflict` for one
 * link too many.
 */
export async function shareThread(
  scope: Scope<"db" | "config" | "viewer">,
  threadId: string,
  { expiresAt, password, shows }: ShareThread,
): Promise<NewThreadShare> {
  const { token, ...kept } = createLinkToken()
  const passwordHash = password ? await hashLinkPassword(password) : null
  const share = await scope.db.transaction(async (tx) => {
    await requireEditableThread({ ...scope, db: tx }, threadId)
    // Locked, so that concurrent requests count the links one after the other.
    const [thread] = await tx
      .select({ _id: chatThreads._id, title: chatThreads.title })
      .from(chatThreads)
      .where(editableThread(scope, threadId))
      .for("no key update")
    if (!thread) throw new NotFound("conversation")
    if ((await tx.$count(chatShares, eq(chatShares.threadId, thread._id))) >= MOST_SHARES)
      throw new Conflict("too-many-conversation-links", { most: MOST_SHARES })
    const [made] = await tx
      .insert(chatShares)
      .values({
        userId: scope.viewer.user._id,
        threadId: thread._id,
        ...kept,
        expiresAt: expiresAt ?? null,
        passwordHash,
        ...(shows === "copy" && {
          title: thread.title,
          messageIds: await listEnded({ db: tx, viewer: scope.viewer }, thread._id),
        }),
      })
      .returning()
    return made
  })
  if (!share) throw new Error("The database returned no row for the new link.")
  return { share: threadShareSummary(share), url: `${scope.config.origin}/share/chat/${token}` }
}

/** The ids of a conversation's messages, without a reply that is being generated. */
async function listEnded(scope: Scope<"db" | "viewer">, threadId: string): Promise<string[]> {
  const messages = await scope.db
    .select({ _id: chatMessages._id, status: chatTurns.status })
    .from(chatMessages)
    .leftJoin(chatTurns, eq(chatTurns._id, chatMessages._id))
    .where(readableMessages(scope, threadId))
    .orderBy(asc(chatMessages._id))
  return messages.filter(({ status }) => status !== "running").map(({ _id }) => _id)
}

/** The links to a conversation, newest first. Throws `NotFound`. */
export async function listThreadShares(
  scope: Scope<"db" | "viewer">,
  threadId: string,
): Promise<ThreadShareSummary[]> {
  const { _id } = await findThread(scope, threadId)
  const shares = await scope.db
    .select()
    .from(chatShares)
    .where(readableThreadShares(scope, _id))
    .orderBy(desc(chatShares._id))
  return shares.map(threadShareSummary)
}

/**
 * Invalidates the URL, and ends what its visitors follow. Throws `NotFound`, and `Forbidden` for a
 * link to a conversation that the viewer may only read.
 */
export async function revokeThreadShare(scope: Scope<"db" | "viewer">, shareId: string): Promise<void> {
  if (!v.is(ThreadShareId, shareId)) throw new NotFound("link")
  const isRevoked = await scope.db.transaction(async (tx) => {
    const [revoked] = await tx
      .delete(chatShares)
      .where(and(editableThreadShares(scope), eq(chatShares._id, shareId)))
      .returning({ threadId: chatShares.threadId })
    if (revoked) await forgetReplies(tx, revoked.threadId)
    return revoked !== undefined
  })
  if (isRevoked) return
  const [seen] = await scope.db
    .select({ threadId: chatShares.threadId })
    .from(chatShares)
    .where(and(mayRead(scope, chatShares), eq(chatShares._id, shareId)))
  if (seen) await requireEditableThread(scope, seen.threadId)
  throw new NotFound("link")
}

/** A link as its owner sees it: without its hashes, and without what it shows. */
export function threadShareSummary({
  _id,
  _creationTime,
  threadId,
  hint,
  expiresAt,
  passwordHash,
  title,
}: Pick<
  ChatShare,
  "_id" | "_creationTime" | "threadId" | "hint" | "expiresAt" | "passwordHash" | "title"
>): ThreadShareSummary {
  const hasPassword = passwordHash !== null
  return {
    _id,
    _creationTime,
    threadId,
    hint,
    expiresAt,
    hasPassword,
    shows: title === null ? "live" : "copy",
  }
}
