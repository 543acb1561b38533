import type { Database } from "#db/client.ts"
import type { Config } from "#server/config.ts"
import { findOpen } from "#server/spaces/invitations.ts"
import type { LinkSettings } from "#server/waitlist/links.ts"
import { findInvitation } from "#server/waitlist/waitlist.ts"

export type InvitationSettings = LinkSettings & { identity: Pick<Config["identity"], "signup"> }

/**
 * The address that the token of an invitation lets sign up where sign-up is not open to everybody: the
 * operator's invitation, or one to a space if the operator lets owners of spaces invite. Null for any
 * other.
 */
export async function findInvited(
  { db, config }: { db: Database; config: InvitationSettings },
  token: string,
): Promise<{ email: string } | null> {
  const place = await findInvitation({ db, config }, token)
  if (place !== null || config.identity.signup !== "invited") return place
  const toSpace = await findOpen({ db }, token)
  return toSpace?.email ? { email: toSpace.email } : null
}
