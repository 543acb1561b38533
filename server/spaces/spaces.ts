import { and, asc, eq, like, ne, sql } from "drizzle-orm"
import * as v from "valibot"
import type { Database } from "#db/client.ts"
import { spaceMembers, spaces } from "#db/schema/spaces.ts"
import { users } from "#db/schema/users.ts"
import { Conflict, Forbidden, NotFound, requireRow } from "#server/errors.ts"
import type { Scope } from "#server/scope.ts"
import { ownMemberships, requireMember } from "./access.ts"
import { type ChangeSpace, type CreateSpace, type Membership, Slug, type SpaceSummary } from "./contract.ts"
import { SpaceId } from "./place-contract.ts"
import { numberedSlug, slugOf } from "./slug.ts"

/** The viewer's spaces, in the order in which they joined them. */
export function listSpaces({ db, viewer }: Scope<"db" | "viewer">, id?: string): Promise<SpaceSummary[]> {
  return db
    .select({ ...summary, role: spaceMembers.role })
    .from(spaceMembers)
    .innerJoin(spaces, eq(spaces._id, spaceMembers.spaceId))
    .where(and(ownMemberships({ viewer }), id === undefined ? undefined : eq(spaces._id, id)))
    .orderBy(asc(spaceMembers._id))
}

/** One of the viewer's spaces. Throws `NotFound`. */
export async function findSpace(scope: Scope<"db" | "viewer">, id: string): Promise<SpaceSummary> {
  if (!v.is(SpaceId, id)) throw new NotFound("space")
  return requireRow(listSpaces(scope, id), "space")
}

/** The viewer's membership in the space with this address. Throws `NotFound`. */
export async function findMembership(
  { db, viewer }: Scope<"db" | "viewer">,
  slug: string,
): Promise<Membership> {
  if (!v.is(Slug, slug)) throw new NotFound("space")
  const found = db
    .select(membershipColumns)
    .from(spaceMembers)
    .where(and(ownMemberships({ viewer }), eq(spaceMembers.spaceSlug, slug)))
  return requireRow(found, "space")
}

/**
 * The viewer becomes its owner. Throws `Conflict` if they own too many, and `Forbidden` if the operator
 * offers no spaces.
 */
export async function createSpace(
  scope: Scope<"config" | "db" | "viewer">,
  { name }: CreateSpace,
): Promise<SpaceSummary> {
  if (!scope.config.hasSpaces) throw new Forbidden("spaces-off")
  const userId = scope.viewer.user._id
  return scope.db.transaction(async (tx) => {
    const most = scope.config.spacesPerPerson
    if ((await countOwned(tx, userId)) >= most) throw new Conflict("too-many-spaces", { most })
    const space = await insertSpace({ ...scope, db: tx }, name)
    await tx.insert(spaceMembers).values({ spaceId: space._id, userId, role: "owner" })
    return { ...space, role: "owner" }
  })
}

/**
 * The spaces that a person owns, those in the trash too. In a transaction, which then is the only one
 * that gives them another.
 */
export async function countOwned(tx: Database, userId: string): Promise<number> {
  await tx.select({ _id: users._id }).from(users).where(eq(users._id, userId)).for("no key update")
  return tx.$count(spaceMembers, and(eq(spaceMembers.userId, userId), eq(spaceMembers.role, "owner")))
}

/** Two that are given the same address at the same moment: the later one takes the next. */
async function insertSpace(
  { config, db }: Scope<"config" | "db">,
  name: string,
): Promise<Omit<SpaceSummary, "role">> {
  const slug = slugOf(name)
  const similar = await db
    .select({ slug: spaces.slug })
    .from(spaces)
    .where(like(spaces.slug, `${slug.slice(0, 30)}%`))
  const taken = new Set(similar.map((space) => space.slug))
  for (let number = 1; ; number++) {
    const free = number === 1 ? slug : numberedSlug(slug, number)
    if (taken.has(free) || free === config.spaceForEveryone?.slug) continue
    await lockSlug(db, free)
    const [space] = await db
      .insert(spaces)
      .values({ name, slug: free })
      .onConflictDoNothing()
      .returning(summary)
    if (space) return space
  }
}

