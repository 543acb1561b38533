import { APIError } from "better-auth/api"
import type { AuthSettings } from "./auth-settings.ts"

/** The header with the invitation's token of a sign-up. */
export const INVITATION_HEADER = "x-tideline-invitation"

/**
 * Uses the invitation for the account that it creates. It came by email, so the address is proven.
 */
export function admitInvited(settings: AuthSettings) {
  return async (
    user: { email: string },
    context: { path?: string; headers?: Headers | undefined } | null,
  ) => {
    if (context?.path !== "/sign-up/email") return
    const token = context.headers?.get(INVITATION_HEADER)
    if (token && (await settings.invitations.redeem(token, user.email)))
      return { data: { emailVerified: true, holderConfirmed: true } }
    if (settings.signup !== "open") throw signupClosed(settings)
  }
}

export function signupClosed({ origin, signup }: AuthSettings): APIError {
  if (signup === "sso") {
    const message = `Accounts are created by single sign-on here: open ${origin}/sign-up.`
    return new APIError("FORBIDDEN", { message, code: "SIGNUP_BY_PROVIDER" })
  }
  const message = `Sign-up is closed here. Leave your address at ${origin}/waitlist, and you can be told when it opens.`
  return new APIError("FORBIDDEN", { message, code: "SIGNUP_CLOSED" })
}
