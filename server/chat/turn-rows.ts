import { and, eq, sql } from "drizzle-orm"
import { alias } from "drizzle-orm/pg-core"
import * as v from "valibot"
import type { Transaction } from "#db/client.ts"
import {
  chatMessages,
  chatReads,
  chatThreads,
  chatTurns,
  chatWaiting,
  type Attachment,
  type ChatMessage,
  type ChatThread,
  type ChatTurn,
  type ChatWaiting,
} from "#db/schema/chat.ts"
import { spaceMembers } from "#db/schema/spaces.ts"
import { users } from "#db/schema/users.ts"
import { NotFound } from "#server/errors.ts"
import type { Mentioned } from "#server/notifications/mention.ts"
import type { Scope } from "#server/scope.ts"
import { mayEdit } from "#server/spaces/access.ts"
import { SpaceId } from "#server/spaces/place-contract.ts"
import { readableThreads } from "./access.ts"
import { UNTITLED } from "./contract.ts"
import { deadlineOf } from "./deadline.ts"
import { outcome } from "./messages.ts"

export type KnownTurn = Pick<
  ChatTurn,
  "questionId" | "status" | "model" | "parts" | "failure" | "inputTokens" | "outputTokens" | "finishReason"
> & { answerId: string }

/** The state of a conversation when a message arrives. */
export interface ThreadState extends Pick<ChatThread, "title" | "titleSource" | "spaceId"> {
  /** The viewer may write in it; until the transaction ends, their role cannot be lowered. */
  mayEdit: boolean
  /** The message itself, if it was stored before. */
  known: KnownTurn | null
  /** What was stored then, and who sent it. Without a turn, it is a message between people. */
  stored: Pick<ChatMessage, "_id" | "userId" | "content" | "attachments"> | null
  /** Its reply. */
  content: string | null
  running: { _id: string; deadline: number } | null
  /** The first in line of the messages that wait here. */
  next: (Pick<ChatWaiting, "_id" | "requestId"> & Pick<NewMessage, "attachments">) | null
}

interface Sought {
  threadId: string
  question: { requestId: string; spaceId?: string | undefined }
}

/**
 * Locks the viewer's memberships first, as everything does that locks memberships, then their row, so
 * that two processes lock in the same order, and in a mode that lets other rows refer to it. Leaves
 * out conversations that the viewer may not see.
 */
export async function lockThreads(
  scope: Scope<"db" | "viewer">,
  tx: Transaction,
  sought: readonly Sought[],
): Promise<void> {
  const threadIds = sought.map(({ threadId }) => threadId)
  const spaceIds = sought.flatMap(({ question: { spaceId } }) => (v.is(SpaceId, spaceId) ? [spaceId] : []))
  await tx.execute(sql`
    with membership as materialized (
      select from ${spaceMembers} where ${spaceMembers.userId} = ${scope.viewer.user._id} and (
        ${spaceMembers.spaceId} = any(${`{${spaceIds.join()}}`}::uuid[]) or ${spaceMembers.spaceId} in (
          select ${chatThreads.spaceId} from ${chatThreads}
          where ${chatThreads._id} = any(${`{${threadIds.join()}}`}::uuid[])
        )
      )
      order by ${spaceMembers.spaceId} for key share
    ), viewer as materialized (
      select ${users._id} from ${users}
      -- Counting reads, and so locks, all memberships before the row.
      where ${users._id} = ${scope.viewer.user._id} and (select count(*) from membership) >= 0
      for no key update
    )
    select from ${chatThreads}, viewer
    where ${readableThreads(scope)} and ${chatThreads._id} = any(${`{${threadIds.join()}}`}::uuid[])
    order by ${chatThreads._id}
    for update of ${chatThreads}`)
}

const running = alias(chatTurns, "running")
const stored = alias(chatMessages, "stored")

/**
 * Called with the locks held. Returns each conversation's state by its id, and how many of the
 * viewer's messages are being replied to or wait for it.
 */
