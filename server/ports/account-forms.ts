import type { PasskeyAssertion } from "./passkey-contract.ts"
import type { Visit } from "./session.ts"

/** Why an account form was refused. */
export type AccountProblem =
  | "wrong-credentials"
  | "address-unconfirmed"
  | "email-taken"
  | "email-unfit"
  | "password-unfit"
  | "password-guessable"
  | "link-spent"
  | "code-wrong"
  | "challenge-ended"
  | "factor-exists"
  | "passkey-unknown"
  | "passkey-refused"
  | "passkey-needed"
  | "too-many-passkeys"
  | "sign-in-again"
  | "signup-closed"
  | "signup-by-provider"
  | "too-many-attempts"
  | "another-site"
  | "account-suspended"
  | "address-at-provider"
  | "address-unchanged"

/** `headers` set the cookies of what was done. */
export type AccountOutcome =
  | { ok: true; headers: Headers }
  | { ok: false; problem: AccountProblem; status: number; retryAfter: number | null }

/**
 * The forms of a provider that leaves them to us. A wrong email and a wrong password are one
 * answer, in the same time.
 */
export interface AccountForms {
  /**
   * `invitation` is the token of one, which counts where sign-up is closed. Where an address has to
   * be confirmed first, nobody is signed in, and the outcome is the same whether there was such an
   * account or not.
   */
  signUp(
    visit: Visit,
    input: { name: string; email: string; password: string; invitation?: string | undefined },
  ): Promise<(AccountOutcome & { ok: false }) | { ok: true; headers: Headers; isSignedIn: boolean }>
  /** `needsCode` where the account has a second factor: nobody is signed in until it is shown. */
  signIn(
    visit: Visit,
    input: { email: string; password: string },
  ): Promise<(AccountOutcome & { ok: false }) | { ok: true; headers: Headers; needsCode: boolean }>
  /**
   * Signs in with a passkey alone, which shows two factors: the authenticator has verified the
   * person. Absent where browsers cannot use passkeys, because the origin is an IP address.
   */
  enterWithPasskey?(visit: Visit, assertion: PasskeyAssertion): Promise<AccountOutcome>
  /**
   * The second step, in the browser of the first, or in a session that has not shown its factor
   * yet. `code` is the app's or a recovery code, which works once. `trust` spares this browser the
   * second step for 30 days.
   */
  enterCode(visit: Visit, input: { code: string; trust: boolean }): Promise<AccountOutcome>
  /** Resolves the same way whether or not the account exists. */
  requestPasswordReset(visit: Visit, input: { email: string }): Promise<AccountOutcome>
  /**
   * `token` came by email, which confirms the address as well. Every session and API key of the
   * account ends.
   */
  resetPassword(visit: Visit, input: { token: string; password: string }): Promise<AccountOutcome>
  /**
   * Confirms the address that `token` was sent to. Anyone who holds the account already goes on
   * with it, signed in. Of anyone else a password is needed; with it they are signed in, and every
   * session, key and password from before ends.
   */
  confirmAddress(
    visit: Visit,
    input: { token: string; password?: string },
  ): Promise<
    | (AccountOutcome & { ok: false })
    | {
        ok: true
        headers: Headers
        state: "confirmed" | "confirmed-before" | "password-needed"
        email: string
      }
  >
}
