import * as v from "valibot"
import { Picture } from "#server/picture-contract.ts"
import { Email } from "#server/text-contract.ts"
import { ChangeMember, CreateSpace, InvitationId, Slug, SpaceName, TransferSpace } from "./contract.ts"
import { SpaceId } from "./place-contract.ts"

/** Days for which a link to join can be valid. */
export const INVITATION_DAYS = ["1", "7", "30"] as const

/** The forms of the members page. */
export const SpaceAct = v.variant("intent", [
  v.object({ intent: v.literal("invite"), email: Email, ...ChangeMember.entries }),
  v.object({
    intent: v.literal("make-link"),
    ...ChangeMember.entries,
    days: v.picklist(INVITATION_DAYS),
    uses: v.picklist(["1", "10", "100", "any"]),
  }),
  v.object({ intent: v.literal("revoke"), invitationId: InvitationId }),
  v.object({ intent: v.literal("set-role"), ...TransferSpace.entries, ...ChangeMember.entries }),
  v.object({ intent: v.literal("remove"), ...TransferSpace.entries }),
  v.object({ intent: v.literal("transfer"), ...TransferSpace.entries }),
  v.object({ intent: v.literal("change"), name: SpaceName, slug: Slug }),
  v.object({ intent: v.literal("save-picture"), picture: Picture }),
  v.object({ intent: v.literal("remove-picture") }),
  v.object({ intent: v.literal("leave") }),
  v.object({ intent: v.literal("delete") }),
])
export type SpaceAct = v.InferOutput<typeof SpaceAct>

/** The forms of the page that lists one's spaces. */
export const SpacesAct = v.variant("intent", [
  v.object({ intent: v.literal("create"), ...CreateSpace.entries }),
  v.object({ intent: v.literal("accept"), invitationId: InvitationId }),
  v.object({ intent: v.literal("decline"), invitationId: InvitationId }),
  v.object({ intent: v.literal("restore"), spaceId: SpaceId }),
])
