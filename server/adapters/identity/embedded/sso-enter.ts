import type { BetterAuthPlugin } from "better-auth"
import { createAuthEndpoint } from "better-auth/api"
import { setSessionCookie } from "better-auth/cookies"
import * as v from "valibot"
import type { Database } from "#db/client.ts"
import { authProviderSession } from "#db/schema/single-sign-on.ts"

export const ENTER = "/enter-by-provider"

const Entering = v.strictObject({
  userId: v.string(),
  issuer: v.string(),
  sid: v.nullable(v.string()),
})

/** Signs the browser in to an account that a provider has verified. Only called by the server. */
export function enterByProvider({ db }: { db: Database }) {
  const options = { method: "POST", body: Entering, metadata: { SERVER_ONLY: true } } as const
  const endpoint = createAuthEndpoint(ENTER, options, async (call) => {
    const { userId, issuer, sid } = call.body
    const { internalAdapter } = call.context
    const user = await internalAdapter.findUserById(userId)
    if (!user) throw new Error("The account was deleted in the meantime.")
    const session = await internalAdapter.createSession(userId)
    await db.insert(authProviderSession).values({ sessionId: session.id, issuer, sid })
    await setSessionCookie(call, { session, user })
    return call.json({ userId })
  })
  return { id: "enter-by-provider", endpoints: { enterByProvider: endpoint } } satisfies BetterAuthPlugin
}
