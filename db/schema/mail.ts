import { sql } from "drizzle-orm"
import { check, index, integer, pgTable, text, unique } from "drizzle-orm/pg-core"
import { owned } from "./ownership.ts"
import { milliseconds, record } from "./record.ts"

/** The kinds of emails. */
export const EMAIL_KINDS = [
  "welcome",
  "plan-changed",
  "verify-address",
  "sign-up-attempted",
  "reset-password",
  "waitlist-confirmation",
  "waitlist-invitation",
  "account-deleted",
  "security-notice",
  "confirm-address-change",
  "address-change-attempted",
  "space-invitation",
  "mention",
] as const

/**
 * Queued emails, rendered, and for a month those that were sent. A row is written in the
 * transaction that causes it, and sent after the commit. It is not live: the table is in no
 * publication.
 */
export const mailOutbox = pgTable(
  "mail_outbox",
  {
    ...record(),
    kind: text("kind", { enum: EMAIL_KINDS }).notNull(),
    /** The identity provider's id of the person it is about; null where there is no account. */
    userId: text("user_id"),
    /** What caused it. The same cause sends no second email. */
    cause: text("cause").notNull(),
    recipient: text("recipient").notNull(),
    /** The same for every attempt, so that a receiver can recognise a duplicate. */
    messageId: text("message_id").notNull(),
    subject: text("subject").notNull(),
    /**
     * Both are emptied when the email has been sent: they may contain links that open an account.
     */
    text: text("text").notNull(),
    html: text("html").notNull(),
    state: text("state", { enum: ["queued", "sent", "parked"] })
      .notNull()
      .default("queued"),
    attempts: integer("attempts").notNull().default(0),
    nextAttemptAt: milliseconds("next_attempt_at").notNull(),
    /** Until this time the email belongs to the process that is sending it. */
    leaseUntil: milliseconds("lease_until"),
    /** After this time its content is no longer true, so it is not sent. */
    expiresAt: milliseconds("expires_at"),
    sentAt: milliseconds("sent_at"),
    /** The mail server's last error, without addresses or settings of ours. */
    lastError: text("last_error"),
  },
  (table) => [
    unique("mail_outbox_by_cause").on(table.userId, table.kind, table.cause).nullsNotDistinct(),
    index("mail_outbox_due")
      .on(table.nextAttemptAt)
      .where(sql`${table.state} = 'queued'`),
    index("mail_outbox_by_recipient").on(sql`lower(${table.recipient})`, table.kind),
    index("mail_outbox_by_state").on(table.state, table._id),
    check("mail_outbox_state", sql`${table.state} in ('queued', 'sent', 'parked')`),
  ],
)

export type OutboxRow = typeof mailOutbox.$inferSelect

owned(mailOutbox, {
  of: [{ id: "userId", email: "recipient" }],
  exportedAs: "emails",
  exported: ["_creationTime", "kind", "recipient", "subject", "state", "sentAt"],
})
