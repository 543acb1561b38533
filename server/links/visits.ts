import { gt, isNull, or, type SQL } from "drizzle-orm"
import type { PgColumn } from "drizzle-orm/pg-core"
import { Refusal } from "#server/errors.ts"
import type { Scope } from "#server/scope.ts"
import type { RateLimit } from "#server/transport/rate-limit.ts"
import { hasShown, linkCookie, type Link } from "./cookies.ts"
import { isLinkPassword } from "./password.ts"

/**
 * The same response for a URL that never existed, was revoked, has expired or is used up, so that
 * it does not reveal which.
 */
export class NoSuchLink extends Refusal<"link-dead"> {
  constructor() {
    super(404, "NotFound", "link-dead")
  }
}

export class PasswordNeeded extends Refusal<"link-needs-password"> {
  constructor() {
    super(401, "PasswordNeeded", "link-needs-password")
  }
}

/**
 * Guesses at the password of one link in ten minutes: from one network, so that nobody locks others
 * out, and from all networks together, so that many addresses do not help.
 */
export const MOST_GUESSES = { ofNetwork: 20, ofLink: 200 }

type Unlocking = Scope<"config"> & { limiters: Pick<Scope<"limiters">["limiters"], "sharePassword"> }

/** A visitor's guess; `network` is what `networkIn` returns. */
export interface Guess {
  password: string
  network: string
}

/**
 * Returns the cookie for the right password, null for a wrong one, or the limit that was reached.
 * The cookie is valid at `path`.
 */
export async function unlockLink(
  scope: Unlocking,
  { link, path }: { link: Link; path: string },
  { password, network }: Guess,
): Promise<{ cookie: string | null } | { limit: RateLimit }> {
  const cookie = () => linkCookie(scope, "password", { link, path })
  if (link.passwordHash === null) return { cookie: cookie() }
  const limit = checkGuess(scope, link._id, network)
  if (!limit.success) return { limit }
  return { cookie: (await isLinkPassword(link.passwordHash, password)) ? cookie() : null }
}

function checkGuess({ limiters }: Unlocking, linkId: string, network: string): RateLimit {
  const own = limiters.sharePassword.check(`${linkId} ${network}`, MOST_GUESSES.ofNetwork)
  return own.success ? limiters.sharePassword.check(linkId, MOST_GUESSES.ofLink) : own
}

/** Whether the visitor has shown the link's password, or it has none. */
export function isUnlocked(scope: Scope<"config">, link: Link, request: Request): boolean {
  return link.passwordHash === null || hasShown(scope, "password", link, request)
}

/** A condition: the link has not expired. */
export function isNotOver(expiresAt: PgColumn): SQL | undefined {
  return or(isNull(expiresAt), gt(expiresAt, Date.now()))
}
