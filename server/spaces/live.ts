import * as v from "valibot"
import { ROLES } from "#db/schema/spaces.ts"
import { defineLiveQuery, defineMutation, rowEntries, type SnapshotSql } from "#server/realtime/live-query.ts"
import type { Scope, Viewer } from "#server/scope.ts"
import { watchedInvitations, watchedMembers, watchedUsers } from "#server/watched-tables.ts"
import { ChangeMember, ChangeSpace, CreateSpace, InvitationId, MemberId, spaceCalls } from "./contract.ts"
import { SpaceId } from "./place-contract.ts"
import { acceptReceived, declineInvitation, revokeInvitation } from "./invitations.ts"
import { isMember, membershipOf } from "./live-access.ts"
import { removeMember, setRole, transferSpace } from "./members.ts"
import { changeSpace, createSpace, leaveSpace, restoreSpace, trashSpace } from "./spaces.ts"

const MEMBERSHIP_FIELDS = [
  "_creationTime",
  "spaceId",
  "role",
  "spaceName",
  "spaceSlug",
  "spacePictureId",
] as const

export const liveMemberships = defineLiveQuery({
  name: "spaces.list",
  description: "The caller's memberships, one for each space they can open, in the order of joining.",
  args: v.strictObject({}),
  table: watchedMembers,
  order: { field: "_id", direction: "asc" },
  range: (_args, viewer: Viewer) => ({ eq: { userId: viewer.user._id, trashed: false } }),
  fields: MEMBERSHIP_FIELDS,
})

export const liveTrashedSpaces = defineLiveQuery({
  name: "spaces.listTrash",
  description: "The spaces that the caller owned and deleted, which can be restored for 30 days.",
  args: v.strictObject({}),
  table: watchedMembers,
  order: { field: "_id", direction: "asc" },
  range: (_args, viewer: Viewer) => ({
    eq: { userId: viewer.user._id, trashed: true, role: "owner" },
  }),
  fields: [...MEMBERSHIP_FIELDS, "trashedAt"],
})

const OfSpace = v.strictObject({ spaceId: SpaceId })

export const liveMembers = defineLiveQuery({
  name: "spaces.members",
  description: "The members of one of the caller's spaces, in the order of joining.",
  args: OfSpace,
  table: watchedMembers,
  order: { field: "_id", direction: "asc" },
  range: ({ spaceId }, _viewer: Viewer) => ({ eq: { spaceId } }),
  authorize: (viewer, { spaceId }, sql) => isMember(viewer, spaceId, sql),
  dependencies: ({ spaceId }, viewer) => [membershipOf(viewer, spaceId)],
  fields: ["_creationTime", "userId", "role", "memberName", "memberEmail", "memberImageUrl"],
})

export const liveInvitations = defineLiveQuery({
  name: "spaces.invitations",
  description: "The open invitations to a space that the caller owns, the newest first.",
  args: OfSpace,
  table: watchedInvitations,
  order: { field: "_id", direction: "desc" },
  range: ({ spaceId }, _viewer: Viewer) => ({ eq: { spaceId } }),
  authorize: (viewer, { spaceId }, sql) => ownsSpace(viewer, spaceId, sql),
  dependencies: ({ spaceId }, viewer) => [
    {
      table: watchedMembers,
      eq: { userId: viewer.user._id, spaceId, trashed: false, role: "owner" },
      on: "leave",
    },
  ],
  fields: ["_creationTime", "email", "role", "hint", "expiresAt", "maxUses", "uses"],
})

export const liveReceivedInvitations = defineLiveQuery({
  name: "spaces.listReceived",
  description:
    "The invitations that were sent to the caller's email address, the newest first. Not found until the caller has confirmed it.",
  args: v.strictObject({}),
  table: watchedInvitations,
  order: { field: "_id", direction: "desc" },
  // Nobody has this address, so that nothing is found for a person without one.
  range: (_args, viewer: Viewer) => ({ eq: { email: viewer.user.email.toLowerCase() || "@" } }),
  authorize: (viewer, _args, sql) => holdsAddress(viewer, sql),
  dependencies: (_args, viewer) => [
    { table: watchedUsers, eq: { clerkId: viewer.user.clerkId }, on: "change" },
  ],
  fields: ["_creationTime", "spaceName", "role", "expiresAt"],
})

export const liveSpaces = [
  liveMemberships,
  liveTrashedSpaces,
  liveMembers,
  liveInvitations,
  liveReceivedInvitations,
]

const SpaceRow = v.strictObject({
  ...rowEntries(watchedMembers, ["_id", "_creationTime"]),
  name: v.string(),
  slug: v.pipe(v.string(), v.description("Part of the space's URLs.")),
  pictureId: v.nullable(v.pipe(v.string(), v.uuid())),
  role: v.picklist(ROLES),
})
const NO_SPACE = { not_found: "There is no such space, or the caller is not a member of it." }
const NOT_OWNER = { forbidden: "The caller does not own the space." }
const NO_INVITATION = { not_found: "There is no such invitation, or it is not the caller's." }

