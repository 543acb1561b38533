import * as v from "valibot"
import { Picture } from "#server/picture-contract.ts"
import { operations } from "#server/operations/contract.ts"
import { LesserRole, NewInvitation } from "./contract.ts"
import { SpaceId } from "./place-contract.ts"

/** What the pages of a space ask for in other words than programs do. */
export const spacePageOperations = operations("space-page", { tag: "Spaces", missing: "space" })({
  makeLink: {
    about: "Creates a link with which several people can join.",
    may: "owner",
    input: v.strictObject({
      spaceId: SpaceId,
      role: LesserRole,
      days: v.picklist(["1", "7", "30"]),
      uses: v.picklist(["1", "10", "100", "any"]),
    }),
    output: NewInvitation,
    httpOnly: true,
  },
  savePicture: {
    about: "Stores the picture of a space.",
    may: "owner",
    input: v.strictObject({ spaceId: SpaceId, picture: Picture }),
    httpOnly: true,
  },
})
