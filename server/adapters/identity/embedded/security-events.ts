import type { GenericEndpointContext } from "better-auth"
import { isAPIError } from "better-auth/api"
import { eq } from "drizzle-orm"
import type { Database } from "#db/client.ts"
import { authApiKey, authUser } from "#db/schema/auth.ts"
import type { SecurityEvent } from "#server/accounts/security-contract.ts"
import type { AuthSettings } from "./auth-settings.ts"
import { CONFIRM_ADDRESS } from "./confirm-address.ts"
import { ownerOfPasskey, VERIFY_PASSKEY } from "./passkeys.ts"
import { senderOfCall } from "./sender.ts"
import { challengedUser, VERIFY_TOTP, VERIFYING } from "./second-factor.ts"
import { ENTER } from "./sso-enter.ts"

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
  const way = newSession && wayOf(path)
  if (!way) return
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
    case "/change-password":
      return { event: "password-changed" }
    case "/two-factor/disable":
      return { event: "second-factor-removed" }
    case "/two-factor/generate-backup-codes":
      return { event: "recovery-codes-renewed" }
    case "/api-key/create": {
      const { name = null, start = null } = returned as { name?: string | null; start?: string | null }
      return request ? { event: "key-created", facts: { name: name ?? "", start: start ?? "" } } : null
    }
    case "/api-key/delete": {
      const facts = request && doomed.get(request)
      return { event: "key-deleted", ...(facts && { facts }) }
    }
  }
  if (!VERIFYING.has(path) || !session) return null
  // Setting up a factor replaces the session; showing it in a session that has not shown it yet
  // does not.
  if (newSession) return { event: "second-factor-added" }
  return { event: "signed-in", way: path === VERIFY_TOTP ? "code" : "recovery-code" }
}

function wayOf(path: string): SecurityEvent["way"] {
  if (path === "/sign-in/email") return "password"
  if (path === ENTER) return "provider"
  if (path === VERIFY_PASSKEY) return "passkey"
  if (path === CONFIRM_ADDRESS) return "email-link"
  if (VERIFYING.has(path)) return path === VERIFY_TOTP ? "code" : "recovery-code"
  return undefined
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
  const isPassword = call.path === "/sign-in/email"
  const isPasskey = call.path === VERIFY_PASSKEY
  if (!WRONG.has(code ?? "") || (!isPassword && !isPasskey && !VERIFYING.has(call.path))) return
  const event = { event: "sign-in-failed", from: senderOfCall(call) } as const
  if (isPasskey) {
    const credentialId = String(call.body?.response?.id)
    return afterResponse(async () => {
      const userId = await ownerOfPasskey(db, credentialId)
      if (userId !== null) await record({ ...event, userId, way: "passkey" })
    })
  }
  if (!isPassword) {
    const userId = await challengedUser(call)
    const way = call.path === VERIFY_TOTP ? "code" : "recovery-code"
    if (userId !== null) afterResponse(() => record({ ...event, userId, way }))
    return
  }
  const email = String(call.body?.email).trim().toLowerCase()
  afterResponse(async () => {
    const [user] = await db.select({ id: authUser.id }).from(authUser).where(eq(authUser.email, email))
    if (user) await record({ ...event, userId: user.id, way: "password" })
  })
}