export const spaceMutations = [
  defineMutation({
    name: spaceCalls.create.name,
    description: "Creates a space that the caller owns. Its slug is made from the name.",
    args: v.strictObject(CreateSpace.entries),
    value: SpaceRow,
    refusals: {
      conflict: "The caller owns too many spaces.",
      forbidden: "The operator offers no spaces (`SPACES`).",
    },
    run: (scope: Scope<"config" | "db" | "viewer">, space) => createSpace(scope, space),
  }),
  defineMutation({
    name: spaceCalls.change.name,
    description: "Gives a space another name or slug.",
    args: v.strictObject({ spaceId: SpaceId, ...ChangeSpace.entries }),
    value: SpaceRow,
    refusals: { ...NO_SPACE, ...NOT_OWNER, conflict: "Another space has this slug, or it is reserved." },
    run: (scope: Scope<"config" | "db" | "viewer">, { spaceId, ...changes }) =>
      changeSpace(scope, spaceId, changes),
  }),
  defineMutation({
    name: spaceCalls.leave.name,
    description: "Ends the caller's membership. What they added stays.",
    args: OfSpace,
    refusals: { ...NO_SPACE, conflict: "The caller owns the space." },
    run: (scope: Scope<"db" | "viewer">, { spaceId }) => leaveSpace(scope, spaceId),
  }),
  defineMutation({
    name: spaceCalls.remove.name,
    description: "Deletes a space for all of its members. Its owner can restore it for 30 days.",
    args: OfSpace,
    refusals: { ...NO_SPACE, ...NOT_OWNER },
    run: (scope: Scope<"db" | "viewer">, { spaceId }) => trashSpace(scope, spaceId),
  }),
  defineMutation({
    name: spaceCalls.restore.name,
    description: "Takes a space out of the trash, with its members and everything in it.",
    args: OfSpace,
    value: SpaceRow,
    refusals: { not_found: "There is no such space in the caller's trash." },
    run: (scope: Scope<"db" | "viewer">, { spaceId }) => restoreSpace(scope, spaceId),
  }),
  defineMutation({
    name: spaceCalls.transfer.name,
    description: "Makes another member the owner of a space, and the caller an editor.",
    args: v.strictObject({ spaceId: SpaceId, userId: MemberId }),
    refusals: {
      not_found: "There is no such space or member.",
      ...NOT_OWNER,
      conflict: "It is the owner, or the member owns too many spaces or lacks the storage.",
    },
    run: (scope: Scope<"config" | "db" | "viewer">, { spaceId, userId }) =>
      transferSpace(scope, spaceId, userId),
  }),
  defineMutation({
    name: spaceCalls.setRole.name,
    description: "Gives a member of a space another role.",
    args: v.strictObject({ spaceId: SpaceId, userId: MemberId, ...ChangeMember.entries }),
    refusals: { not_found: "There is no such space or member.", ...NOT_OWNER, conflict: "It is the owner." },
    run: (scope: Scope<"db" | "viewer">, { spaceId, userId, role }) =>
      setRole(scope, spaceId, userId, { role }),
  }),
  defineMutation({
    name: spaceCalls.removeMember.name,
    description: "Ends a member's access to a space. What they added stays.",
    args: v.strictObject({ spaceId: SpaceId, userId: MemberId }),
    refusals: { not_found: "There is no such space or member.", ...NOT_OWNER, conflict: "It is the owner." },
    run: (scope: Scope<"db" | "viewer">, { spaceId, userId }) => removeMember(scope, spaceId, userId),
  }),
  defineMutation({
    name: spaceCalls.accept.name,
    description: "Accepts an invitation that was sent to the caller's email address.",
    args: v.strictObject({ invitationId: InvitationId }),
    value: SpaceRow,
    refusals: {
      ...NO_INVITATION,
      forbidden: "The caller has not confirmed the address.",
      conflict: "The space has too many members.",
    },
    run: (scope: Scope<"db" | "identity" | "viewer">, { invitationId }) =>
      acceptReceived(scope, invitationId),
  }),
  defineMutation({
    name: spaceCalls.decline.name,
    description: "Declines an invitation that was sent to the caller's email address.",
    args: v.strictObject({ invitationId: InvitationId }),
    refusals: { ...NO_INVITATION, forbidden: "The caller has not confirmed the address." },
    run: (scope: Scope<"db" | "identity" | "viewer">, { invitationId }) =>
      declineInvitation(scope, invitationId),
  }),
  defineMutation({
    name: spaceCalls.revokeInvitation.name,
    description: "Deletes an invitation to a space that the caller owns, so that its link leads nowhere.",
    args: v.strictObject({ invitationId: InvitationId }),
    refusals: NO_INVITATION,
    run: (scope: Scope<"db" | "viewer">, { invitationId }) => revokeInvitation(scope, invitationId),
  }),
]

async function ownsSpace(viewer: Viewer, spaceId: string, sql: SnapshotSql): Promise<boolean> {
  const found = await sql`
    select 1 from space_members
    where user_id = ${viewer.user._id}::uuid and space_id = ${spaceId}::uuid and not trashed
      and role = 'owner'`
  return found.length > 0
}

/** Anybody can sign up with somebody else's address. Clerk's people have no row beside their record. */
async function holdsAddress(viewer: Viewer, sql: SnapshotSql): Promise<boolean> {
  const found = await sql`
    select 1 from users left join auth.user account on account.id = users.clerk_id
    where users._id = ${viewer.user._id}::uuid and users.email = ${viewer.user.email}
      and account.email_verified is not false`
  return found.length > 0
}
