import type { Scope } from "../scope.ts"

/**
 * Whether the viewer administers this installation: by an address among ADMIN_EMAILS that the identity provider says is theirs and
 * verified, and in a browser. A program with a key of theirs is not an operator. `unproven` is somebody whose address is listed and
 * verified, where reading its mail is all that was shown.
 */
export async function findStanding({
  config,
  identity,
  viewer,
}: Scope<"config" | "identity" | "viewer">): Promise<"operator" | "unproven" | "none"> {
  const { session, user } = viewer
  const isListed = (email: string | null) =>
    email !== null && config.adminEmails.includes(email.toLowerCase())
  // The record is asked first: for nearly everybody it says no, and asking the provider can be a call over the network.
  if (session.via !== "cookie" || !isListed(user.email)) return "none"
  const person = await identity.getUser(session.userId)
  if (!person?.emailVerified || !isListed(person.email)) return "none"
  return person.holderConfirmed ? "operator" : "unproven"
}
