import * as v from "valibot"
import type { ChannelType } from "#live/contract"
import type { Role, SpaceMember } from "#db/schema/spaces.ts"
import { record } from "#server/operations/contract.ts"
import { reason } from "#server/reason-contract.ts"
import { Email, withoutControlCharacters } from "#server/text-contract.ts"

export type { Role }

export const SPACE_NAME_LIMIT = 60
export const SLUG_LIMIT = 40
export const MOST_MEMBERS = 2000

/** Milliseconds for which a deleted space can be restored. */
export const SPACE_TRASH_LIFETIME = 30 * 24 * 60 * 60 * 1000

/** Milliseconds after which an invitation expires if it does not say when. */
export const INVITATION_LIFETIME = 7 * 24 * 60 * 60 * 1000

/** Milliseconds. */
const LONGEST_INVITATION = 365 * 24 * 60 * 60 * 1000

export const MemberId = v.pipe(v.string(), v.uuid())
export const InvitationId = v.pipe(v.string(), v.uuid())

export const SpaceName = v.pipe(
  v.string(reason("space-name-missing")),
  v.transform((text) => text.replaceAll(/\s+/g, " ").trim()),
  v.nonEmpty(reason("space-name-missing")),
  v.maxLength(SPACE_NAME_LIMIT, reason("space-name-too-long", { most: SPACE_NAME_LIMIT })),
  withoutControlCharacters,
)

export const Slug = v.pipe(
  v.string(reason("space-slug-unfit")),
  v.maxLength(SLUG_LIMIT, reason("space-slug-unfit")),
  v.regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, reason("space-slug-unfit")),
)

/** Without a slug, it is made from the name. */
export const CreateSpace = v.strictObject({ name: SpaceName })
export type CreateSpace = v.InferOutput<typeof CreateSpace>

export const ChangeSpace = v.strictObject({ name: v.optional(SpaceName), slug: v.optional(Slug) })
export type ChangeSpace = v.InferOutput<typeof ChangeSpace>

export const SPACE_ROLES = ["owner", "editor", "reader"] as const satisfies readonly Role[]

/** What a member can be made, or invited as. There is one owner, and only a transfer changes that. */
export const LESSER_ROLES = ["editor", "reader"] as const
export const LesserRole = v.picklist(LESSER_ROLES, reason("space-role-unfit"))

export const ChangeMember = v.strictObject({ role: LesserRole })
export type ChangeMember = v.InferOutput<typeof ChangeMember>

/** The last part of an invitation's URL. */
export const JoinSpace = v.strictObject({ token: v.pipe(v.string(), v.maxLength(100)) })

/** To an email address, or without one by a link that several people can use. */
export const Invite = v.strictObject({
  role: LesserRole,
  email: v.optional(Email),
  /** Milliseconds since the epoch. */
  expiresAt: v.optional(
    v.pipe(
      v.number(reason("link-end-unfit")),
      v.integer(reason("link-end-unfit")),
      v.check((moment) => moment > Date.now(), reason("link-end-past")),
      v.check((moment) => moment <= Date.now() + LONGEST_INVITATION, reason("invitation-end-too-late")),
    ),
  ),
  /** Of a link. Null without a limit. */
  maxUses: v.nullish(
    v.pipe(
      v.number(reason("invitation-uses-unfit")),
      v.integer(reason("invitation-uses-unfit")),
      v.minValue(1, reason("invitation-uses-unfit")),
      v.maxValue(1000, reason("invitation-uses-unfit")),
    ),
  ),
})
export type Invite = v.InferOutput<typeof Invite>

/** The query of a space's picture: the `pictureId`, so that caches may keep it. */
export const PictureQuery = v.strictObject({ id: v.optional(v.string()) })

/** A space as its members see it. */
export const SpaceRow = v.strictObject({
  ...record,
  name: v.string(),
  slug: v.pipe(v.string(), v.description("Part of the space's URLs.")),
  pictureId: v.nullable(v.pipe(v.string(), v.uuid())),
  role: v.pipe(v.picklist(SPACE_ROLES), v.description("The caller's.")),
})
export type SpaceSummary = v.InferOutput<typeof SpaceRow>

/** The viewer's membership in a space. Its `_id` is not the space's. */
export type Membership = Pick<
  SpaceMember,
  "_id" | "_creationTime" | "spaceId" | "role" | "spaceName" | "spaceSlug" | "spacePictureId"
>

/** A member as the other members see them. */
export type Member = Pick<
  SpaceMember,
  "_id" | "_creationTime" | "userId" | "role" | "memberName" | "memberEmail" | "memberImageUrl"
>

/** An invitation as the space's owner sees it. Its URL is shown once, when it is created. */
export const InvitationRow = v.strictObject({
  ...record,
  email: v.pipe(v.string(), v.description("In lower case. Empty for a link that several people can use.")),
  role: LesserRole,
  hint: v.pipe(v.string(), v.description("The last four characters of the link's URL.")),
  expiresAt: v.pipe(v.number(), v.integer(), v.description("Milliseconds since the epoch.")),
  maxUses: v.pipe(
    v.nullable(v.pipe(v.number(), v.integer())),
    v.description("How many people can use it; null without a limit."),
  ),
  uses: v.pipe(v.number(), v.integer()),
})
export type InvitationSummary = v.InferOutput<typeof InvitationRow>

/** The response to the person who invites. The URL is not stored anywhere. */
export const NewInvitation = v.strictObject({
  invitation: InvitationRow,
  url: v.pipe(v.string(), v.url()),
  emailed: v.pipe(
    v.boolean(),
    v.description(
      "False for a link, and where others had so many emails sent to the address that it gets no more.",
    ),
  ),
})
export type NewInvitation = v.InferOutput<typeof NewInvitation>

/** That somebody has a page of a space on the screen. */
export const SpacePresence = v.strictObject({ userId: v.pipe(v.string(), v.uuid()) })
export type SpacePresence = v.InferOutput<typeof SpacePresence>

export const spacePresenceChannel: ChannelType<"spaces.presence", SpacePresence> = {
  name: "spaces.presence",
}
