import type { Scope } from "../scope.ts"

/**
 * Whether the viewer administers this installation: by an address among ADMIN_EMAILS that the identity provider says is theirs and
 * verified, and in a browser. A program with a key of theirs is not an operator.
 */
export async function isOperator({
  config,
  identity,
  viewer,
}: Scope<"config" | "identity" | "viewer">): Promise<boolean> {
  const { session, user } = viewer
  const isListed = (email: string | null) =>
    email !== null && config.adminEmails.includes(email.toLowerCase())
  // The record is asked first: for nearly everybody it says no, and asking the provider can be a call over the network.
  if (session.via !== "cookie" || !isListed(user.email)) return false
  const person = await identity.getUser(session.userId)
  return person !== null && person.emailVerified && isListed(person.email)
}
