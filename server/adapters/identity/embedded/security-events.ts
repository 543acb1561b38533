import type { GenericEndpointContext } from "better-auth"
import { isAPIError } from "better-auth/api"
import { eq } from "drizzle-orm"
import type { Database } from "#db/client.ts"
import { authApiKey, authUser } from "#db/schema/auth.ts"
import type { SecurityEvent } from "#server/accounts/security-contract.ts"
import type { AuthSettings } from "./auth-settings.ts"
import { callOf } from "./calls.ts"
import { ownerOfPasskey } from "./passkeys.ts"
import { senderOfCall } from "./sender.ts"
import { challengedUser, VERIFYING } from "./second-factor.ts"

type Settings = Pick<AuthSettings, "db" | "record" | "afterResponse">

/** The keys that requests are about to delete. Their names can no longer be read afterwards. */
const doomed = new WeakMap<Request, { name: string; start: string }>()

/** Call it before an endpoint deletes a key. */
export async function rememberKey({ request }: GenericEndpointContext, db: Database, id: string) {
  if (!request) return
  const [key] = await db
    .select({ name: authApiKey.name, start: authApiKey.start })
    .from(authApiKey)
    .where(eq(authApiKey.id, id))
  if (key) doomed.set(request, { name: key.name ?? "", start: key.start ?? "" })
}

/**
 * Records what an endpoint did to an account. Calls by the server itself, without a request, are
 * recorded by their callers.
 */
export async function recordCall(
  call: GenericEndpointContext,
  settings: Settings,
  { isKnown, returned }: { isKnown: boolean; returned: unknown },
): Promise<void> {
  const { path, context } = call
  const { newSession, session } = context
  if (isAPIError(returned)) return recordFailure(call, settings, returned.body?.code)
  const event = eventOf(call, returned)
  if (event) {
    const userId = newSession?.user.id ?? session?.user.id
    if (userId !== undefined) await settings.record({ userId, from: senderOfCall(call), ...event })
    return
  }
  if (path === "/sign-up/email") {
    const user = (returned as { user?: { id: string } } | undefined)?.user
    const facts = newSession ? ({ signedIn: true } as const) : {}
    if (user)
      await settings.record({ userId: user.id, event: "account-created", facts, from: senderOfCall(call) })
    return
  }
  const { way } = callOf(path)
  if (!newSession || !way) return
  // Anyone who opens a link from their inbox needs no email about it.
  const isNew = !isKnown && way !== "email-link"
  const facts = isNew ? ({ newBrowser: true } as const) : {}
  await settings.record({
    userId: newSession.user.id,
    event: "signed-in",
    way,
    facts,
    from: senderOfCall(call),
  })
}

type Happened = Pick<SecurityEvent, "event" | "way" | "facts">

/** Events caused by a signed-in person. */
function eventOf({ path, context, request }: GenericEndpointContext, returned: unknown): Happened | null {
  const { newSession, session } = context
  switch (path) {
    case "/api-key/create": {
      const { name = null, start = null } = returned as { name?: string | null; start?: string | null }
      return request ? { event: "key-created", facts: { name: name ?? "", start: start ?? "" } } : null
    }
    case "/api-key/delete": {
      const facts = request && doomed.get(request)
      return { event: "key-deleted", ...(facts && { facts }) }
    }
  }
  const { event, way } = callOf(path)
  if (event) return { event }
  if (!VERIFYING.has(path) || !session) return null
  // Setting up a factor replaces the session; showing it in a session that has not shown it yet
  // does not.
  if (newSession) return { event: "second-factor-added" }
  return { event: "signed-in", ...(way && { way }) }
}

const WRONG = new Set([
  "INVALID_EMAIL_OR_PASSWORD",
  "INVALID_CODE",
  "INVALID_BACKUP_CODE",
  "AUTHENTICATION_FAILED",
  "USER_NOT_VERIFIED",
])

/** Only for an existing account, and only after the response. */
async function recordFailure(
  call: GenericEndpointContext,
  { db, record, afterResponse }: Settings,
  code: string | undefined,
) {
  const { way } = callOf(call.path)
  if (!way || !WRONG.has(code ?? "")) return
  const from = senderOfCall(call)
  const challenged = VERIFYING.has(call.path) ? await challengedUser(call) : null
  afterResponse(async () => {
    const userId =
      way === "passkey"
        ? await ownerOfPasskey(db, String(call.body?.response?.id))
        : way === "password"
          ? await ownerOfAddress(db, String(call.body?.email))
          : challenged
    if (userId !== null) await record({ userId, event: "sign-in-failed", way, from })
  })
}

async function ownerOfAddress(db: Database, email: string): Promise<string | null> {
  const isTheirs = eq(authUser.email, email.trim().toLowerCase())
  const [user] = await db.select({ id: authUser.id }).from(authUser).where(isTheirs)
  return user?.id ?? null
}
