import { tryGetCurrentAuthEndpointContext } from "@better-auth/core/context"
import { countAttempt, forgetAttempts, tooManyAttempts } from "./attempts.ts"
import type { AuthSettings } from "./auth-settings.ts"
import { verifyPassword } from "./password.ts"

/**
 * Guesses at the current password of a signed-in person are counted per account, at every endpoint
 * and from any address. Sign-in has its own count.
 */
export function verifyCounted({ db }: AuthSettings) {
  return async (attempt: { hash: string; password: string }): Promise<boolean> => {
    const call = tryGetCurrentAuthEndpointContext()
    const userId = call?.path === "/sign-in/email" ? undefined : call?.context.session?.user.id
    if (userId === undefined) return verifyPassword(attempt)
    const wait = await countAttempt(db, "password", userId, null)
    if (wait !== null) throw tooManyAttempts(wait)
    const isRight = await verifyPassword(attempt)
    if (isRight) await forgetAttempts(db, "password", userId, null)
    return isRight
  }
}
