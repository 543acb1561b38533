import type { GenericEndpointContext } from "better-auth"
import { getSessionFromCtx } from "better-auth/api"
import { eq } from "drizzle-orm"
import type { Database } from "#db/client.ts"
import { authProviderSession } from "#db/schema/single-sign-on.ts"
import { VERIFY_TOTP } from "./second-factor.ts"

/** The calls in which better-auth replaces the caller's session with a new one. */
const REPLACING = new Set(["/change-password", "/two-factor/disable", VERIFY_TOTP])

/** The providers' sessions of requests that are about to replace the session here. */
const replaced = new WeakMap<Request, { issuer: string; sid: string | null }>()

/** Call it before the endpoint: a changed password deletes the old session before it makes the new one. */
export async function rememberProviderSession(call: GenericEndpointContext, db: Database): Promise<void> {
  if (!call.request || !REPLACING.has(call.path)) return
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
