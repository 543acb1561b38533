import { implement } from "#server/operations/implement.ts"
import { countEmail } from "#server/mail/email-limit.ts"
import {
  acceptByLink,
  acceptReceived,
  declineInvitation,
  inviteToSpace,
  listInvitations,
  revokeInvitation,
} from "./invitations.ts"
import { listMembers, removeMember, setRole, transferSpace } from "./members.ts"
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

export const spaceFunctions = implement(spaceOperations, {
  list: (scope) => listSpaces(scope),
  get: (scope, { spaceId }) => findSpace(scope, spaceId),
  create: createSpace,
  change: (scope, { spaceId, ...changes }) => changeSpace(scope, spaceId, changes),
  leave: (scope, { spaceId }) => leaveSpace(scope, spaceId),
  remove: (scope, { spaceId }) => trashSpace(scope, spaceId),
  restore: (scope, { spaceId }) => restoreSpace(scope, spaceId),
  transfer: (scope, { spaceId, userId }) => transferSpace(scope, spaceId, userId),
  members: (scope, { spaceId }) => listMembers(scope, spaceId),
  setRole: (scope, { spaceId, userId, role }) => setRole(scope, spaceId, userId, { role }),
  removeMember: (scope, { spaceId, userId }) => removeMember(scope, spaceId, userId),
  removePicture: (scope, { spaceId }) => removeSpacePicture(scope, spaceId),
  invitations: (scope, { spaceId }) => listInvitations(scope, spaceId),
  invite: (scope, { spaceId, ...invite }, { network }) => {
    if (invite.email) countEmail(scope, network)
    return inviteToSpace(scope, spaceId, invite)
  },
  revokeInvitation: (scope, { invitationId }) => revokeInvitation(scope, invitationId),
  accept: (scope, { invitationId }) => acceptReceived(scope, invitationId),
  decline: (scope, { invitationId }) => declineInvitation(scope, invitationId),
  join: (scope, { token }) => acceptByLink(scope, token),
})
