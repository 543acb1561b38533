import { randomUUID } from "node:crypto"
import { and, desc, eq, inArray } from "drizzle-orm"
import * as v from "valibot"
import type { Database } from "#db/client.ts"
import { Conflict, NotFound } from "#server/errors.ts"
import { createOnce, type Once } from "#server/operations/once.ts"
import type { Scope } from "#server/scope.ts"
import { mayEdit, mayRead, refuseChange } from "#server/spaces/access.ts"
import { LinkId, type LinkLimits, type LinkRow, type NewLink } from "./contract.ts"
import { hashLinkPassword } from "./password.ts"
import type { LinkTarget, StoredLink } from "./target.ts"
import { createLinkToken, repeatLinkToken } from "#server/link-token.ts"

/** Links to one thing. */
const MOST_LINKS = 100

/**
 * Creates a public link. Its URL is in the response and nowhere else: with a key that came before, it
 * is computed again. Throws `NotFound`, `Forbidden` for what the viewer may only read, `Conflict` for
 * one link too many, and `Unprocessable` or `Conflict` for a key.
 */
export async function createLink<Limits extends LinkLimits, Row extends LinkRow>(
  scope: Scope<"db" | "config" | "viewer">,
  target: LinkTarget<Limits, Row>,
  thingId: string,
  limits: Limits,
  once?: Once,
): Promise<NewLink<Row>> {
  if (!v.is(LinkId, thingId)) throw new NotFound(target.name)
  const passwordHash = limits.password ? await hashLinkPassword(limits.password) : null
  const salt = randomUUID()
  const { token, ...secret } = once ? repeatLinkToken(scope.config, salt) : createLinkToken()
  const created = await scope.db.transaction((tx) => {
    const inside = { ...scope, db: tx }
    return createOnce(inside, once, ["share", thingId, limits], async () => ({
      share: await insertLink(inside, target, thingId, limits, { ...secret, passwordHash }),
      salt,
    }))
  })
  const last = created.salt === salt ? token : repeatLinkToken(scope.config, created.salt).token
  return { share: created.share, url: `${scope.config.origin}${target.path}/${last}` }
}

async function insertLink<Limits extends LinkLimits, Row extends LinkRow>(
  scope: { db: Database } & Scope<"viewer">,
  target: LinkTarget<Limits, Row>,
  thingId: string,
  limits: Limits,
  secret: Pick<StoredLink, "tokenHash" | "hint" | "passwordHash">,
): Promise<Row> {
  const { db, viewer } = scope
  const { things, links } = target
  const here = and(eq(things._id, thingId), eq(things.trashed, false))
  // Locked, so that concurrent requests count the links one after the other, and none is created
  // for what has just been deleted.
  const [thing] = await db
    .select()
    .from(things)
    .where(and(mayEdit(scope, things), here))
    .for("no key update")
  if (!thing) return refuseChange(scope, things, here, target.name)
  if ((await db.$count(links, eq(target.of, thingId))) >= MOST_LINKS)
    throw new Conflict(target.tooMany, { most: MOST_LINKS })
  const [made] = await db
    .insert(links)
    .values({
      ...secret,
      userId: viewer.user._id,
      expiresAt: limits.expiresAt ?? null,
      ...(await target.valuesOf(scope, thing as never, limits)),
    })
    .returning()
  if (!made) throw new Error("The database returned no row for the new link.")
  return target.rowOf(made as never)
}

/** The links to something, newest first. Throws `NotFound`. */
export async function listLinks<Row extends LinkRow>(
  scope: Scope<"db" | "viewer">,
  { things, links, of, name, rowOf }: LinkTarget<never, Row>,
  thingId: string,
): Promise<Row[]> {
  if (!v.is(LinkId, thingId)) throw new NotFound(name)
  const here = and(mayRead(scope, things), eq(things._id, thingId), eq(things.trashed, false))
  if ((await scope.db.$count(things, here)) === 0) throw new NotFound(name)
  const rows = await scope.db
    .select()
    .from(links)
    .where(and(mayRead(scope, links), eq(of, thingId)))
    .orderBy(desc(links._id))
  return rows.map((row) => rowOf(row as never))
}

/**
 * Invalidates the URL, and ends what its visitors follow; a download that has begun continues. Throws
 * `NotFound`, `Forbidden`.
 */
export async function revokeLink(
  scope: Scope<"db" | "viewer">,
  { name, things, links, of, afterRevoking }: LinkTarget<never, LinkRow>,
  linkId: string,
): Promise<void> {
  if (!v.is(LinkId, linkId)) throw new NotFound("link")
  const here = eq(links._id, linkId)
  await scope.db.transaction(async (tx) => {
    const [revoked] = await tx
      .delete(links)
      .where(and(mayEdit(scope, links), here))
      .returning({ thingId: of })
    if (!revoked) {
      const listed = tx.select({ _id: things._id }).from(things).where(eq(things.trashed, false))
      // Nobody who only reads is told of a conversation in the trash.
      const seen = name === "conversation" ? and(here, inArray(of, listed)) : here
      return refuseChange({ ...scope, db: tx }, links, seen, "link")
    }
    await afterRevoking?.(tx, String(revoked.thingId))
  })
}
