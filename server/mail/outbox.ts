import { createHash } from "node:crypto"
import { and, count, desc, eq, getTableColumns, gt, inArray, lt, ne, sql } from "drizzle-orm"
import { mailOutbox, type EMAIL_KINDS, type OutboxRow } from "#db/schema/mail.ts"
import type { Config } from "#server/config.ts"
import type { Email } from "#server/ports/mail.ts"
import type { Scope } from "#server/scope.ts"

export type EmailKind = (typeof EMAIL_KINDS)[number]

/** Where emails are queued: `db` may be the transaction that causes them. */
export type Outbox = Scope<"db"> & { config: Pick<Config, "origin"> }

/** An email as operators see it: recipient and delivery state, without its content. */
export type ListedEmail = Omit<OutboxRow, "text" | "html">

interface Posting {
  kind: EmailKind
  /** The identity provider's id of the person it is about; null without an account. */
  userId: string | null
  /** A second email with the same cause is not queued. */
  cause: string
  to: string
  message: Email
  /** Milliseconds since the epoch: the email is out of date after that. */
  expiresAt?: number
  /**
   * For emails that anybody can trigger: no more of this kind are queued while the address has this
   * many with working links. So nobody can exhaust somebody else's emails: anyone who is cut off
   * already has valid links.
   */
  mostOpen?: number
}

export const DAY = 24 * 60 * 60 * 1000

/**
 * The clock that all processes share: milliseconds since the epoch at the start of the statement,
 * so that an index can be used with it.
 */
export const databaseNow = sql<number>`(extract(epoch from statement_timestamp()) * 1000)::bigint`

/**
 * Queues an email. It is sent after the transaction of `db` commits, at least once, by any process.
 * Resolves to false if nothing was queued: there is an email for this cause already, or the address
 * has enough with working links.
 */
export async function queueEmail({ db, config }: Outbox, posting: Posting): Promise<boolean> {
  const { kind, userId, cause, to, message, expiresAt = null, mostOpen } = posting
  if (mostOpen === undefined) return insert(db)
  return db.transaction(async (transaction) => {
    // Two concurrent counts would both be below the limit.
    const slot = `mail ${kind} ${to.toLowerCase()}`
    await transaction.execute(sql`select pg_advisory_xact_lock(hashtextextended(${slot}, 0))`)
    return (await countOpen({ db: transaction }, { kind, to })) < mostOpen && insert(transaction)
  })

  async function insert(into: Outbox["db"]) {
    const values = {
      kind,
      userId,
      cause,
      recipient: to,
      messageId: messageIdOf(posting, config.origin),
      subject: message.subject,
      text: storable(message.text),
      html: storable(message.html),
      nextAttemptAt: databaseNow,
      expiresAt,
    }
    const queued = await into
      .insert(mailOutbox)
      .values(values)
      .onConflictDoNothing({ target: [mailOutbox.userId, mailOutbox.kind, mailOutbox.cause] })
      .returning({ _id: mailOutbox._id })
      .catch(throwWithoutEmail)
    return queued.length > 0
  }
}

/**
 * How many emails of this kind with working links went to an address, or are about to. With
 * `causes`, those whose cause begins with it.
 */
export async function countOpen(
  { db }: Scope<"db">,
  { kind, to, causes = "" }: Pick<Posting, "kind" | "to"> & { causes?: string },
): Promise<number> {
  return db.$count(
    mailOutbox,
    and(
      eq(sql`lower(${mailOutbox.recipient})`, to.toLowerCase()),
      eq(mailOutbox.kind, kind),
      sql`starts_with(${mailOutbox.cause}, ${causes})`,
      ne(mailOutbox.state, "parked"),
      gt(mailOutbox.expiresAt, databaseNow),
    ),
  )
}

/** How many emails are in each state. */
export async function countOutbox({ db }: Scope<"db">): Promise<Record<OutboxRow["state"], number>> {
  const rows = await db
    .select({ state: mailOutbox.state, emails: count() })
    .from(mailOutbox)
    .groupBy(mailOutbox.state)
  return { queued: 0, sent: 0, parked: 0, ...Object.fromEntries(rows.map((row) => [row.state, row.emails])) }
}

/** Newest first. `before` is the `_id` of the last one seen. */
export async function listOutbox(
  { db }: Scope<"db">,
  { state, before, limit = 100 }: { state?: OutboxRow["state"]; before?: string; limit?: number } = {},
): Promise<ListedEmail[]> {
  const { text: _text, html: _html, ...columns } = getTableColumns(mailOutbox)
  return db
    .select(columns)
    .from(mailOutbox)
    .where(
      and(
        state === undefined ? undefined : eq(mailOutbox.state, state),
        before === undefined ? undefined : lt(mailOutbox._id, before),
      ),
    )
    .orderBy(desc(mailOutbox._id))
    .limit(limit)
}

/**
 * Gives parked emails, all or those with these ids, their full number of attempts again. Resolves
 * to how many; expired ones stay parked.
 */
export async function retryParked({ db }: Scope<"db">, ids?: readonly string[]): Promise<number> {
  const retried = await db
    .update(mailOutbox)
    .set({ state: "queued", attempts: 0, nextAttemptAt: databaseNow, leaseUntil: null, lastError: null })
    .where(
      and(
        eq(mailOutbox.state, "parked"),
        ids === undefined ? undefined : inArray(mailOutbox._id, [...ids]),
        sql`coalesce(${mailOutbox.expiresAt} > ${databaseNow}, true)`,
      ),
    )
    .returning({ _id: mailOutbox._id })
  return retried.length
}

/** An email that has not been sent yet, or null. */
export async function findUnsent(
  { db }: Scope<"db">,
  id: string,
): Promise<Pick<OutboxRow, "kind" | "userId" | "recipient"> | null> {
  const { kind, userId, recipient } = mailOutbox
  const [message] = await db
    .select({ kind, userId, recipient })
    .from(mailOutbox)
    .where(and(eq(mailOutbox._id, id), ne(mailOutbox.state, "sent")))
  return message ?? null
}

/** Removes an email before it is sent. Resolves to false if it was sent or is being sent. */
export async function dropEmail({ db }: Scope<"db">, id: string): Promise<boolean> {
  const dropped = await db
    .delete(mailOutbox)
    .where(
      and(
        eq(mailOutbox._id, id),
        ne(mailOutbox.state, "sent"),
        sql`coalesce(${mailOutbox.leaseUntil} < ${databaseNow}, true)`,
      ),
    )
    .returning({ _id: mailOutbox._id })
  return dropped.length > 0
}

/** One per email, no matter who requests it and how often. */
function messageIdOf({ kind, userId, cause, to }: Posting, origin: string): string {
  const digest = createHash("sha256").update(JSON.stringify([kind, userId, cause, to]))
  return `<${digest.digest("hex").slice(0, 40)}@${new URL(origin).hostname}>`
}

/**
 * Drizzle's error contains the values of the statement, including links that open accounts, and
 * errors are logged.
 */
function throwWithoutEmail(error: unknown): never {
  const cause = error instanceof Error ? error.cause : undefined
  const { code, message = "unknown reason" }: { code?: unknown; message?: string } =
    cause instanceof Error ? cause : {}
  throw Object.assign(new Error(`Could not write an email to the outbox: ${message}`), { code })
}

/** PostgreSQL's text cannot contain NUL. */
function storable(text: string): string {
  return text.replaceAll("\0", "").toWellFormed()
}