/** Its owner gives it another name or address. Throws `NotFound`, `Forbidden`, `Conflict`. */
export function changeSpace(
  scope: Scope<"config" | "db" | "viewer">,
  id: string,
  { name, slug }: ChangeSpace,
): Promise<SpaceSummary> {
  return scope.db.transaction(async (tx) => {
    const inside = { ...scope, db: tx }
    await requireMember(inside, id, ["owner"])
    if (slug !== undefined) await requireFreeSlug(inside, id, slug)
    if (name !== undefined || slug !== undefined)
      await tx.update(spaces).set({ name, slug }).where(eq(spaces._id, id))
    return findSpace(inside, id)
  })
}

/** Makes two who want the same address wait for each other. */
async function lockSlug(db: Database, slug: string): Promise<void> {
  await db.execute(sql`select pg_advisory_xact_lock(hashtext(${`space ${slug}`}))`)
}

/** Everybody who signs up joins the space with the operator's address, so nobody else may take it. */
async function requireFreeSlug(
  { config, db }: Scope<"config" | "db">,
  id: string,
  slug: string,
): Promise<void> {
  await lockSlug(db, slug)
  const [present] = await db.select({ slug: spaces.slug }).from(spaces).where(eq(spaces._id, id))
  if (present?.slug === slug) return
  const reserved = config.spaceForEveryone?.slug
  if (reserved !== undefined && [slug, present?.slug].includes(reserved))
    throw new Conflict("space-slug-reserved", { slug: reserved })
  if ((await db.$count(spaces, eq(spaces.slug, slug))) > 0) throw new Conflict("space-slug-taken", { slug })
}

/** What the viewer added stays. Throws `NotFound`, and `Conflict` for the owner. */
export async function leaveSpace(scope: Scope<"db" | "viewer">, id: string): Promise<void> {
  if (!v.is(SpaceId, id)) throw new NotFound("space")
  // In one statement: two requests that first lock the membership to read it would wait for each
  // other.
  const [left] = await scope.db
    .delete(spaceMembers)
    .where(and(ownMemberships(scope), eq(spaceMembers.spaceId, id), ne(spaceMembers.role, "owner")))
    .returning({ _id: spaceMembers._id })
  if (left) return
  await requireMember(scope, id)
  throw new Conflict("space-owner-leaving")
}

/**
 * Closes it for everybody at this commit; its owner can restore it for 30 days. Throws `NotFound`,
 * `Forbidden`.
 */
export function trashSpace(scope: Scope<"db" | "viewer">, id: string): Promise<void> {
  return scope.db.transaction(async (tx) => {
    await requireMember({ ...scope, db: tx }, id, ["owner"])
    await tx.update(spaces).set({ trashed: true, trashedAt: Date.now() }).where(eq(spaces._id, id))
  })
}

/** With its members and everything in it. Throws `NotFound` if it is not in the owner's trash. */
export function restoreSpace(scope: Scope<"db" | "viewer">, id: string): Promise<SpaceSummary> {
  return scope.db.transaction(async (tx) => {
    const inside = { ...scope, db: tx }
    const owned = and(
      eq(spaceMembers.userId, scope.viewer.user._id),
      eq(spaceMembers.spaceId, id),
      eq(spaceMembers.role, "owner"),
      eq(spaceMembers.trashed, true),
    )
    if (!v.is(SpaceId, id) || (await tx.$count(spaceMembers, owned)) === 0) throw new NotFound("space")
    await tx.update(spaces).set({ trashed: false, trashedAt: null }).where(eq(spaces._id, id))
    return findSpace(inside, id)
  })
}

/** The columns of a `SpaceSummary`, without the role. */
const summary = {
  _id: spaces._id,
  _creationTime: spaces._creationTime,
  name: spaces.name,
  slug: spaces.slug,
  pictureId: spaces.pictureId,
}

const membershipColumns = {
  _id: spaceMembers._id,
  _creationTime: spaceMembers._creationTime,
  spaceId: spaceMembers.spaceId,
  role: spaceMembers.role,
  spaceName: spaceMembers.spaceName,
  spaceSlug: spaceMembers.spaceSlug,
  spacePictureId: spaceMembers.spacePictureId,
}
