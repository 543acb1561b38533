import type { GenericEndpointContext } from "better-auth"
import { APIError } from "better-auth/api"
import type { AuthSettings } from "./auth-settings.ts"
import { mailConfirmation } from "./confirm-address.ts"

/** The header with the invitation's token of a sign-up. */
export const INVITATION_HEADER = "x-tideline-invitation"

/**
 * Uses the operator's invitation for the account that it creates. It came by email, so the address
 * is proven. Without one, or with an invitation to a space, whose sender knows its link too, queues the email that proves it: better-auth would send that after the commit, and
 * an email that could not be queued would leave an account without one.
 */
export function admitInvited(settings: AuthSettings) {
  return async (user: { email: string }, call: GenericEndpointContext | null) => {
    if (call?.path !== "/sign-up/email") return
    const token = call.headers?.get(INVITATION_HEADER)
    if (token && (await settings.invitations.redeem(token, user.email)))
      return { data: { emailVerified: true, holderConfirmed: true } }
    const mayJoin =
      settings.signup === "open" || (token && (await settings.invitations.isFor(token, user.email)))
    if (!mayJoin) throw signupClosed(settings)
    const id = call.context.generateId({ model: "user" })
    if (id === false) throw new Error("better-auth did not generate an id for the new account.")
    await mailConfirmation(settings, { id, email: user.email }, call.request)
    return { data: { id } }
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
