import * as v from "valibot"
import { defineChannel, defineLiveQuery, type SnapshotSql } from "#live/open"
import type { Viewer } from "#server/scope.ts"
import { watchedInvitations, watchedMembers } from "#db/schema/spaces.ts"
import { watchedUsers } from "#db/schema/users.ts"
import { SpacePresence, spacePresenceChannel } from "./contract.ts"
import { SpaceId } from "./place-contract.ts"
import { isMember, membershipOf } from "./live-access.ts"

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

/** As `chatPresence` does for one conversation. */
const spacePresence = defineChannel({
  name: spacePresenceChannel.name,
  description:
    "Who has a page of a space on the screen. Say so on joining, and again when there are new members. The `userId` must be the caller's.",
  query: liveMembers,
  message: SpacePresence,
  accepts: ({ userId }, viewer: Viewer) => userId === viewer.user._id,
})

export const spaceChannels = [spacePresence]

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
