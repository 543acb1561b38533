import { and, asc, desc, eq, exists, gt, lt, notExists, sql, type SQL } from "drizzle-orm"
import * as v from "valibot"
import type { Transaction } from "#db/client.ts"
import { chatMessages, chatReplacedMessages, chatShares, chatThreads, chatTurns } from "#db/schema/chat.ts"
import { notifications } from "#db/schema/notifications.ts"
import { NotFound } from "#server/errors.ts"
import { eachRow } from "#server/each-row.ts"
import type { Scope } from "#server/scope.ts"
import { mayRead } from "#server/spaces/access.ts"
import { MessageId, type PageQuery } from "./contract.ts"
import type { ReplacedEntry, ReplacedPage } from "./read-operations.ts"
import { LARGE_ROWS } from "./messages.ts"
import { findThread } from "./threads.ts"
import type { NewMessage, NewReply } from "./turn-rows.ts"

/**
 * Removes a message and everything after it from its conversation and keeps it as an earlier
 * version. Resolves with the id for the message that replaces it. Throws NotFound and then changes
 * nothing.
 */
export async function replaceFrom(tx: Transaction, threadId: string, questionId: string): Promise<string> {
  if (!v.is(MessageId, questionId)) throw new NotFound("question")
  const [next] = await tx.execute<{ _id: string }>(sql`
    with old as (
      select _id from ${chatMessages}
      where _id = ${questionId} and thread_id = ${threadId} and role = 'user'
    ), next as (
      select uuidv7() as _id from old
    ), cut as (
      delete from ${chatMessages} using old
      where ${chatMessages.threadId} = ${threadId} and ${chatMessages._id} >= old._id
      returning ${chatMessages}.*
    ), taken_over as (
      update ${chatReplacedMessages} set replaced_by = next._id from next
      where thread_id = ${threadId} and replaced_by in (select _id from cut)
    ), kept as (
      ${keepCut(sql`(select _id from next)`)}
    )
    select _id from next`)
  if (!next) throw new NotFound("question")
  return next._id
}

/**
 * Removes a reply and everything after it, for another reply in its place, and keeps
 * it as that reply's earlier version. A reply without text is no version: it is kept only while a
 * public link shows a copy of the conversation with it.
 */
export async function replaceReply(tx: Transaction, threadId: string, answerId: string): Promise<NewReply> {
  const [next] = await tx.execute<{ _id: string; edited: boolean }>(sql`
    with cut as (
      delete from ${chatMessages}
      where thread_id = ${threadId} and _id >= ${answerId}
      returning ${chatMessages}.*
    ), next as materialized (
      select uuidv7() as _id, count(*) > 1 or coalesce(bool_or(content <> ''), false) as keeps,
        coalesce(bool_or(edited), false) as had_versions
      from cut
    ), taken_over as (
      update ${chatReplacedMessages} set replaced_by = next._id from next
      where thread_id = ${threadId} and replaced_by in (select _id from cut)
    ), kept as (
      ${keepCut(sql`case when (select keeps from next) then (select _id from next) else cut._id end`)}
      where (select keeps from next) or exists (
        select from ${chatShares}
        where ${chatShares.threadId} = cut.thread_id and cut._id = any(${chatShares.messageIds})
      )
    )
    select _id, keeps or had_versions as edited from next`)
  if (!next) throw new Error("The database returned no id for the reply.")
  return next
}

/**
 * Changes a message in its place, and keeps what it was as its earlier version, for links that show
 * it too. Those whom it no longer mentions are not notified of it.
 */
export async function rewriteMessage(
  tx: Transaction,
  {
    _id,
    requestId,
    text,
    attachments,
    mentioned,
  }: Omit<NewMessage, "_id"> & { _id: string; requestId: string },
): Promise<void> {
  const people = mentioned?.people.map(({ userId }) => userId) ?? []
  await tx.execute(sql`
    with earlier as (
      insert into ${chatReplacedMessages}
        (_creation_time, user_id, thread_id, replaced_by, replaced_at, role, content, attachments)
      select _creation_time, user_id, thread_id, _id, ${Date.now()}::bigint, role, content, attachments
      from ${chatMessages} where _id = ${_id}
      returning _id, thread_id
    ), shown as (
      update ${chatShares} set message_ids = array_replace(message_ids, ${_id}::uuid, earlier._id)
      from earlier where ${chatShares.threadId} = earlier.thread_id and ${_id} = any(${chatShares.messageIds})
    ), unmentioned as (
      delete from ${notifications}
      where message_id = ${_id} and user_id <> all(${`{${people.join()}}`}::uuid[])
    )
    update ${chatMessages} set request_id = ${requestId}, content = ${text}, edited = true,
      attachments = ${attachments.length > 0 ? JSON.stringify(attachments) : null}::jsonb,
      mentions = ${mentioned ? JSON.stringify(mentioned.names) : null}::jsonb
    where _id = ${_id}`)
}

