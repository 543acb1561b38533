import { and, asc, eq, exists, gt, inArray, isNotNull, isNull, lte, ne, not, or, sql } from "drizzle-orm"
import type { Transaction } from "#db/client.ts"
import { authUser } from "#db/schema/auth.ts"
import { mailOutbox } from "#db/schema/mail.ts"
import { notifications } from "#db/schema/notifications.ts"
import { spaceMembers } from "#db/schema/spaces.ts"
import { users } from "#db/schema/users.ts"
import type { Config } from "#server/config.ts"
import { emailLater } from "#server/mail/mail.ts"
import { databaseNow } from "#server/mail/outbox.ts"
import { startRecurring, type Recurring } from "#server/recurring.ts"
import type { Scope } from "#server/scope.ts"

type Sending = Scope<"db"> & {
  config: Pick<Config, "origin"> & { mail: Pick<Config["mail"], "apiRecipients"> }
}

/** Milliseconds between two checks. */
const INTERVAL = 20_000

/** Milliseconds between two of these emails to one person, so three an hour at most. */
const APART = 20 * 60 * 1000

/**
 * Queues an email for what somebody has not read within ten minutes: one for everything, wherever it
 * was written. Any number of processes may run it concurrently.
 */
export function startSendingMentions({ config, db, log }: Sending & Scope<"log">): Recurring {
  return startRecurring(async (stopping) => {
    try {
      while (!stopping.aborted && (await sendNextMention({ config, db })));
    } catch (error) {
      log.warn({ err: error }, "could not queue emails about mentions; will retry")
    }
  }, INTERVAL)
}

/**
 * Queues at most one. Resolves to false if none is due, or if another process is doing it. If the
 * reader loses access before it is sent, the rule `drop_email_of_notification` deletes it.
 */
export function sendNextMention({ config, db }: Sending): Promise<boolean> {
  return db.transaction(async (tx) => {
    const [lock] = await tx.execute<{ isFree: boolean }>(
      sql`select pg_try_advisory_xact_lock(hashtext('emails about mentions')) as "isFree"`,
    )
    if (!lock?.isFree) return false
    const [due] = await tx
      .select({ userId: notifications.userId })
      .from(notifications)
      .where(and(isWaiting, lte(notifications.emailAt, databaseNow), not(exists(recentEmail(tx)))))
      .orderBy(asc(notifications.emailAt))
      .limit(1)
    if (!due) return false
    const cause = crypto.randomUUID()
    const taken = await tx
      .update(notifications)
      .set({ emailAt: null, emailCause: cause })
      .where(and(isWaiting, eq(notifications.userId, due.userId)))
      .returning({
        _id: notifications._id,
        spaceId: notifications.spaceId,
        threadId: notifications.threadId,
        messageId: notifications.messageId,
        author: notifications.authorName,
        excerpt: notifications.excerpt,
      })
    const spaceIds = new Set(taken.map(({ spaceId }) => spaceId))
    const found = await findReader({ config, db: tx }, due.userId, [...spaceIds])
    const spaces = new Map(found.map((each) => [each.spaceId, each]))
    const mentions = taken
      .toSorted((one, other) => (one._id < other._id ? -1 : 1))
      .flatMap((mention) => {
        const space = spaces.get(mention.spaceId)
        return space ? [{ ...mention, space: space.space, slug: space.slug }] : []
      })
    const [reader] = found
    if (reader) await emailLater({ config, db: tx }, "mention", { ...reader, cause, mentions })
    return true
  })
}

const isWaiting = and(
  isNotNull(notifications.emailAt),
  eq(notifications.read, false),
  eq(notifications.trashed, false),
)

/** An email to the reader of a notification. One that was dropped before it was sent is none. */
function recentEmail(db: Transaction) {
  return db
    .select({ _id: mailOutbox._id })
    .from(mailOutbox)
    .innerJoin(users, eq(users.clerkId, mailOutbox.userId))
    .where(
      and(
        eq(users._id, notifications.userId),
        eq(mailOutbox.kind, "mention"),
        gt(mailOutbox._creationTime, sql`${databaseNow} - ${APART}::bigint`),
      ),
    )
}

/**
 * Once for each of the spaces. Empty if they get no email. A provider other than the embedded one has
 * no rows to ask.
 */
async function findReader(
  { config, db }: { config: Sending["config"]; db: Transaction },
  userId: string,
  spaceIds: string[],
) {
  const isConfirmed = or(isNull(authUser.id), authUser.emailVerified)
  return db
    .select({
      clerkId: users.clerkId,
      email: users.email,
      language: users.language,
      spaceId: spaceMembers.spaceId,
      space: spaceMembers.spaceName,
      slug: spaceMembers.spaceSlug,
    })
    .from(spaceMembers)
    .innerJoin(users, eq(users._id, spaceMembers.userId))
    .leftJoin(authUser, eq(authUser.id, users.clerkId))
    .where(
      and(
        eq(spaceMembers.userId, userId),
        inArray(spaceMembers.spaceId, spaceIds),
        eq(spaceMembers.trashed, false),
        users.notifiesByEmail,
        ne(users.email, ""),
        isNull(authUser.suspendedAt),
        // Anybody can enter somebody else's address, and the members of a space write the text.
        config.mail.apiRecipients === "confirmed" ? isConfirmed : undefined,
      ),
    )
}
