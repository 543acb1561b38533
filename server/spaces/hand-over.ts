import { and, asc, eq, inArray, ne, or, sql } from "drizzle-orm"
import { alias } from "drizzle-orm/pg-core"
import * as v from "valibot"
import { spaceMembers, spaces } from "#db/schema/spaces.ts"
import { Conflict } from "#server/errors.ts"
import type { Scope } from "#server/scope.ts"
import { MemberId, type Member } from "./contract.ts"
import { changeOwner } from "./members.ts"
import { SpaceId } from "./place-contract.ts"

/** By a space's id: the id of the member who gets it, or `delete`. */
export type SpaceChoices = ReadonlyMap<string, string>

/** Of each space, in the order of joining. Somebody else is found on its page of members. */
const MOST_OFFERED = 100

/** A space that others are in, too, and who of them can have it. */
export interface SharedSpace {
  spaceId: string
  spaceName: string
  members: Pick<Member, "userId" | "memberName" | "memberEmail">[]
}

/** The spaces with other members that the viewer owns, except those in the trash. */
export async function listSharedSpaces({ db, viewer }: Scope<"db" | "viewer">): Promise<SharedSpace[]> {
  const others = alias(spaceMembers, "others")
  const rows = await db
    .select({
      spaceId: spaceMembers.spaceId,
      spaceName: spaceMembers.spaceName,
      userId: others.userId,
      memberName: others.memberName,
      memberEmail: others.memberEmail,
      place: sql<number>`row_number() over (partition by ${others.spaceId} order by ${others._id})::int`,
    })
    .from(spaceMembers)
    .innerJoin(others, and(eq(others.spaceId, spaceMembers.spaceId), ne(others.userId, spaceMembers.userId)))
    .where(
      and(
        eq(spaceMembers.userId, viewer.user._id),
        eq(spaceMembers.role, "owner"),
        eq(spaceMembers.trashed, false),
      ),
    )
    .orderBy(asc(spaceMembers._id), asc(others._id))
  const shared = new Map<string, SharedSpace>()
  for (const { spaceId, spaceName, place, ...member } of rows) {
    const space = shared.get(spaceId) ?? { spaceId, spaceName, members: [] }
    if (place <= MOST_OFFERED) space.members.push(member)
    shared.set(spaceId, space)
  }
  return [...shared.values()]
}

/** What a form says in its fields `space-<id>`. */
export function readSpaceChoices(fields: Record<string, string>): SpaceChoices {
  const chosen = Object.entries(fields).map(
    ([name, choice]) => [name.replace(/^space-/, ""), choice] as const,
  )
  return new Map(
    chosen.filter(([id, choice]) => v.is(SpaceId, id) && (choice === "delete" || v.is(MemberId, choice))),
  )
}

/** Throws `Conflict` while the viewer owns a space that others are in and that nothing was chosen for. */
export async function requireSpaceChoices(
  scope: Scope<"db" | "viewer">,
  choices: SpaceChoices,
): Promise<void> {
  const left = (await listSharedSpaces(scope)).filter(({ spaceId }) => !choices.has(spaceId))
  if (left.length > 0)
    throw new Conflict("account-owns-spaces", { spaces: left.map(({ spaceName }) => spaceName).join(", ") })
}

/**
 * Hands over or deletes the spaces of a person whose account is being deleted, in its transaction.
 * The rule `leave_spaces_of_person` does it for spaces without a choice, and for those whose chosen member has left: the longest
 * standing editor gets it, or else the longest standing reader, and one without members is deleted.
 */
export async function handOverSpaces(
  { db }: Scope<"db">,
  userId: string,
  choices: SpaceChoices,
): Promise<void> {
  const toDelete = [...choices].flatMap(([spaceId, choice]) => (choice === "delete" ? [spaceId] : []))
  const owned = alias(spaceMembers, "owned")
  const ownedToDelete = db
    .select({ spaceId: owned.spaceId })
    .from(owned)
    .where(and(eq(owned.userId, userId), eq(owned.role, "owner"), inArray(owned.spaceId, toDelete)))
  const locked = await db
    .select({ spaceId: spaceMembers.spaceId, userId: spaceMembers.userId, role: spaceMembers.role })
    .from(spaceMembers)
    .where(or(eq(spaceMembers.userId, userId), inArray(spaceMembers.spaceId, ownedToDelete)))
    .orderBy(asc(spaceMembers.spaceId), asc(spaceMembers._id))
    // Their own, and everybody's in a space that goes, because they are deleted with it: memberships
    // are locked before everything else.
    .for("update")
  for (const { spaceId, userId: memberId, role } of locked) {
    const choice = choices.get(spaceId)
    if (memberId !== userId || role !== "owner" || choice === undefined) continue
    if (choice === "delete") await db.delete(spaces).where(eq(spaces._id, spaceId))
    else if (await isMember({ db }, spaceId, choice))
      await changeOwner({ db }, spaceId, { from: userId, to: choice })
  }
}

async function isMember({ db }: Scope<"db">, spaceId: string, userId: string): Promise<boolean> {
  const found = await db
    .select({ _id: spaceMembers._id })
    .from(spaceMembers)
    .where(and(eq(spaceMembers.spaceId, spaceId), eq(spaceMembers.userId, userId)))
    .for("update")
  return found.length > 0
}