export async function findThreadStates(
  scope: Scope<"db" | "viewer">,
  tx: Transaction,
  sought: readonly Sought[],
): Promise<{ threads: Map<string, ThreadState>; running: number }> {
  const requests = JSON.stringify(
    sought.map(({ threadId, question }) => ({ thread_id: threadId, request_id: question.requestId })),
  )
  const ofViewer = and(eq(chatTurns.userId, scope.viewer.user._id), eq(chatTurns.status, "running"))
  const ownWaiting = and(eq(chatWaiting.userId, scope.viewer.user._id), eq(chatWaiting.state, "waiting"))
  const asked = sql`jsonb_to_recordset(${requests}::jsonb) as asked (thread_id uuid, request_id text)`
  const rows = await tx
    .select({
      threadId: chatThreads._id,
      title: chatThreads.title,
      titleSource: chatThreads.titleSource,
      spaceId: chatThreads.spaceId,
      mayEdit: sql<boolean>`${mayEdit(scope, chatThreads)}`,
      running: { _id: running._id, deadline: deadlineOf(running) },
      known: {
        answerId: chatTurns._id,
        questionId: chatTurns.questionId,
        ...outcome,
      },
      stored: {
        _id: stored._id,
        userId: stored.userId,
        content: stored.content,
        attachments: stored.attachments,
      },
      content: chatMessages.content,
      next: sql<ThreadState["next"]>`(
        select jsonb_build_object('_id', _id, 'requestId', request_id, 'attachments', coalesce(attachments, '[]'))
        from ${chatWaiting} where thread_id = ${chatThreads._id} and state = 'waiting'
        order by place limit 1)`,
      count: sql<number>`(${tx.$count(chatTurns, ofViewer)} + ${tx.$count(chatWaiting, ownWaiting)})::int`,
    })
    .from(chatThreads)
    .innerJoin(asked, sql`asked.thread_id = ${chatThreads._id}`)
    .leftJoin(running, and(eq(running.threadId, chatThreads._id), eq(running.status, "running")))
    .leftJoin(
      chatTurns,
      and(eq(chatTurns.threadId, chatThreads._id), sql`${chatTurns.requestId} = asked.request_id`),
    )
    .leftJoin(
      stored,
      sql`${stored._id} = coalesce(${chatTurns.questionId}, (
        select _id from ${chatMessages} as note
        where note.thread_id = ${chatThreads._id} and note.request_id = asked.request_id limit 1))`,
    )
    .leftJoin(chatMessages, eq(chatMessages._id, chatTurns._id))
    .where(readableThreads(scope))
  return {
    threads: new Map(rows.map(({ threadId, ...state }) => [threadId, state])),
    running:
      rows[0]?.count ?? (await tx.$count(chatTurns, ofViewer)) + (await tx.$count(chatWaiting, ownWaiting)),
  }
}

/** Throws NotFound if the id is taken: by another person, or in the trash. */
export async function insertThread(
  { viewer }: Scope<"viewer">,
  tx: Transaction,
  { _id, spaceId }: Pick<ChatThread, "_id" | "spaceId">,
): Promise<void> {
  const added = await tx
    .insert(chatThreads)
    .values({ _id, userId: viewer.user._id, title: UNTITLED, lastMessageAt: Date.now(), spaceId })
    .onConflictDoNothing()
    .returning({ _id: chatThreads._id })
  if (added.length === 0) throw new NotFound("conversation")
}

export interface NewMessage {
  /** Null for a new id. */
  _id: string | null
  /** It already has its row. */
  isStored: boolean
  text: string
  attachments: Attachment[]
  edited: boolean
  /** Null if it mentions nobody. */
  mentioned: Mentioned | null
  /** Null for the first reply to it. */
  reply: NewReply | null
}

/** A reply that takes the place of another. */
export interface NewReply {
  _id: string
  /** It has earlier versions. */
  edited: boolean
}

