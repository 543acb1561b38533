import type { BetterAuthPlugin, GenericEndpointContext } from "better-auth"
import { createAuthEndpoint, getSessionFromCtx } from "better-auth/api"
import { setSessionCookie } from "better-auth/cookies"
import { eq } from "drizzle-orm"
import * as v from "valibot"
import type { Database } from "#db/client.ts"
import { authProviderSession } from "#db/schema/single-sign-on.ts"
import { callOf, ENTER } from "./calls.ts"

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

/** The providers' sessions of requests that are about to replace the session here. */
const replaced = new WeakMap<Request, { issuer: string; sid: string | null }>()

/** Call it before the endpoint: a changed password deletes the old session before it makes the new one. */
export async function rememberProviderSession(call: GenericEndpointContext, db: Database): Promise<void> {
  if (!call.request || !callOf(call.path).replaces) return
  const session = await getSessionFromCtx(call)
  if (!session) return
  const [begun] = await db
    .select({ issuer: authProviderSession.issuer, sid: authProviderSession.sid })
    .from(authProviderSession)
    .where(eq(authProviderSession.sessionId, session.session.id))
  if (begun) replaced.set(call.request, begun)
}

/** The new session ends with the provider's too, as the one that it replaces did. */
export async function keepProviderSession(call: GenericEndpointContext, db: Database): Promise<void> {
  const { newSession } = call.context
  const begun = call.request && replaced.get(call.request)
  if (!begun || !newSession) return
  await db
    .insert(authProviderSession)
    .values({ sessionId: newSession.session.id, ...begun })
    .onConflictDoNothing()
}
