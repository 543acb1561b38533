import { boolean, index, jsonb, text, uniqueIndex, uuid } from "drizzle-orm/pg-core"
import { auth, authUser } from "./auth.ts"
import { owned } from "./ownership.ts"
import { milliseconds, record } from "./record.ts"

/** The events of the security log. */
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

/** The way of a sign-in, or of an attempt. */
export const SIGN_IN_WAYS = [
  "password",
  "code",
  "recovery-code",
  "passkey",
  "provider",
  "email-link",
] as const

/** Details of an event; no secrets. */
export interface SecurityFacts {
  /** For a sign-in: the account had not been opened in this browser before. */
  newBrowser?: true
  /** For a new account: its browser was signed in. */
  signedIn?: true
  /** The name of a key or passkey. */
  name?: string
  /** The first characters of a key. */
  start?: string
  /** The issuer of the provider of single sign-on. */
  issuer?: string
  /** The previous and the new address of a change. */
  previous?: string
  next?: string
  /** Done with a command on the server. */
  onServer?: true
}

/**
 * The security log of the embedded identity provider's accounts. Rows are only ever added: the
 * rule `keep_security_events` refuses changes, and deletions before `expires_at` unless the account is deleted. It is
 * in no publication.
 */
export const authSecurityEvent = auth.table(
  "security_event",
  {
    ...record(),
    userId: text("user_id")
      .notNull()
      .references(() => authUser.id, { onDelete: "cascade" }),
    event: text("event", { enum: SECURITY_EVENTS }).notNull(),
    /** For a sign-in. */
    way: text("way", { enum: SIGN_IN_WAYS }),
    facts: jsonb("facts").$type<SecurityFacts>(),
    /** The network address that it came from; null for actions of the server itself. */
    address: text("address"),
    userAgent: text("user_agent"),
    /** The entry in the operators' history, if an operator did it, which names the operator. */
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
 * A change of an email address that waits for its confirmations; one for each person. Tokens are
 * stored as hashes (SHA-256, Base64url).
 */
export const authAddressChange = auth.table(
  "address_change",
  {
    userId: text("user_id")
      .primaryKey()
      .references(() => authUser.id, { onDelete: "cascade" }),
    /**
     * The address when the change was requested. If it is a different one by now, the change is
     * void.
     */
    previousEmail: text("previous_email").notNull(),
    nextEmail: text("next_email").notNull(),
    /** For the email to the previous address: it confirms the change, or stops it. */
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

owned(authSecurityEvent, {
  of: "userId",
  kept: { until: "expiresAt" },
  exportedAs: "securityLog",
  exported: ["_creationTime", "event", "way", "facts", "address", "userAgent"],
})

owned(authAddressChange, { of: "userId", exportedAs: "addressChange", exported: ["nextEmail", "expiresAt"] })
