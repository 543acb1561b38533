import { createHash } from "node:crypto"
import { and, count, desc, eq, getTableColumns, gt, inArray, lt, ne, sql } from "drizzle-orm"
import { mailOutbox, type EMAIL_KINDS, type OutboxRow } from "#db/schema/mail.ts"
import type { Config } from "#server/config.ts"
import type { Email } from "#server/ports/mail.ts"
import type { Scope } from "#server/scope.ts"

export type EmailKind = (typeof EMAIL_KINDS)[number]

/** Where emails are put: `db` may be the transaction of their cause. */
export type Outbox = Scope<"db"> & { config: Pick<Config, "origin"> }

/** An email as the operator sees it: who gets it and what became of it, and nothing of what it says. */
export type ListedEmail = Omit<OutboxRow, "text" | "html">

interface Posting {
  kind: EmailKind
  /** The identity provider's id of the person it is about; null where there is no account. */
  userId: string | null
  /** The same one makes no second email. */
  cause: string
  to: string
  message: Email
  /** Milliseconds since the epoch: what it says is true until then. */
  expiresAt?: number
  /**
   * For what others can set off: further ones of this kind are left out while the address has so many whose links still work. So nobody
   * can use up somebody else's emails: who is sent no more has some that will do.
   */
  mostOpen?: number
}

export const DAY = 24 * 60 * 60 * 1000

/** The clock that all processes share: milliseconds since the epoch, when the statement began, so that an index may be asked with it. */
export const databaseNow = sql<number>`(extract(epoch from statement_timestamp()) * 1000)::bigint`

/**
 * Puts an email into the outbox. It is sent after the transaction of `db`, at least once, by whichever process comes first. Resolves to
 * false when nothing was put there: the cause has its email, or the address has enough that still work.
 */
export async function queueEmail({ db, config }: Outbox, posting: Posting): Promise<boolean> {
  const { kind, userId, cause, to, message, expiresAt = null, mostOpen } = posting
  if (mostOpen === undefined) return insert(db)
  return db.transaction(async (transaction) => {
    // Two that count at once would both find room.
    const slot = `mail ${kind} ${to.toLowerCase()}`
    await transaction.execute(sql`select pg_advisory_xact_lock(hashtextextended(${slot}, 0))`)
    const open = and(
      eq(sql`lower(${mailOutbox.recipient})`, to.toLowerCase()),
      eq(mailOutbox.kind, kind),
      ne(mailOutbox.state, "parked"),
      gt(mailOutbox.expiresAt, databaseNow),
    )
    const [has] = await transaction.select({ emails: count() }).from(mailOutbox).where(open)
    return (has?.emails ?? 0) < mostOpen && insert(transaction)
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

/** How many emails are in each state. */
export async function countOutbox({ db }: Scope<"db">): Promise<Record<OutboxRow["state"], number>> {
  const rows = await db
    .select({ state: mailOutbox.state, emails: count() })
    .from(mailOutbox)
    .groupBy(mailOutbox.state)
  return { queued: 0, sent: 0, parked: 0, ...Object.fromEntries(rows.map((row) => [row.state, row.emails])) }
}

/** The newest first. `before` is the `_id` of the last one seen. */
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

/** Gives parked emails, or those of them that have these ids, all their attempts again. Resolves to how many; expired ones stay. */
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

/** An email that was not sent yet; null where there is none. */
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

/** Takes an email out before it is sent. Resolves to false for one that was sent, or that is being sent now. */
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

/** Removes what the outbox knows of a person, emails that were not sent yet included: part of deleting their account. */
export async function forgetEmails({ db }: Scope<"db">, userId: string): Promise<void> {
  await db.delete(mailOutbox).where(eq(mailOutbox.userId, userId))
}

/** One for each email, no matter who asks and however often. */
function messageIdOf({ kind, userId, cause, to }: Posting, origin: string): string {
  const digest = createHash("sha256").update(JSON.stringify([kind, userId, cause, to]))
  return `<${digest.digest("hex").slice(0, 40)}@${new URL(origin).hostname}>`
}

/** Drizzle's error repeats what was to be written, links that open accounts included, and errors are logged. */
function throwWithoutEmail(error: unknown): never {
  const cause = error instanceof Error ? error.cause : undefined
  const { code, message = "unknown reason" }: { code?: unknown; message?: string } =
    cause instanceof Error ? cause : {}
  throw Object.assign(new Error(`An email could not be written into the outbox: ${message}`), { code })
}

/** PostgreSQL's text holds no NUL. */
function storable(text: string): string {
  return text.replaceAll("\0", "").toWellFormed()
}
