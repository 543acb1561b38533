import { PERSONAL } from "#db/schema/spaces.ts"
import type { Dependency, SnapshotSql } from "#live/open"
import type { Viewer } from "#server/scope.ts"
import { watchedMembers } from "#db/schema/spaces.ts"

/** The `eq` of a range whose rows are the viewer's own, or in a space. */
export function placeOf(viewer: Viewer, spaceId: string | undefined) {
  return spaceId === undefined
    ? { userId: viewer.user._id, spaceKey: PERSONAL }
    : { spaceKey: spaceId.toLowerCase() }
}

export async function isMember(viewer: Viewer, spaceId: string, sql: SnapshotSql): Promise<boolean> {
  const found = await sql`
    select 1 from space_members
    where user_id = ${viewer.user._id}::uuid and space_id = ${spaceId}::uuid and not trashed`
  return found.length > 0
}

/**
 * Ends at the commit that removes the viewer from the space or deletes it. A change of their role
 * does not end it.
 */
export function membershipOf(viewer: Viewer, spaceId: string): Dependency {
  return {
    table: watchedMembers,
    eq: { userId: viewer.user._id, spaceId, trashed: false },
    on: "leave",
  }
}

/**
 * For a list that is the viewer's own, or everybody's in a space: only the latter has to be asked
 * about.
 */
export const ofPlace = {
  isOwn: ({ spaceId }: { spaceId?: string | undefined }) => spaceId === undefined,
  authorize: async (viewer: Viewer, { spaceId }: { spaceId?: string | undefined }, sql: SnapshotSql) =>
    spaceId === undefined || isMember(viewer, spaceId, sql),
  dependencies: ({ spaceId }: { spaceId?: string | undefined }, viewer: Viewer) =>
    spaceId === undefined ? [] : [membershipOf(viewer, spaceId)],
}
