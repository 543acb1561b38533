import { and, count, desc, eq, getTableColumns, lt, sql } from "drizzle-orm"
import { authUser } from "#db/schema/auth.ts"
import { operatorActs } from "#db/schema/operator.ts"
import { authSecurityEvent } from "#db/schema/security.ts"
import { users } from "#db/schema/users.ts"
import type { Scope } from "#server/scope.ts"
import type { SecurityEntry, SecurityEvent } from "./security-contract.ts"
import { queueSecurityNotice, type Recording } from "./security-notices.ts"

/** Milliseconds. */
const DAY = 24 * 60 * 60 * 1000
const HOUR = 60 * 60 * 1000

/** Failed sign-ins of one account that are recorded in an hour: enough to see them. */
const MOST_FAILURES = 5

/**
 * Adds an event to the security log and queues the email about it, if there is one. Call it in the
 * transaction of the event. Does nothing for people without an account at the embedded provider:
 * Clerk has its own log. Throws if the entry cannot be written; an email that cannot be queued is
 * only logged.
 */
export async function recordSecurityEvent(scope: Recording, event: SecurityEvent): Promise<void> {
  await scope.db.transaction(async (db) => {
    const here = { ...scope, db }
    const [person] = await db
      .select({ email: authUser.email, language: users.language })
      .from(authUser)
      .leftJoin(users, eq(users.clerkId, authUser.id))
      .where(eq(authUser.id, event.userId))
    if (!person || (event.event === "sign-in-failed" && (await isOneTooMany(here, event.userId)))) return
    const isFirst = event.event === "signed-in" && (await isFirstSignIn(here, event.userId))
    const expiresAt = Date.now() + scope.config.securityLogDays * DAY
    const { from, ...rest } = event
    const [entry] = await db
      .insert(authSecurityEvent)
      .values({ ...rest, ...(from && { ...from, userAgent: from.userAgent?.slice(0, 500) }), expiresAt })
      .returning()
    if (!entry) throw new Error("The database returned no row for the new security log entry.")
    if (!isFirst) await queueSecurityNotice(here, entry, person)
  })
}

/**
 * Anybody can fail to sign in to anybody's account, so only a few failures per hour are recorded.
 * The account's lock makes those that fail at the same moment count one after the other.
 */
async function isOneTooMany({ db }: Scope<"db">, userId: string) {
  await db.select({ id: authUser.id }).from(authUser).where(eq(authUser.id, userId)).for("no key update")
  const [recent] = await db
    .select({ failures: count() })
    .from(authSecurityEvent)
    .where(
      and(
        eq(authSecurityEvent.userId, userId),
        eq(authSecurityEvent.event, "sign-in-failed"),
        sql`${authSecurityEvent._creationTime} > ${Date.now() - HOUR}`,
      ),
    )
  return (recent?.failures ?? 0) >= MOST_FAILURES
}

/** For an account that was created without a session: its owner has just begun to use it. */
async function isFirstSignIn({ db }: Scope<"db">, userId: string) {
  const [known] = await db
    .select({
      created: sql<boolean>`bool_or(${authSecurityEvent.event} = 'account-created')`,
      signedIn: sql<boolean>`bool_or(${authSecurityEvent.event} = 'signed-in' or ${authSecurityEvent.facts} ? 'signedIn')`,
    })
    .from(authSecurityEvent)
    .where(eq(authSecurityEvent.userId, userId))
  return known?.created === true && !known.signedIn
}

interface Place {
  /** The `_id` of the last entry seen. */
  before?: string | undefined
  limit: number
}

const { operatorActId: _, userId: __, expiresAt: ___, ...SHOWN } = getTableColumns(authSecurityEvent)
const byOperator = sql<boolean>`(${authSecurityEvent.operatorActId} is not null or ${authSecurityEvent.facts} ? 'onServer')`

/** The security log of the viewer's account, newest first. */
export function listOwnSecurityEvents(
  { db, viewer }: Scope<"db" | "viewer">,
  { before, limit }: Place,
): Promise<SecurityEntry[]> {
  return db
    .select({ ...SHOWN, byOperator })
    .from(authSecurityEvent)
    .where(
      and(
        eq(authSecurityEvent.userId, viewer.session.userId),
        before === undefined ? undefined : lt(authSecurityEvent._id, before),
      ),
    )
    .orderBy(desc(authSecurityEvent._id))
    .limit(limit)
}

/** An entry with its account, and the operator who caused it. */
export type EntryOfAnybody = SecurityEntry & { email: string; operatorEmail: string | null }

/** The security log of accounts whose email address contains `q`, newest first. For operators. */
export function listSecurityEvents(
  { db }: Scope<"db">,
  { q, before, limit }: Place & { q: string },
): Promise<EntryOfAnybody[]> {
  return db
    .select({ ...SHOWN, byOperator, email: authUser.email, operatorEmail: operatorActs.operatorEmail })
    .from(authSecurityEvent)
    .innerJoin(authUser, eq(authUser.id, authSecurityEvent.userId))
    .leftJoin(operatorActs, eq(operatorActs._id, authSecurityEvent.operatorActId))
    .where(
      and(
        q === "" ? undefined : sql`strpos(${authUser.email}, ${q.toLowerCase()}) > 0`,
        before === undefined ? undefined : lt(authSecurityEvent._id, before),
      ),
    )
    .orderBy(desc(authSecurityEvent._id))
    .limit(limit)
}
