import { APIError } from "better-auth/api"
import type { Log } from "#server/log.ts"

/** The events to log, by better-auth's paths. */
const EVENTS = new Map([
  ["/sign-up/email", "sign-up"],
  ["/sign-in/email", "sign-in"],
  ["/enter-by-provider", "sign-in by provider"],
  ["/passkey/verify-authentication", "sign-in by passkey"],
  ["/sign-out", "sign-out"],
  ["/request-password-reset", "reset asked for"],
  ["/reset-password", "password reset"],
  ["/change-password", "password changed"],
  ["/confirm-address", "address confirmed"],
  ["/api-key/create", "key made"],
  ["/api-key/delete", "key deleted"],
  ["/two-factor/enable", "second factor begun"],
  ["/two-factor/verify-totp", "code entered"],
  ["/two-factor/verify-backup-code", "recovery code entered"],
  ["/two-factor/disable", "second factor removed"],
  ["/two-factor/generate-backup-codes", "recovery codes made"],
])

interface Call {
  path: string
  context: {
    returned?: unknown
    newSession?: { user: { id: string } } | null
    session?: { user: { id: string } } | null
  }
}

/**
 * Logs who did what to an account, from where, and the status of a refusal. People who did not
 * prove who they are are not named: an entered address may be somebody else's.
 */
export function logAccountEvent(log: Log, { path, context }: Call, from: string): void {
  const event = EVENTS.get(path)
  const { returned, newSession, session } = context
  if (!event || isQuestion(returned)) return
  const refused = returned instanceof APIError ? returned.statusCode : null
  const user = newSession?.user.id ?? session?.user.id ?? null
  log.info({ event, user, from, refused }, "account")
}

/** The confirmation link was opened, and nothing has been done yet. */
function isQuestion(returned: unknown) {
  return (
    typeof returned === "object" && returned !== null && "state" in returned && returned.state !== "confirmed"
  )
}
