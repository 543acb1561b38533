import { Forbidden, NotFound } from "#server/errors.ts"
import type { Scope } from "#server/scope.ts"

/**
 * Whether the viewer is an operator: their email address is in ADMIN_EMAILS, the identity provider
 * says that it is theirs and verified, and they use a browser. A program with their key is not an
 * operator. `unproven` means that the address is listed and verified, but only access to its
 * mailbox was shown, and `needs-factor` that nothing but a password opened the session.
 */
export async function findStanding({
  config,
  identity,
  viewer,
}: Scope<"config" | "identity" | "viewer">): Promise<"operator" | "unproven" | "needs-factor" | "none"> {
  const { session, user } = viewer
  const isListed = (email: string | null) =>
    email !== null && config.adminEmails.includes(email.toLowerCase())
  // The record comes first: for nearly everybody it says no, and asking the provider can be a
  // network call.
  if (session.via !== "cookie" || !isListed(user.email)) return "none"
  const person = await identity.getUser(session.userId)
  if (!person?.emailVerified || !isListed(person.email)) return "none"
  if (!person.holderConfirmed) return "unproven"
  return session.secondFactor === undefined || session.secondFactor === "shown" ? "operator" : "needs-factor"
}

/** Throws `NotFound`, and `Forbidden` for somebody who would be an operator if they proved more. */
export async function requireOperator(scope: Scope<"config" | "identity" | "viewer">): Promise<void> {
  const standing = await findStanding(scope)
  if (standing === "unproven") throw new Forbidden("operator-unproven")
  if (standing === "needs-factor") throw new Forbidden("operator-without-second-factor")
  if (standing === "none") throw new NotFound("record")
}
