import { implement } from "#server/operations/implement.ts"
import { inviteToSpace } from "./invitations.ts"
import { spacePageOperations } from "./page-operations-contract.ts"
import { saveSpacePicture } from "./picture.ts"

const DAY = 24 * 60 * 60 * 1000

export const spacePageFunctions = implement(spacePageOperations, {
  makeLink: (scope, { spaceId, role, days, uses }) =>
    inviteToSpace(scope, spaceId, {
      role,
      expiresAt: Date.now() + Number(days) * DAY,
      maxUses: uses === "any" ? null : Number(uses),
    }),
  savePicture: async (scope, { spaceId, picture }) => saveSpacePicture(scope, spaceId, await picture.bytes()),
})
