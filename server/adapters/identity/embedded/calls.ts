import type { SecurityEvent } from "#server/accounts/security-contract.ts"

export const CONFIRM_ADDRESS = "/confirm-address"
export const ENTER = "/enter-by-provider"
export const VERIFY_PASSKEY = "/passkey/verify-authentication"
export const VERIFY_TOTP = "/two-factor/verify-totp"
export const VERIFY_RECOVERY = "/two-factor/verify-backup-code"

/** What our hooks need to know about a call of the provider. */
interface Call {
  /** What the log calls it. */
  log: string
  /** It opens an account in a browser, in this way; null for the sign-up. */
  way?: SecurityEvent["way"] | null
  /** What a signed-in person does to their account with it. */
  event?: SecurityEvent["event"]
  /** Attempts on the address in its body are counted. */
  attempts?: "sign-in" | "reset"
  /** The field of its body with a new password. */
  chosen?: "password" | "newPassword"
  /** It may replace the caller's session with a new one. */
  replaces?: true
}

/** By better-auth's paths. */
const CALLS: Readonly<Record<string, Call>> = {
  "/sign-up/email": { log: "sign-up", way: null, chosen: "password" },
  "/sign-in/email": { log: "sign-in", way: "password", attempts: "sign-in" },
  [ENTER]: { log: "sign-in by provider", way: "provider" },
  [VERIFY_PASSKEY]: { log: "sign-in by passkey", way: "passkey" },
  [CONFIRM_ADDRESS]: { log: "address confirmed", way: "email-link", chosen: "password" },
  [VERIFY_TOTP]: { log: "code entered", way: "code", replaces: true },
  [VERIFY_RECOVERY]: { log: "recovery code entered", way: "recovery-code" },
  "/sign-out": { log: "sign-out" },
  "/request-password-reset": { log: "reset asked for", attempts: "reset" },
  "/reset-password": { log: "password reset", chosen: "newPassword" },
  "/change-password": {
    log: "password changed",
    event: "password-changed",
    chosen: "newPassword",
    replaces: true,
  },
  "/api-key/create": { log: "key made" },
  "/api-key/delete": { log: "key deleted" },
  "/two-factor/enable": { log: "second factor begun" },
  "/two-factor/disable": { log: "second factor removed", event: "second-factor-removed", replaces: true },
  "/two-factor/generate-backup-codes": { log: "recovery codes made", event: "recovery-codes-renewed" },
}

export function callOf(path: string): Partial<Call> {
  return CALLS[path] ?? {}
}
