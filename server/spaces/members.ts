import { and, asc, eq, inArray, max, ne, sql } from "drizzle-orm"
import * as v from "valibot"
import { files, fileUsage } from "#db/schema/files.ts"
import { spaceMembers, spaces } from "#db/schema/spaces.ts"
import { users } from "#db/schema/users.ts"
import { Conflict, NotFound } from "#server/errors.ts"
import { limitsOf } from "#server/plans/limits.ts"
import type { Scope } from "#server/scope.ts"
import { requireMember } from "./access.ts"
import { MemberId, type ChangeMember } from "./contract.ts"
import { barFromInvitations } from "./invitations.ts"
import { countOwned } from "./spaces.ts"

/** By the owner. Throws `NotFound`, `Forbidden`, and `Conflict` for the owner's own role. */
export function setRole(
  scope: Scope<"db" | "viewer">,
  spaceId: string,
  userId: string,
  { role }: ChangeMember,
): Promise<void> {
  return scope.db.transaction(async (tx) => {
    const inside = { ...scope, db: tx }
    await requireMember(inside, spaceId, ["owner"])
    const member = await requireOther(inside, spaceId, userId)
    await tx.update(spaceMembers).set({ role }).where(member)
    if (role === "reader") await barFromInvitations(tx, spaceId, userId, ["editor"])
  })
}

/**
 * Takes a member's access away at this commit, in every process (the rule `announce_lost_access`). What
 * they added stays. Throws
 * `NotFound`, `Forbidden`, and `Conflict` for the owner.
 */
export function removeMember(scope: Scope<"db" | "viewer">, spaceId: string, userId: string): Promise<void> {
  return scope.db.transaction(async (tx) => {
    const inside = { ...scope, db: tx }
    await requireMember(inside, spaceId, ["owner"])
    const member = await requireOther(inside, spaceId, userId)
    await barFromInvitations(tx, spaceId, userId, ["editor", "reader"])
    await tx.delete(spaceMembers).where(member)
  })
}

/**
 * Makes another member the owner, who then pays for the storage, and the viewer an editor. Throws
 * `NotFound`, `Forbidden`, `Conflict`, also if the member owns too many spaces or lacks the storage.
 */
export function transferSpace(
  scope: Scope<"config" | "db" | "viewer">,
  spaceId: string,
  userId: string,
): Promise<void> {
  if (!v.is(MemberId, userId)) throw new NotFound("member")
  return scope.db.transaction(async (tx) => {
    const inside = { ...scope, db: tx }
    const most = scope.config.spacesPerPerson
    await requireMember(inside, spaceId, ["owner"])
    await requireOther(inside, spaceId, userId)
    // After the memberships, which are locked before everything else.
    const owned = await countOwned(tx, userId)
    if (owned >= most) throw new Conflict("member-owns-too-many", { most })
    await changeOwner(inside, spaceId, { from: scope.viewer.user._id, to: userId })
    await requirePlan(inside, spaceId, userId)
  })
}

/** After the transfer: `hand_over_usage` has counted what the space stores for its new owner. */
async function requirePlan({ config, db }: Scope<"config" | "db">, spaceId: string, userId: string) {
  const largest = db
    .select({ size: max(files.size) })
    .from(files)
    .where(eq(files.spaceId, spaceId))
  const [usage] = await db
    .select({
      used: fileUsage.used,
      reserved: fileUsage.reserved,
      files: fileUsage.files,
      largest: sql<number>`coalesce((${largest}), 0)`.mapWith(Number),
      plan: users.plan,
    })
    .from(fileUsage)
    .innerJoin(users, eq(users._id, fileUsage.userId))
    .where(eq(fileUsage.userId, userId))
  if (!usage) return
  const limits = limitsOf({ plans: config.plans }, { plan: usage.plan ?? "free" })
  const { used, reserved, files: count, largest: size } = usage
  if (used + reserved > limits.quota || count > limits.files || size > limits.largestFile)
    throw new Conflict("member-lacks-space")
}

/** In the caller's transaction, which has locked both memberships. */
export async function changeOwner(
  { db }: Scope<"db">,
  spaceId: string,
  { from, to }: { from: string; to: string },
): Promise<void> {
  await lockUsage({ db }, spaceId, [from, to])
  const memberOf = (userId: string) => and(eq(spaceMembers.spaceId, spaceId), eq(spaceMembers.userId, userId))
  await db.update(spaceMembers).set({ role: "editor" }).where(memberOf(from))
  await db.update(spaceMembers).set({ role: "owner" }).where(memberOf(to))
}

/**
 * Locks what `hand_over_usage` and `payer_in_space` lock, in one order, so that two transfers between the
 * same people do not wait for each other.
 */
async function lockUsage({ db }: Scope<"db">, spaceId: string, userIds: string[]) {
  await db.select({ _id: spaces._id }).from(spaces).where(eq(spaces._id, spaceId)).for("update")
  await db
    .select({ _id: fileUsage._id })
    .from(fileUsage)
    .where(inArray(fileUsage.userId, userIds))
    .orderBy(asc(fileUsage.userId))
    .for("update")
}

/** The condition for a member other than the owner, who is locked. */
async function requireOther({ db, viewer }: Scope<"db" | "viewer">, spaceId: string, userId: string) {
  if (!v.is(MemberId, userId)) throw new NotFound("member")
  if (userId.toLowerCase() === viewer.user._id) throw new Conflict("space-owner-fixed")
  const member = and(
    eq(spaceMembers.spaceId, spaceId),
    eq(spaceMembers.userId, userId),
    ne(spaceMembers.role, "owner"),
  )
  const [found] = await db.select({ _id: spaceMembers._id }).from(spaceMembers).where(member).for("update")
  if (!found) throw new NotFound("member")
  return member
}
