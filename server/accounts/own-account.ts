import type { Scope } from "#server/scope.ts"
import { BadRequest, Forbidden, NotFound } from "#server/errors.ts"
import type { AccountOutcome } from "#server/ports/account-forms.ts"
import type {
  AccountKey,
  AccountPasskey,
  NewKey,
  OwnAccount,
  SecondFactor,
} from "#server/ports/own-account.ts"
import type { Visit } from "#server/ports/session.ts"
import { MOST_KEYS, type SignedInBrowser } from "./contract.ts"

interface OwnAccountState {
  browsers: SignedInBrowser[]
  keys: AccountKey[]
  secondFactor: SecondFactor | null
  /** Null where browsers cannot use any. */
  passkeys: AccountPasskey[] | null
  hasPassword: boolean
  providers: Awaited<ReturnType<OwnAccount["listProviders"]>>
  addressChange: Awaited<ReturnType<OwnAccount["findAddressChange"]>>
}

/** The viewer's browsers, keys and ways to sign in; null if the identity provider has its own account page. */
export async function findOwnAccount(scope: Scope<"identity" | "viewer">): Promise<OwnAccountState | null> {
  const { forms, ownAccount } = scope.identity
  if (!ownAccount) return null
  const { userId, sessionId } = scope.viewer.session
  const [sessions, keys, secondFactor, passkeys, hasPassword, providers, addressChange] = await Promise.all([
    ownAccount.listSessions(userId),
    ownAccount.listKeys(userId),
    ownAccount.findSecondFactor(userId),
    ownAccount.listPasskeys(userId),
    ownAccount.hasPassword(userId),
    ownAccount.listProviders(userId),
    ownAccount.findAddressChange(userId),
  ])
  const browsers = sessions.map(({ id, userAgent, address, createdAt }) => ({
    id,
    userAgent: userAgent ?? "",
    address,
    since: createdAt,
    isThisOne: id === sessionId,
  }))
  return {
    browsers: browsers.toSorted((a, b) => Number(b.isThisOne) - Number(a.isThisOne)),
    keys,
    secondFactor,
    passkeys: forms?.enterWithPasskey || passkeys.length > 0 ? passkeys : null,
    hasPassword,
    providers,
    addressChange,
  }
}

/** False for somebody who signs in by a provider, and where the identity provider keeps passwords. */
export async function accountHasPassword(scope: Scope<"identity" | "viewer">): Promise<boolean> {
  return (await scope.identity.ownAccount?.hasPassword(scope.viewer.session.userId)) ?? false
}

/** Signs out every other browser. Its live connections end with its session. */
export function changePassword(
  scope: Scope<"identity" | "viewer">,
  visit: Visit,
  passwords: { current: string; next: string },
): Promise<AccountOutcome> {
  return requireOwnAccount(scope).changePassword(visit, passwords)
}

/** Emails both addresses a link; the address changes once both are confirmed. */
export function requestAddressChange(
  scope: Scope<"identity" | "viewer">,
  visit: Visit,
  input: { next: string; password: string; code: string },
): Promise<AccountOutcome> {
  return requireOwnAccount(scope).requestAddressChange(visit, scope.viewer.session.userId, input)
}

/** Throws NotFound. */
export async function stopAddressChange(scope: Scope<"identity" | "viewer">, visit: Visit): Promise<void> {
  const { userId } = scope.viewer.session
  if (!(await requireOwnAccount(scope).stopAddressChange(visit, { userId })))
    throw new NotFound("change-of-address")
}

/** Throws NotFound. */
export async function endSession(
  scope: Scope<"identity" | "viewer">,
  visit: Visit,
  id: string,
): Promise<void> {
  const { userId } = scope.viewer.session
  if (!(await requireOwnAccount(scope).endSession(visit, userId, id))) throw new NotFound("session")
}

export async function endOtherSessions(scope: Scope<"identity" | "viewer">, visit: Visit): Promise<void> {
  const { userId, sessionId } = scope.viewer.session
  await requireOwnAccount(scope).endOtherSessions(visit, userId, sessionId ?? "")
}

/**
 * Returns the key, which cannot be read again. Throws `Forbidden` above fifty keys, and `BadRequest`
 * for one that may do nothing.
 */
export async function createKey(
  scope: Scope<"identity" | "viewer">,
  visit: Visit,
  key: NewKey,
): Promise<AccountKey & { key: string }> {
  if (key.scopes?.length === 0) throw new BadRequest("key-without-scopes")
  const made = await requireOwnAccount(scope).createKey(visit, scope.viewer.session.userId, key)
  if (!made) throw new Forbidden("too-many-keys", { most: MOST_KEYS })
  return made
}

/** Throws NotFound. */
export async function deleteKey(
  scope: Scope<"identity" | "viewer">,
  visit: Visit,
  id: string,
): Promise<void> {
  const { userId } = scope.viewer.session
  if (!(await requireOwnAccount(scope).deleteKey(visit, userId, id))) throw new NotFound("key")
}

export function requireOwnAccount({ identity }: Scope<"identity">): OwnAccount {
  if (!identity.ownAccount) throw new Forbidden("account-at-provider")
  return identity.ownAccount
}
