import { generate } from "lean-qr"
import { toSvgPath } from "lean-qr/extras/svg"
import * as v from "valibot"
import type { AccountOutcome } from "#server/ports/account-forms.ts"
import type { FactorProof } from "#server/ports/own-account.ts"
import type { Visit } from "#server/ports/session.ts"
import type { Scope } from "#server/scope.ts"
import { AuthenticatorUri } from "./contract.ts"
import { requireOwnAccount } from "./own-account.ts"

/** The secret for an authenticator app: as a QR code, as a link, and as text to type. */
export interface AuthenticatorSetup {
  uri: string
  /** In groups of four. */
  secret: string
  /** An SVG path on a square of `size` units, without the margin that a scanner needs. */
  qrCode: { path: string; size: number }
}

/**
 * What the viewer has to do next: set up a factor, or show the one that they have, which may be a
 * passkey; `done` if they have shown it. Null if the identity provider handles second factors
 * itself.
 */
export async function findNextStep({
  identity,
  viewer,
}: Scope<"identity" | "viewer">): Promise<"set-up" | "show" | "show-passkey" | "done" | null> {
  const { secondFactor, userId } = viewer.session
  if (!identity.ownAccount || secondFactor === undefined) return null
  if (secondFactor === "missing") return "show"
  if (secondFactor === "none")
    return (await identity.ownAccount.listPasskeys(userId)).length > 0 ? "show-passkey" : "set-up"
  return (await identity.ownAccount.findSecondFactor(userId)) ? "done" : "set-up"
}

export async function beginSecondFactor(
  scope: Scope<"identity">,
  visit: Visit,
  password: string | null,
): Promise<(AccountOutcome & { ok: false }) | { ok: true; headers: Headers; setup: AuthenticatorSetup }> {
  const begun = await requireOwnAccount(scope).beginSecondFactor(visit, password)
  return begun.ok ? { ...begun, setup: describeSetup(v.parse(AuthenticatorUri, begun.uri)) } : begun
}

/** Signs out every other browser. Its live connections end with its session. */
export function confirmSecondFactor(scope: Scope<"identity" | "viewer">, visit: Visit, code: string) {
  const { userId } = scope.viewer.session
  return requireOwnAccount(scope).confirmSecondFactor(visit, { userId, code })
}

export function renewRecoveryCodes(scope: Scope<"identity">, visit: Visit, proof: FactorProof) {
  return requireOwnAccount(scope).renewRecoveryCodes(visit, proof)
}

export function removeSecondFactor(
  scope: Scope<"identity">,
  visit: Visit,
  proof: FactorProof,
): Promise<AccountOutcome> {
  return requireOwnAccount(scope).removeSecondFactor(visit, proof)
}

/** For a form that is shown again: the address as it was sent. */
export function describeSetup(uri: string): AuthenticatorSetup {
  const secret = new URL(uri).searchParams.get("secret") ?? ""
  const code = generate(uri)
  return {
    uri,
    secret: secret.match(/.{1,4}/g)?.join(" ") ?? "",
    qrCode: { path: toSvgPath(code), size: code.size },
  }
}
