import * as v from "valibot"
import { operations } from "#server/operations/contract.ts"
import {
  ChangeMember,
  ChangeSpace,
  CreateSpace,
  InvitationId,
  Invite,
  JoinSpace,
  MemberId,
  NewInvitation,
  SpaceRow,
} from "./contract.ts"
import { SpaceId } from "./place-contract.ts"

const OfSpace = v.strictObject({ spaceId: SpaceId })
const OfMember = v.strictObject({ spaceId: SpaceId, userId: MemberId })
const OfInvitation = v.strictObject({ invitationId: InvitationId })
const NO_MEMBER = { not_found: ["no-such-member"] } as const

export const spaceOperations = operations("spaces", { tag: "Spaces", missing: "space" })({
  list: {
    about: "The caller's spaces, in the order of joining.",
    may: "signed-in",
    input: v.strictObject({}),
    output: v.array(SpaceRow),
    http: { at: "GET /api/spaces", id: "readSpaces", field: "spaces" },
  },
  get: {
    about: "One of the caller's spaces.",
    may: "member",
    input: OfSpace,
    output: SpaceRow,
    http: { at: "GET /api/spaces/:spaceId", id: "readSpace", field: "space" },
  },
  create: {
    about: "Creates a space that the caller owns. Its slug is made from the name.",
    may: "signed-in",
    input: CreateSpace,
    output: SpaceRow,
    refuses: { conflict: ["too-many-spaces"], forbidden: ["spaces-off"] },
    http: { at: "POST /api/spaces", id: "createSpace", field: "space", creates: true },
  },
  change: {
    about: "Gives a space another name or slug.",
    may: "owner",
    input: v.strictObject({ ...OfSpace.entries, ...ChangeSpace.entries }),
    output: SpaceRow,
    refuses: { conflict: ["space-slug-taken", "space-slug-reserved"] },
    http: { at: "PATCH /api/spaces/:spaceId", id: "changeSpace", field: "space" },
  },
  leave: {
    about: "Ends the caller's membership. What they added stays.",
    may: "member",
    input: OfSpace,
    refuses: { conflict: ["space-owner-leaving"] },
    http: { at: "POST /api/spaces/:spaceId/leave", id: "leaveSpace" },
  },
  remove: {
    about: "Deletes a space for all of its members. Its owner can restore it for 30 days.",
    may: "owner",
    input: OfSpace,
    http: { at: "DELETE /api/spaces/:spaceId", id: "deleteSpace" },
  },
  restore: {
    about: "Takes a space out of the caller's trash, with its members and everything in it.",
    may: "holder",
    input: OfSpace,
    output: SpaceRow,
    http: { at: "POST /api/spaces/:spaceId/restore", id: "restoreSpace", field: "space" },
  },
  transfer: {
    about: "Makes another member the owner of a space, and the caller an editor.",
    may: "owner",
    input: OfMember,
    refuses: {
      ...NO_MEMBER,
      conflict: ["space-owner-fixed", "member-owns-too-many", "member-lacks-space"],
    },
    http: { at: "POST /api/spaces/:spaceId/transfer", id: "transferSpace" },
  },
  setRole: {
    about: "Gives a member of a space another role.",
    may: "owner",
    input: v.strictObject({ ...OfMember.entries, ...ChangeMember.entries }),
    refuses: { ...NO_MEMBER, conflict: ["space-owner-fixed"] },
    http: { at: "PATCH /api/spaces/:spaceId/members/:userId", id: "changeSpaceMember" },
  },
  removeMember: {
    about: "Ends a member's access to a space. What they added stays.",
    may: "owner",
    input: OfMember,
    refuses: { ...NO_MEMBER, conflict: ["space-owner-fixed"] },
    http: { at: "DELETE /api/spaces/:spaceId/members/:userId", id: "removeSpaceMember" },
  },
  accept: {
    about: "Accepts an invitation that was sent to the caller's email address.",
    may: "holder",
    missing: "invitation",
    input: OfInvitation,
    output: SpaceRow,
    refuses: { forbidden: ["invitation-address-unconfirmed"], conflict: ["too-many-members"] },
  },
  decline: {
    about: "Declines an invitation that was sent to the caller's email address.",
    may: "holder",
    missing: "invitation",
    input: OfInvitation,
    refuses: { forbidden: ["invitation-address-unconfirmed"] },
  },
  removePicture: {
    about: "Removes the picture of a space.",
    may: "owner",
    input: OfSpace,
    http: { at: "DELETE /api/spaces/:spaceId/picture", id: "removeSpacePicture" },
    httpOnly: true,
  },
  invite: {
    about:
      "Invites by email, or creates a link with which several people can join. The URL is shown here and never again.",
    may: "owner",
    input: v.strictObject({ ...OfSpace.entries, ...Invite.entries }),
    output: NewInvitation,
    refuses: {
      forbidden: ["inviter-unconfirmed"],
      conflict: ["person-is-member", "too-many-invitations", "invitation-emails-open"],
      rate_limited: ["too-many-emails"],
    },
    http: { at: "POST /api/spaces/:spaceId/invitations", id: "inviteToSpace", creates: true },
    httpOnly: true,
  },
  revokeInvitation: {
    about: "Deletes an invitation to a space that the caller owns, so that its link leads nowhere.",
    may: "holder",
    missing: "invitation",
    input: OfInvitation,
    http: { at: "DELETE /api/spaces/invitations/:invitationId", id: "revokeSpaceInvitation" },
  },
  join: {
    about: "Joins the space of an invitation.",
    may: "signed-in",
    input: JoinSpace,
    output: SpaceRow,
    refuses: {
      forbidden: ["invitation-outlived"],
      not_found: ["invitation-dead"],
      conflict: ["too-many-members"],
    },
    http: { at: "POST /api/spaces/join", id: "joinSpace", field: "space" },
    httpOnly: true,
  },
})
