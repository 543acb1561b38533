import { and, eq, or, sql } from "drizzle-orm"
import type { Database, Transaction } from "#db/client.ts"
import { notifications } from "#db/schema/notifications.ts"
import { spaceMembers } from "#db/schema/spaces.ts"
import { users } from "#db/schema/users.ts"
import type { Scope } from "#server/scope.ts"
import { databaseNow } from "#server/mail/outbox.ts"
import { findMentions, nameMembers, type Named } from "./mention-contract.ts"

/** Milliseconds in which somebody can read a message before an email is sent. */
const EMAIL_AFTER = 10 * 60 * 1000

/** People of one message. */
const MOST = 50

/** Characters of the message before its first mention, and in all. */
const BEFORE = 60
const EXCERPT = 200

export interface Mentioned {
  /** The names in the text, as they are stored with the message. */
  names: string[]
  /** Who is notified. */
  people: { userId: string; excerpt: string }[]
}

/** Whom a text mentions among the members of a space, as `nameMembers` says. Null if nobody is. */
export async function findMentioned(
  tx: Transaction,
  spaceId: string | null,
  text: string,
): Promise<Mentioned | null> {
  if (spaceId === null || !text.includes("@")) return null
  const named = await findNames({ db: tx }, spaceId, text)
  const found = findMentions(
    text,
    Array.from(named.values(), ({ name }) => name),
  )
  const people = new Map<string, string>()
  for (const { name, from } of found)
    for (const id of named.get(name.toLowerCase())?.userIds ?? [])
      if (!people.has(id)) people.set(id, excerptAt(text, from))
  if (people.size === 0) return null
  return {
    names: [...new Set(found.map(({ name }) => name))],
    people: Array.from(people, ([id, excerpt]) => ({ userId: id, excerpt })).slice(0, MOST),
  }
}

/** The names of members of a space that a text may mention, as `nameMembers` gives them. */
export async function findNames(
  { db }: { db: Database | Transaction },
  spaceId: string,
  text: string,
): Promise<Map<string, Named>> {
  const { userId, memberName, memberEmail } = spaceMembers
  const members = await db
    .select({ userId, memberName, memberEmail })
    .from(spaceMembers)
    .where(
      and(
        eq(spaceMembers.spaceId, spaceId),
        eq(spaceMembers.trashed, false),
        or(
          // All who have the first name: it mentions somebody if they are the only one.
          sql`strpos(lower(${text}), '@' || lower(split_part(${memberName}, ' ', 1))) > 0`,
          sql`strpos(lower(${text}), '@' || lower(${memberEmail})) > 0`,
        ),
      ),
    )
  return nameMembers(members)
}

/**
 * In the transaction that stores the message, or changes it: those whom it mentioned before are not
 * notified again. The viewer is its author.
 */
export async function notifyMentioned(
  { viewer }: Scope<"viewer">,
  tx: Transaction,
  { people }: Mentioned,
  message: { spaceId: string; threadId: string; messageId: string },
): Promise<void> {
  const { _id: authorId, name, email } = viewer.user
  const asked = people.map(({ userId, excerpt }) => ({ user_id: userId, excerpt }))
  // A membership that is being ended or changed at this moment is skipped: waiting for it could
  // become a deadlock with the change of another one of the same space.
  await tx.execute(sql`
    insert into ${notifications}
      (user_id, space_id, thread_id, message_id, author_id, author_name, excerpt, in_app, email_at)
    select asked.user_id, ${message.spaceId}::uuid, ${message.threadId}::uuid, ${message.messageId}::uuid,
      ${authorId}::uuid, ${name ?? email}, asked.excerpt, ${users.notifiesInApp},
      case when ${users.notifiesByEmail} then ${databaseNow} + ${EMAIL_AFTER}::bigint end
    from jsonb_to_recordset(${JSON.stringify(asked)}::jsonb) as asked (user_id uuid, excerpt text)
      join ${spaceMembers} on ${spaceMembers.userId} = asked.user_id
        and ${spaceMembers.spaceId} = ${message.spaceId} and not ${spaceMembers.trashed}
      join ${users} on ${users._id} = asked.user_id
    where asked.user_id <> ${authorId} and (${users.notifiesInApp} or ${users.notifiesByEmail})
      and not exists (
        select from ${notifications} as earlier
        where earlier.message_id = ${message.messageId} and earlier.user_id = asked.user_id
      )
    for key share of ${spaceMembers} skip locked`)
}

/** One line around a mention. */
function excerptAt(text: string, at: number): string {
  const from = at <= BEFORE * 2 ? 0 : at - BEFORE
  const line = text.slice(from).toWellFormed().replaceAll(/\s+/g, " ").trim()
  const end = line.length > EXCERPT ? `${line.slice(0, EXCERPT).toWellFormed().trimEnd()}…` : line
  return from === 0 ? end : `…${end}`
}
