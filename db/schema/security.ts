import { boolean, index, jsonb, text, uniqueIndex, uuid } from "drizzle-orm/pg-core"
import { auth, authUser } from "./auth.ts"
import { milliseconds, record } from "./record.ts"

/** What happens to the security of an account. */
export const SECURITY_EVENTS = [
  "account-created",
  "signed-in",
  "sign-in-failed",
  "session-ended",
  "sessions-ended",
  "password-changed",
  "password-reset",
  "password-link-created",
  "address-change-requested",
  "address-change-stopped",
  "address-changed",
  "key-created",
  "key-deleted",
  "second-factor-added",
  "second-factor-removed",
  "recovery-codes-renewed",
  "passkey-added",
  "passkey-removed",
  "provider-linked",
  "plan-changed",
  "suspended",
  "allowed",
] as const

/** What somebody signed in with, or tried to. */
export const SIGN_IN_WAYS = [
  "password",
  "code",
  "recovery-code",
  "passkey",
  "provider",
  "email-link",
] as const

/** What else there is to know of an event; no secrets. */
export interface SecurityFacts {
  /** Where somebody signed in: in a browser in which the account was not opened before. */
  newBrowser?: true
  /** Of an account that was created: its browser was signed in. */
  signedIn?: true
  /** The name of a key or passkey. */
  name?: string
  /** The first characters of a key. */
  start?: string
  /** The issuer of the provider of single sign-on. */
  issuer?: string
  /** The addresses of a change. */
  previous?: string
  next?: string
  /** Done with a command on the server. */
  onServer?: true
}

/**
 * What happened to the security of each account of the embedded identity provider. Rows are only
 * ever added: a trigger refuses changes, and deletions before `expires_at` unless the account is
 * deleted. It is in no publication.
 */
export const authSecurityEvent = auth.table(
  "security_event",
  {
    ...record(),
    userId: text("user_id")
      .notNull()
      .references(() => authUser.id, { onDelete: "cascade" }),
    event: text("event", { enum: SECURITY_EVENTS }).notNull(),
    /** Of a sign-in. */
    way: text("way", { enum: SIGN_IN_WAYS }),
    facts: jsonb("facts").$type<SecurityFacts>(),
    /** Where it came from; null for what the server did by itself. */
    address: text("address"),
    userAgent: text("user_agent"),
    /** The entry in the operators' history, if an operator did it. That one knows who it was. */
    operatorActId: uuid("operator_act_id"),
    expiresAt: milliseconds("expires_at").notNull(),
  },
  (table) => [
    index("security_event_by_user_id").on(table.userId, table._id),
    index("security_event_by_expires_at").on(table.expiresAt),
  ],
)

export type SecurityEventRow = typeof authSecurityEvent.$inferSelect

/**
 * A change of an email address that waits for its confirmations; one a person. Tokens are stored as
 * hashes (SHA-256, Base64url).
 */
export const authAddressChange = auth.table(
  "address_change",
  {
    userId: text("user_id")
      .primaryKey()
      .references(() => authUser.id, { onDelete: "cascade" }),
    /** The address when the change was requested. If it is another by now, the change is off. */
    previousEmail: text("previous_email").notNull(),
    nextEmail: text("next_email").notNull(),
    /** Of the email to the previous address: it confirms the change, or stops it. */
    previousToken: text("previous_token").notNull(),
    /** Of the email to the new address. */
    nextToken: text("next_token").notNull(),
    previousConfirmed: boolean("previous_confirmed").notNull().default(false),
    nextConfirmed: boolean("next_confirmed").notNull().default(false),
    /** Whether the new address was confirmed in a browser that was signed in to the account. */
    byHolder: boolean("by_holder").notNull().default(false),
    expiresAt: milliseconds("expires_at").notNull(),
  },
  (table) => [
    uniqueIndex("address_change_by_previous_token").on(table.previousToken),
    uniqueIndex("address_change_by_next_token").on(table.nextToken),
  ],
)
