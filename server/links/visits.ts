import { and, eq, gt, isNull, or, type SQL } from "drizzle-orm"
import type { PgColumn } from "drizzle-orm/pg-core"
import { spaceMembers } from "#db/schema/spaces.ts"
import { users, type User } from "#db/schema/users.ts"
import { Refusal } from "#server/errors.ts"
import type { Scope } from "#server/scope.ts"
import type { RateLimit } from "#server/transport/rate-limit.ts"
import type { LinkRow } from "./contract.ts"
import { hasShown, linkCookie, type Link } from "./cookies.ts"
import { isLinkPassword } from "./password.ts"
import type { LinkTarget, StoredLink } from "./target.ts"
import { hashLinkToken, isLinkToken } from "#server/link-token.ts"

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

type Unlocking = Scope<"db" | "config"> & { limiters: Pick<Scope<"limiters">["limiters"], "sharePassword"> }

/** A visitor's guess; `network` is what `networkIn` returns. */
export interface Guess {
  password: string
  network: string
}

/**
 * The link, what it opens, and who created it. Throws `NoSuchLink`, also for what is in the trash or
 * in a space that the person who created the link can no longer see, and for a used-up link, except
 * to the browser whose download was counted.
 */
export async function findLink<Stored extends StoredLink, Thing>(
  scope: Scope<"db" | "config">,
  { links, things, of, isUsedUp }: LinkTarget<never, LinkRow, Stored, Thing>,
  token: string,
  request: Request,
): Promise<{ link: Stored; thing: Thing; owner: User }> {
  if (!isLinkToken(token)) throw new NoSuchLink()
  const [found] = await scope.db
    .select({ link: links, thing: things, owner: users })
    .from(links)
    .innerJoin(things, eq(things._id, of))
    .innerJoin(users, eq(users._id, links.userId))
    .leftJoin(
      spaceMembers,
      and(eq(spaceMembers.spaceId, things.spaceId), eq(spaceMembers.userId, links.userId)),
    )
    .where(
      and(
        eq(links.tokenHash, hashLinkToken(token)),
        eq(things.trashed, false),
        or(isNull(things.spaceId), eq(spaceMembers.trashed, false)),
        isNotOver(links.expiresAt),
      ),
    )
  if (!found) throw new NoSuchLink()
  // Whose columns the tables have is known to the target alone.
  const { link, thing, owner } = found as unknown as { link: Stored; thing: Thing; owner: User }
  if (isUsedUp?.(link) && !hasShown(scope, "download", link, request)) throw new NoSuchLink()
  return { link, thing, owner }
}

/**
 * Returns the cookie for the right password, null for a wrong one, or the limit that was reached.
 * The cookie is valid for this link alone. Throws `NoSuchLink`.
 */
export async function unlockLink<Stored extends StoredLink>(
  scope: Unlocking,
  target: LinkTarget<never, LinkRow, Stored>,
  token: string,
  { password, network }: Guess,
  request: Request,
): Promise<{ cookie: string | null } | { limit: RateLimit }> {
  const { link } = await findLink(scope, target, token, request)
  const cookie = () => linkCookie(scope, "password", { link, path: `${target.path}/${token}` })
  if (link.passwordHash === null) return { cookie: cookie() }
  const limit = checkGuess(scope, link._id, network)
  if (!limit.success) return { limit }
  return { cookie: (await isLinkPassword(link.passwordHash, password)) ? cookie() : null }
}

function checkGuess({ limiters }: Unlocking, linkId: string, network: string): RateLimit {
  const own = limiters.sharePassword.check(`${linkId} ${network}`, MOST_GUESSES.ofNetwork)
  return own.success ? limiters.sharePassword.check(linkId, MOST_GUESSES.ofLink) : own
}

/** Whether the visitor has shown the link's password or began a download, or it has no password. */
export function isOpen(scope: Scope<"config">, link: Link, request: Request): boolean {
  return (
    link.passwordHash === null ||
    hasShown(scope, "password", link, request) ||
    hasShown(scope, "download", link, request)
  )
}

/** A condition: the link has not expired. */
export function isNotOver(expiresAt: PgColumn): SQL | undefined {
  return or(isNull(expiresAt), gt(expiresAt, Date.now()))
}