export interface NewTurn {
  threadId: string
  requestId: string
  question: NewMessage
  /** The message is to the people in a space: there is no turn. */
  toPeople: boolean
  /** It waited: its author may have left before others wrote. */
  waited: boolean
  /** Null if the conversation keeps its own. */
  title: string | null
  /** Milliseconds since the epoch. */
  deadline: number
}

/**
 * In one statement in which each row refers to the one before: a reply's id must sort after its
 * message's. At most one turn or message between people per conversation. `answerId` is null for the
 * latter.
 */
export async function storeTurns(
  { viewer, replies, turns }: Scope<"viewer" | "replies" | "turns">,
  tx: Transaction,
  fresh: readonly NewTurn[],
): Promise<{ threadId: string; questionId: string; answerId: string | null }[]> {
  if (fresh.length === 0) return []
  const userId = viewer.user._id
  const rows = fresh.map(({ threadId, requestId, question, toPeople, waited, title, deadline }) => ({
    thread_id: threadId,
    request_id: requestId,
    to_people: toPeople,
    waited,
    question_id: question._id,
    is_stored: question.isStored,
    content: question.text,
    attachments: question.attachments.length > 0 ? question.attachments : null,
    edited: question.edited,
    answer_id: question.reply?._id ?? null,
    answer_edited: question.reply?.edited ?? false,
    mentions: question.mentioned?.names ?? null,
    title,
    deadline,
  }))
  return tx.execute(sql`
    with asked as materialized (
      select thread_id, request_id, to_people, waited, coalesce(question_id, uuidv7()) as question_id, is_stored, content,
        nullif(attachments, 'null'::jsonb) as attachments, edited,
        nullif(mentions, 'null'::jsonb) as mentions, title, deadline, answer_id, answer_edited
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as asked (
        thread_id uuid, request_id text, to_people boolean, waited boolean, question_id uuid, is_stored boolean, content text,
        attachments jsonb, edited boolean, mentions jsonb, title text, deadline bigint, answer_id uuid,
        answer_edited boolean
      )
    ), question as (
      insert into ${chatMessages} (_id, user_id, thread_id, role, content, attachments, edited, mentions, request_id)
      select question_id, ${userId}::uuid, thread_id, 'user', content, attachments, edited, mentions,
        case when to_people then request_id end
      from asked where not is_stored
    ), answer as (
      insert into ${chatMessages} (_id, user_id, thread_id, role, content, edited)
      select coalesce(answer_id, uuidv7()), ${userId}::uuid, thread_id, 'assistant', '', answer_edited
      from asked where not to_people
      returning _id, thread_id
    ), turn as (
      insert into ${chatTurns} (_id, user_id, thread_id, question_id, request_id, status, model, process, deadline)
      select answer._id, ${userId}::uuid, asked.thread_id, asked.question_id, asked.request_id, 'running',
        ${replies.model}, ${turns.process}::bigint, asked.deadline
      from asked join answer using (thread_id)
    ), thread as (
      update ${chatThreads} set
        last_message_at = greatest(${chatThreads.lastMessageAt} + 1, ${Date.now()}::bigint),
        title = coalesce(asked.title, ${chatThreads.title}),
        message_count = ${chatThreads.messageCount} + (not is_stored)::int + (not to_people)::int
      from asked where ${chatThreads._id} = asked.thread_id
      returning ${chatThreads}.*
    ), read as (
      -- Who writes now has read what is there.
      insert into ${chatReads} (user_id, thread_id, space_key, message_count, read_at)
      select ${userId}::uuid, _id, space_key, message_count, ${Date.now()}::bigint
      from thread
      where space_id is not null and _id in (select thread_id from asked where not waited)
      on conflict (user_id, thread_id) do update set
        message_count = excluded.message_count, read_at = excluded.read_at, space_key = excluded.space_key
    )
    select asked.thread_id as "threadId", asked.question_id as "questionId", answer._id as "answerId"
    from asked left join answer using (thread_id)`)
}
