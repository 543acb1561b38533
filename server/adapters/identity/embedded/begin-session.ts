import { APIError } from "better-auth/api"
import type { GenericEndpointContext } from "better-auth"
import type { AuthSettings } from "./auth-settings.ts"
import { VERIFY_PASSKEY } from "./calls.ts"
import { notePasskeyUse } from "./passkeys.ts"
import { VERIFYING } from "./second-factor.ts"

/** Every way to sign in creates a session. */
export function beginSession({ db, isSuspended }: AuthSettings) {
  return async ({ userId }: { userId: string }, call: GenericEndpointContext | null) => {
    if (await isSuspended(userId)) {
      const message = "This account is suspended. Ask the administrator of this server to allow it again."
      throw new APIError("FORBIDDEN", { message, code: "ACCOUNT_SUSPENDED" })
    }
    if (call?.path === VERIFY_PASSKEY) {
      const passkeyId = await notePasskeyUse(db, String(call.body?.response?.id))
      return { data: { secondFactor: true, passkeyId } }
    }
    if (!hasShownFactor(call)) return
    // A session that replaces a passkey's session ends with the passkey too.
    const passkeyId = call?.context.session?.session["passkeyId"] ?? null
    return { data: { secondFactor: true, passkeyId } }
  }
}

/**
 * Whether the session begins with a code, or replaces one that did when the password is changed.
 */
function hasShownFactor(call: GenericEndpointContext | null): boolean {
  const path = call?.path ?? ""
  const replaces = path === "/change-password" && call?.context.session?.session["secondFactor"] === true
  return VERIFYING.has(path) || replaces
}
