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
  | "factor-unreadable"
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

/** `headers` set the cookies of the new state. */
export type AccountOutcome =
  | { ok: true; headers: Headers }
  | { ok: false; problem: AccountProblem; status: number; retryAfter: number | null }

/**
 * The forms of a provider that leaves them to us. A wrong email and a wrong password get the same
 * response, in the same time.
 */
export interface AccountForms {
  /**
   * `invitation` is an invitation's token, which allows sign-up where it is closed. If addresses
   * have to be confirmed first, nobody is signed in, and the outcome is the same whether or not the
   * account existed.
   */
  signUp(
    visit: Visit,
    input: { name: string; email: string; password: string; invitation?: string | undefined },
  ): Promise<(AccountOutcome & { ok: false }) | { ok: true; headers: Headers; isSignedIn: boolean }>
  /** `needsCode` if the account has a second factor: nobody is signed in until it is shown. */
  signIn(
    visit: Visit,
    input: { email: string; password: string },
  ): Promise<(AccountOutcome & { ok: false }) | { ok: true; headers: Headers; needsCode: boolean }>
  /**
   * Signs in with only a passkey, which counts as two factors: the authenticator has verified the
   * person. Absent if browsers cannot use passkeys, because the origin is an IP address.
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
   * Confirms the address that `token` was sent to. Anyone who already has the account continues
   * with it, signed in. Anyone else needs a password; with it they are signed in, and every earlier
   * session, key and password ends.
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
