import { and, eq, exists, inArray, or, sql, type SQL } from "drizzle-orm"
import type { PgColumn, PgTable } from "drizzle-orm/pg-core"
import * as v from "valibot"
import type { Database } from "#db/client.ts"
import { PERSONAL, ROLES, spaceMembers, type Role } from "#db/schema/spaces.ts"
import { Forbidden, NotFound } from "#server/errors.ts"
import type { Missing } from "#server/refusal-contract.ts"
import type { Scope } from "#server/scope.ts"
import { SpaceId } from "./place-contract.ts"

/** The columns that say where a row is: personal to somebody, or in a space. */
export interface Placed {
  userId: PgColumn
  spaceKey: PgColumn
}

/** The viewer, or somebody for whom a process goes on later. */
interface Asking {
  db: Database
  viewer: { user: { _id: string } }
}

export const EDITORS = ["owner", "editor"] as const satisfies readonly Role[]

/** Rows that are personal to the viewer. */
export function isPersonal({ viewer }: Scope<"viewer">, { userId, spaceKey }: Placed): SQL | undefined {
  return and(eq(userId, viewer.user._id), eq(spaceKey, PERSONAL))
}

/** Rows in one place: the viewer's own, or a space's if the viewer is a member of it. */
export function isInPlace(
  scope: Scope<"db" | "viewer">,
  table: Placed,
  spaceId: string | undefined,
): SQL | undefined {
  if (spaceId === undefined) return isPersonal(scope, table)
  return and(eq(table.spaceKey, spaceId), exists(membership(scope, table.spaceKey)))
}

/** Rows of those among these spaces that the viewer is a member of. */
export function isInSpaces(
  scope: Scope<"db" | "viewer">,
  table: Placed,
  spaceIds: readonly string[],
): SQL | undefined {
  return and(inArray(table.spaceKey, [...spaceIds]), exists(membership(scope, table.spaceKey)))
}

/** The ids of the viewer's spaces, for queries that find rows by an index over the space. */
export async function listSpaceIds({ db, viewer }: Scope<"db" | "viewer">): Promise<string[]> {
  const own = await db
    .select({ spaceId: spaceMembers.spaceId })
    .from(spaceMembers)
    .where(ownMemberships({ viewer }))
  return own.map(({ spaceId }) => spaceId)
}

/** Rows that the viewer may see, personal or in any of their spaces. */
export function mayRead(scope: Scope<"db" | "viewer">, table: Placed): SQL | undefined {
  return or(isPersonal(scope, table), exists(membership(scope, table.spaceKey)))
}

/**
 * Rows that the viewer may change. It locks the membership against a removal and a lowered role
 * until the transaction ends, so that none of their changes is committed after either.
 */
export function mayEdit(scope: Scope<"db" | "viewer">, table: Placed): SQL | undefined {
  return or(isPersonal(scope, table), exists(membership(scope, table.spaceKey, EDITORS).for("key share")))
}

/**
 * The viewer's role in a space, locked as `mayEdit` does if `db` is a transaction. What only the
 * owner may do waits for whatever else the owner is doing there. Throws
 * `NotFound` for a space that they are not a member of, and `Forbidden` if they need another role.
 */
export async function requireMember(
  { db, viewer }: Asking,
  spaceId: string,
  roles: readonly Role[] = ROLES,
): Promise<Role> {
  if (!v.is(SpaceId, spaceId)) throw new NotFound("space")
  const [member] = await db
    .select({ role: spaceMembers.role })
    .from(spaceMembers)
    .where(and(ownMemberships({ viewer }), eq(spaceMembers.spaceId, spaceId)))
    .for(roles.includes("editor") ? "key share" : "update")
  if (!member) throw new NotFound("space")
  if (!roles.includes(member.role))
    throw new Forbidden(roles.includes("editor") ? "space-reader" : "space-owner-only")
  return member.role
}

/**
 * After a statement that found nothing to change: throws `Forbidden` if the viewer may see it, and
 * `NotFound` otherwise.
 */
export async function refuseChange(
  scope: { db: Database } & Scope<"viewer">,
  table: PgTable & Placed,
  which: SQL | undefined,
  missing: Missing,
): Promise<never> {
  const [seen] = await scope.db
    .select({ spaceKey: table.spaceKey })
    .from(table)
    .where(and(mayRead(scope, table), which))
  if (seen && seen.spaceKey !== PERSONAL) await requireEditor(scope, String(seen.spaceKey))
  throw new NotFound(missing)
}

/** Throws as `requireMember` does unless the viewer may add to the space. */
export async function requireEditor(scope: Asking, spaceId: string): Promise<void> {
  await requireMember(scope, spaceId, EDITORS)
}

/** Changes what is in a space, in one transaction. Throws as `requireEditor` does. */
export function inSpace<Result>(
  scope: Scope<"db" | "viewer">,
  spaceId: string,
  change: (db: Database) => PromiseLike<Result>,
): Promise<Result> {
  return scope.db.transaction(async (db) => {
    await requireEditor({ ...scope, db }, spaceId)
    return change(db)
  })
}

/** The viewer's memberships in spaces that are not in the trash. */
export function ownMemberships({ viewer }: Pick<Asking, "viewer">): SQL | undefined {
  return and(eq(spaceMembers.userId, viewer.user._id), eq(spaceMembers.trashed, false))
}

function membership(
  { db, viewer }: { db: Database } & Scope<"viewer">,
  spaceKey: PgColumn,
  roles?: readonly Role[],
) {
  return db
    .select({ one: sql`1` })
    .from(spaceMembers)
    .where(
      and(
        ownMemberships({ viewer }),
        eq(spaceMembers.spaceId, spaceKey),
        roles && inArray(spaceMembers.role, [...roles]),
      ),
    )
}
