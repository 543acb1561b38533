import * as v from "valibot"
import { implement } from "#server/operations/implement.ts"
import { listOf } from "#server/operations/list.ts"
import { countEmail } from "#server/mail/email-limit.ts"
import { requireMember } from "./access.ts"
import {
  acceptByLink,
  acceptReceived,
  declineInvitation,
  inviteToSpace,
  revokeInvitation,
} from "./invitations.ts"
import { removeMember, setRole, transferSpace } from "./members.ts"
import { liveInvitations, liveMembers } from "./live.ts"
import { spaceOperations } from "./operations-contract.ts"
import { removeSpacePicture } from "./picture.ts"
import {
  changeSpace,
  createSpace,
  findSpace,
  leaveSpace,
  listSpaces,
  restoreSpace,
  trashSpace,
} from "./spaces.ts"

const others = implement(spaceOperations, {
  list: (scope) => listSpaces(scope),
  get: (scope, { spaceId }) => findSpace(scope, spaceId),
  create: createSpace,
  change: (scope, { spaceId, ...changes }) => changeSpace(scope, spaceId, changes),
  leave: (scope, { spaceId }) => leaveSpace(scope, spaceId),
  remove: (scope, { spaceId }) => trashSpace(scope, spaceId),
  restore: (scope, { spaceId }) => restoreSpace(scope, spaceId),
  transfer: (scope, { spaceId, userId }) => transferSpace(scope, spaceId, userId),
  setRole: (scope, { spaceId, userId, role }) => setRole(scope, spaceId, userId, { role }),
  removeMember: (scope, { spaceId, userId }) => removeMember(scope, spaceId, userId),
  removePicture: (scope, { spaceId }) => removeSpacePicture(scope, spaceId),
  invite: (scope, { spaceId, ...invite }, { network }) => {
    if (invite.email) countEmail(scope, network)
    return inviteToSpace(scope, spaceId, invite)
  },
  revokeInvitation: (scope, { invitationId }) => revokeInvitation(scope, invitationId),
  accept: (scope, { invitationId }) => acceptReceived(scope, invitationId),
  decline: (scope, { invitationId }) => declineInvitation(scope, invitationId),
  join: (scope, { token }) => acceptByLink(scope, token),
})

const ofSpace = { tag: "Spaces", missing: "space", input: v.strictObject({ spaceId: v.string() }) } as const

export const spaceFunctions = [
  ...others,
  listOf(liveMembers, {
    ...ofSpace,
    may: "member",
    http: { at: "GET /api/spaces/:spaceId/members", id: "readSpaceMembers", field: "members" },
  }),
  listOf(liveInvitations, {
    ...ofSpace,
    may: "owner",
    http: { at: "GET /api/spaces/:spaceId/invitations", id: "readSpaceInvitations", field: "invitations" },
    async args(scope, { spaceId }) {
      await requireMember(scope, spaceId, ["owner"])
      return { spaceId }
    },
  }),
]
