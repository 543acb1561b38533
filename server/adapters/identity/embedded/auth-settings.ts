import type { Database } from "#db/client.ts"
import type { Log } from "#server/log.ts"
import type { Language } from "#server/users/language-contract.ts"
import type { RecordEvent } from "./security-events.ts"

export interface AuthSettings {
  origin: string
  issuer: string
  authSecret: string
  signup: "open" | "closed" | "sso"
  /**
   * Whether an account opens only when its address is confirmed. Then no answer tells which
   * accounts there are.
   */
  verification: "optional" | "required"
  /** Whether an account without a second factor has to get one before anything else. */
  secondFactor: "optional" | "required"
  db: Database
  log: Log
  /**
   * Begins an email. The answer does not wait for it, or the time would tell which accounts there
   * are.
   */
  mailResetLink: (email: AccountEmail) => void
  /** Queues an email, in the transaction that is open. */
  mailVerificationLink: (email: AccountEmail) => Promise<unknown>
  /** Queues the email to the owner of an account that somebody tried to make again. */
  mailSignUpAttempted: (email: Pick<AccountEmail, "userId" | "email" | "language">) => Promise<unknown>
  /** Invitations let somebody in where sign-up is closed, and show that the address is theirs. */
  invitations: {
    isFor(token: string, email: string): Promise<boolean>
    /** In the transaction that is open. Resolves to false where it is not theirs, or was used. */
    redeem(token: string, email: string): Promise<boolean>
  }
  /** Read in the transaction that is open. */
  isSuspended: (userId: string) => Promise<boolean>
  /** Adds to the security log. */
  record: RecordEvent
  /** Begins something that the response must not wait for. */
  afterResponse: (work: () => Promise<unknown>) => void
  /** Told what went wrong inside: better-auth itself answers only that something did. */
  noticeError?: (error: Error) => void
}

export interface AccountEmail {
  userId: string
  email: string
  language: Language
  /** Carries the token, which is good for `minutes`. */
  url: string
  minutes: number
}
