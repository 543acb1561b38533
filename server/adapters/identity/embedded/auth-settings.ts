import type { Database, Transaction } from "#db/client.ts"
import type { SecurityEvent } from "#server/accounts/security-contract.ts"
import type { Log } from "#server/log.ts"
import type { Language } from "#server/language-contract.ts"

export interface AuthSettings {
  origin: string
  issuer: string
  authSecret: string
  signup: "open" | "invited" | "closed" | "sso"
  /**
   * Whether an account can only be used once its address is confirmed. Then no response reveals
   * which accounts exist.
   */
  verification: "optional" | "required"
  /** Whether an account without a second factor has to set one up first. */
  secondFactor: "optional" | "required"
  db: Database
  log: Log
  /**
   * Starts an email. The response does not wait for it, because the time would reveal which
   * accounts exist.
   */
  mailResetLink: (email: AccountEmail) => void
  /** Queues an email, in the open transaction. */
  mailVerificationLink: (email: AccountEmail) => Promise<unknown>
  /** Queues the email to the owner of an account that somebody tried to create again. */
  mailSignUpAttempted: (email: Pick<AccountEmail, "userId" | "email" | "language">) => Promise<unknown>
  /** Invitations allow sign-up where it is closed. Those that can be redeemed prove the address. */
  invitations: {
    isFor(token: string, email: string): Promise<boolean>
    /** In the open transaction. Resolves to false if it is for another address, or was used. */
    redeem(token: string, email: string): Promise<boolean>
  }
  /** Read in the open transaction. */
  isSuspended: (userId: string) => Promise<boolean>
  /** Adds to the security log. */
  record: RecordEvent
  /** Starts work after the response is sent, because its duration would reveal which accounts exist. */
  afterResponse: (work: () => Promise<unknown>) => void
  /** Notified of internal errors: better-auth itself only reports that there was one. */
  noticeError?: (error: Error) => void
}

/**
 * Adds an event to the security log and queues its email, in the given or open transaction if there
 * is one.
 */
export type RecordEvent = (event: SecurityEvent, transaction?: Database | Transaction) => Promise<void>

export interface AccountEmail {
  userId: string
  email: string
  language: Language
  /** Contains the token, which is valid for `minutes`. */
  url: string
  minutes: number
}
