import type { Config } from "#server/config.ts"
import { NotFound } from "#server/errors.ts"
import type { AccountOutcome } from "#server/ports/account-forms.ts"
import type { Visit } from "#server/ports/session.ts"
import type { PasskeyAttestation } from "#server/ports/passkey-contract.ts"
import type { Scope } from "#server/scope.ts"
import { requireOwnAccount } from "./own-account.ts"

/**
 * Milliseconds. How recent the sign-in of a person without a password must be: people who sign in
 * by a provider prove who they are by having just done so.
 */
const RECENT = 15 * 60 * 1000

type Refused = AccountOutcome & { ok: false }
type Asking = Scope<"identity" | "viewer"> & { config: Pick<Config, "adminEmails"> }

/**
 * The JSON options with which the browser creates a passkey, and the cookie that belongs to them.
 * Requires the password of an account that has one.
 */
export async function beginPasskey(
  scope: Asking,
  visit: Visit,
  password: string | null,
): Promise<Refused | { ok: true; headers: Headers; options: string }> {
  const refusal = await refuseUnproven(scope, password)
  return refusal ?? requireOwnAccount(scope).beginPasskey(visit, scope.viewer.session.userId)
}

/**
 * No proof is required again: the options, which the browser responds to, were issued for the
 * password.
 */
export function addPasskey(
  scope: Scope<"identity" | "viewer">,
  visit: Visit,
  passkey: { name: string; attestation: PasskeyAttestation },
): Promise<AccountOutcome> {
  return requireOwnAccount(scope).addPasskey(visit, scope.viewer.session.userId, passkey)
}

/** Throws NotFound. */
export async function renamePasskey(
  scope: Scope<"identity" | "viewer">,
  passkey: { id: string; name: string },
): Promise<void> {
  const { userId } = scope.viewer.session
  if (!(await requireOwnAccount(scope).renamePasskey(userId, passkey))) throw new NotFound("passkey")
}

/**
 * Signs out the other browsers that signed in with it. Requires the same proof as adding one.
 * Throws NotFound; null when it is removed.
 */
export async function removePasskey(
  scope: Asking,
  visit: Visit,
  { id, password }: { id: string; password: string | null },
): Promise<Refused | null> {
  const refusal = await refuseUnproven(scope, password)
  if (refusal) return refusal
  const { userId, sessionId } = scope.viewer.session
  const removed = await requireOwnAccount(scope).removePasskey(visit, {
    userId,
    sessionId: sessionId ?? "",
    id,
  })
  if (!removed) throw new NotFound("passkey")
  return null
}

/**
 * Someone who finds an open browser can change nothing, and someone who knows an operator's
 * password cannot bypass the passkey by adding another.
 */
async function refuseUnproven(scope: Asking, password: string | null): Promise<Refused | null> {
  const { config, viewer } = scope
  const { userId, sessionId, secondFactor } = viewer.session
  const ownAccount = requireOwnAccount(scope)
  const isOperator = config.adminEmails.includes(viewer.user.email.toLowerCase())
  if (isOperator && secondFactor !== "shown" && (await ownAccount.listPasskeys(userId)).length > 0)
    return refuse("passkey-needed")
  if (await ownAccount.hasPassword(userId)) return ownAccount.checkPassword(userId, password ?? "")
  const session = (await ownAccount.listSessions(userId)).find(({ id }) => id === sessionId)
  return session && session.createdAt > Date.now() - RECENT ? null : refuse("sign-in-again")
}

function refuse(problem: Refused["problem"]): Refused {
  return { ok: false, problem, status: 403, retryAfter: null }
}