/** Deletes the replies that were kept only for links that are gone. */
export async function forgetReplies(tx: Transaction, threadId: string): Promise<void> {
  const shown = tx
    .select({ one: sql`1` })
    .from(chatShares)
    .where(
      and(
        eq(chatShares.threadId, threadId),
        sql`${chatReplacedMessages._id} = any(${chatShares.messageIds})`,
      ),
    )
  await tx
    .delete(chatReplacedMessages)
    .where(
      and(
        eq(chatReplacedMessages.threadId, threadId),
        eq(chatReplacedMessages.replacedBy, chatReplacedMessages._id),
        notExists(shown),
      ),
    )
}

/** Keeps the messages that the same statement deletes as `cut`. */
function keepCut(replacedBy: SQL): SQL {
  return sql`insert into ${chatReplacedMessages}
        (_id, _creation_time, user_id, thread_id, replaced_by, replaced_at, role, content, attachments, turn)
      select cut._id, cut._creation_time, cut.user_id, cut.thread_id, ${replacedBy}, ${Date.now()}::bigint,
        cut.role, cut.content, cut.attachments,
        case when turn._id is not null then jsonb_build_object(
          'status', turn.status, 'model', turn.model, 'parts', turn.parts, 'failure', turn.failure,
          'inputTokens', turn.input_tokens, 'outputTokens', turn.output_tokens,
          'finishReason', turn.finish_reason) end
      from cut left join ${chatTurns} as turn on turn._id = cut._id`
}

/**
 * The earlier versions of an edited message or a reply, the latest messages or those before the
 * cursor. Throws NotFound.
 */
export async function listReplaced(
  scope: Scope<"db" | "viewer">,
  threadId: string,
  messageId: string,
  page: PageQuery = { limit: 50, cursor: undefined },
): Promise<ReplacedPage> {
  await findThread(scope, threadId)
  if (!v.is(MessageId, messageId)) throw new NotFound("question")
  const { cursor, limit } = page
  const rows = await scope.db
    .select(entry)
    .from(chatReplacedMessages)
    .where(
      and(
        replacedIn(scope, threadId),
        eq(chatReplacedMessages.replacedBy, messageId),
        v.is(MessageId, cursor) ? lt(chatReplacedMessages._id, cursor) : undefined,
      ),
    )
    .orderBy(desc(chatReplacedMessages._id))
    .limit(limit + 1)
  if (rows.length === 0 && !cursor) throw new NotFound("earlier-version")
  const entries: ReplacedEntry[] = rows.slice(0, limit).toReversed()
  return { entries, earlierCursor: rows.length > limit ? (entries[0]?._id ?? null) : null }
}

/**
 * All earlier versions in a conversation, which may be in the trash, oldest first: what one edit
 * removed, then what the next one did.
 */
export async function* eachReplaced(
  scope: Scope<"db" | "viewer">,
  threadId: string,
): AsyncGenerator<ReplacedEntry> {
  const edits = await scope.db
    .selectDistinct({ replacedAt: chatReplacedMessages.replacedAt })
    .from(chatReplacedMessages)
    .where(replacedIn(scope, threadId))
    .orderBy(asc(chatReplacedMessages.replacedAt))
  for (const { replacedAt } of edits) {
    const ofEdit = and(replacedIn(scope, threadId), eq(chatReplacedMessages.replacedAt, replacedAt))
    yield* eachRow(
      (after, most) =>
        scope.db
          .select(entry)
          .from(chatReplacedMessages)
          .where(and(ofEdit, after === undefined ? undefined : gt(chatReplacedMessages._id, after)))
          .orderBy(asc(chatReplacedMessages._id))
          .limit(most),
      LARGE_ROWS,
    )
  }
}

/** The earlier versions in a conversation, if the viewer may read it. */
function replacedIn(scope: Scope<"db" | "viewer">, threadId: string): SQL | undefined {
  const thread = scope.db
    .select({ _id: chatThreads._id })
    .from(chatThreads)
    .where(and(eq(chatThreads._id, threadId), mayRead(scope, chatThreads)))
  return and(exists(thread), eq(chatReplacedMessages.threadId, threadId))
}

const entry = {
  _id: chatReplacedMessages._id,
  _creationTime: chatReplacedMessages._creationTime,
  replacedAt: chatReplacedMessages.replacedAt,
  role: chatReplacedMessages.role,
  content: chatReplacedMessages.content,
  attachments: chatReplacedMessages.attachments,
  userId: chatReplacedMessages.userId,
  turn: chatReplacedMessages.turn,
}
