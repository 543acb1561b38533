import * as v from "valibot"
import {
  ChangeMember,
  ChangeSpace,
  CreateSpace,
  Invite,
  JoinSpace,
  LESSER_ROLES,
  SPACE_ROLES,
  TransferSpace,
} from "#server/spaces/contract.ts"
import {
  binary,
  idParameter,
  jsonAnswer,
  jsonBody,
  record,
  refusal,
  SIGNED_IN,
  type Answer,
  type Operation,
  type PathItem,
} from "./parts.ts"

const Space = v.strictObject({
  ...record,
  name: v.string(),
  slug: v.pipe(v.string(), v.description("Part of the URLs of its pages.")),
  pictureId: v.nullable(v.pipe(v.string(), v.uuid())),
  role: v.pipe(v.picklist(SPACE_ROLES), v.description("The caller's.")),
})

const Member = v.strictObject({
  ...record,
  userId: v.pipe(v.string(), v.uuid()),
  role: v.picklist(SPACE_ROLES),
  memberName: v.nullable(v.string()),
  memberEmail: v.string(),
  memberImageUrl: v.nullable(v.string()),
})

const Invitation = v.strictObject({
  ...record,
  email: v.pipe(v.string(), v.description("In lower case; empty for a link that several can use.")),
  role: v.picklist(LESSER_ROLES),
  hint: v.pipe(v.string(), v.description("The last four characters of the URL.")),
  expiresAt: v.pipe(v.number(), v.integer(), v.description("Milliseconds since the epoch.")),
  maxUses: v.nullable(v.pipe(v.number(), v.integer())),
  uses: v.pipe(v.number(), v.integer()),
})

const common = { tags: ["Spaces"], security: SIGNED_IN }
const spaceId = idParameter("spaceId")
const userId = idParameter("userId")
const OneSpace = v.strictObject({ space: Space })
const refused = {
  "401": refusal("Nobody is signed in."),
  "404": refusal("There is no such space, or the caller is not a member of it."),
}
const forOwner = { ...refused, "403": refusal("Only the owner of the space can do this.") }
const ofBody = {
  "400": refusal("The body is not JSON, or a field does not fit."),
  "413": refusal("The body is larger than 256 KB."),
}
const isOwner = { "409": refusal("It is the owner.") }
const done = { "204": { description: "It is done." } }

const spaces = reading("Spaces", "The caller's spaces, in the order of joining", [], {
  "200": jsonAnswer("The spaces.", v.strictObject({ spaces: v.array(Space) })),
  "401": refused["401"],
})
const space = reading("Space", "One of the caller's spaces", [spaceId], {
  "200": jsonAnswer("The space.", OneSpace),
  ...refused,
})
const members = reading("SpaceMembers", "The members of a space, in the order of joining", [spaceId], {
  "200": jsonAnswer("The members.", v.strictObject({ members: v.array(Member) })),
  ...refused,
})
const picture: Operation = {
  ...common,
  operationId: "showSpacePicture",
  summary: "The picture of a space, a square of 256 pixels",
  parameters: [
    spaceId,
    { name: "id", in: "query", description: "Its `pictureId`, to keep it in caches.", schema: {} },
  ],
  responses: {
    "200": { description: "The picture.", content: { "image/webp": { schema: binary } } },
    "304": { description: "The client has it." },
    "401": refused["401"],
    "404": refusal("The space has no picture, or the caller is not a member of it."),
  },
}
const invitations = reading("SpaceInvitations", "The open invitations to a space", [spaceId], {
  "200": jsonAnswer("The invitations.", v.strictObject({ invitations: v.array(Invitation) })),
  ...forOwner,
})

/** Spaces, their members and invitations to them. */
export const spacesPaths: Record<string, PathItem> = {
  "/api/spaces": {
    ...spaces,
    post: {
      ...common,
      operationId: "createSpace",
      summary: "Create a space that the caller owns",
      requestBody: jsonBody(CreateSpace),
      responses: {
        "201": jsonAnswer("The space.", OneSpace),
        "401": refused["401"],
        "403": refusal("The operator offers no spaces."),
        "409": refusal("The caller owns too many spaces."),
        ...ofBody,
      },
    },
  },
  "/api/spaces/join": {
    post: {
      ...common,
      operationId: "joinSpace",
      summary: "Join the space of an invitation",
      requestBody: jsonBody(JoinSpace),
      responses: {
        "200": jsonAnswer("The space.", OneSpace),
        "401": refused["401"],
        "403": refusal("The caller's access was taken away since the link was made."),
        "404": refusal("The invitation has expired, was used or was revoked, or never existed."),
        "409": refusal("The space has as many members as it can have."),
        ...ofBody,
      },
    },
  },
  "/api/spaces/invitations/{invitationId}": {
    delete: {
      ...common,
      operationId: "revokeSpaceInvitation",
      summary: "Revoke an invitation to a space that the caller owns",
      parameters: [idParameter("invitationId")],
      responses: {
        ...done,
        "401": refused["401"],
        "404": refusal("There is no such invitation, or it is not yours."),
      },
    },
  },
  "/api/spaces/{spaceId}": {
    ...space,
    patch: {
      ...common,
      operationId: "changeSpace",
      summary: "Give a space another name or slug",
      parameters: [spaceId],
      requestBody: jsonBody(ChangeSpace),
      responses: {
        "200": jsonAnswer("The space.", OneSpace),
        ...forOwner,
        "409": refusal("Another space has this slug, or it is reserved."),
        ...ofBody,
      },
    },
    delete: {
      ...common,
      operationId: "deleteSpace",
      summary: "Delete a space for all of its members; it can be restored for 30 days",
      parameters: [spaceId],
      responses: { ...done, ...forOwner },
    },
  },
  "/api/spaces/{spaceId}/picture": {
    get: picture,
    head: {
      ...picture,
      operationId: "probeSpacePicture",
      responses: { ...picture.responses, "200": { description: "There is one." } },
    },
    put: {
      ...common,
      operationId: "saveSpacePicture",
      summary: "Give a space another picture",
      description: "The body is a JPEG, PNG, WebP, GIF or AVIF of at most 10 MB. Its centred square is kept.",
      parameters: [spaceId],
      requestBody: { required: true, content: { "*/*": { schema: binary } } },
      responses: {
        ...done,
        ...forOwner,
        "413": refusal("The image is larger than 10 MB."),
        "415": refusal("The body is no image that can be displayed."),
        "503": refusal("The server is busy with other pictures. Send again in a moment."),
      },
    },
    delete: {
      ...common,
      operationId: "removeSpacePicture",
      summary: "Remove the picture of a space",
      parameters: [spaceId],
      responses: { ...done, ...forOwner },
    },
  },
  "/api/spaces/{spaceId}/restore": {
    post: {
      ...common,
      operationId: "restoreSpace",
      summary: "Take a space out of its owner's trash",
      parameters: [spaceId],
      responses: { "200": jsonAnswer("The space.", OneSpace), ...refused },
    },
  },
  "/api/spaces/{spaceId}/leave": {
    post: {
      ...common,
      operationId: "leaveSpace",
      summary: "Leave a space; what the caller added stays",
      parameters: [spaceId],
      responses: { ...done, ...refused, ...isOwner },
    },
  },
  "/api/spaces/{spaceId}/transfer": {
    post: {
      ...common,
      operationId: "transferSpace",
      summary: "Make another member the owner, and the caller an editor",
      parameters: [spaceId],
      requestBody: jsonBody(TransferSpace),
      responses: {
        ...done,
        ...forOwner,
        "409": refusal("It is the owner, or the member owns too many spaces or lacks the storage."),
        ...ofBody,
      },
    },
  },
  "/api/spaces/{spaceId}/members": members,
  "/api/spaces/{spaceId}/members/{userId}": {
    patch: {
      ...common,
      operationId: "changeSpaceMember",
      summary: "Give a member another role",
      parameters: [spaceId, userId],
      requestBody: jsonBody(ChangeMember),
      responses: { ...done, ...forOwner, ...isOwner, ...ofBody },
    },
    delete: {
      ...common,
      operationId: "removeSpaceMember",
      summary: "End a member's access; what they added stays",
      parameters: [spaceId, userId],
      responses: { ...done, ...forOwner, ...isOwner },
    },
  },
  "/api/spaces/{spaceId}/invitations": {
    ...invitations,
    post: {
      ...common,
      operationId: "inviteToSpace",
      summary: "Invite by email, or create a link with which several people can join",
      parameters: [spaceId],
      requestBody: jsonBody(Invite),
      responses: {
        "201": jsonAnswer(
          "The invitation. Its URL is shown here and never again.",
          v.strictObject({ invitation: Invitation, url: v.pipe(v.string(), v.url()) }),
        ),
        ...forOwner,
        "409": refusal(
          "The person is a member already, or has five open invitations by email, or there are too many.",
        ),
        "429": refusal("The caller had too many emails sent."),
        ...ofBody,
      },
    },
  },
}

function reading(
  what: string,
  summary: string,
  parameters: object[],
  responses: Record<string, Answer>,
): Pick<Record<"get" | "head", Operation>, "get" | "head"> {
  const get = { ...common, operationId: `read${what}`, summary, parameters, responses }
  const head = Object.entries(responses).map(([status, answer]): [string, Answer] => [
    status,
    status === "200" ? { description: answer.description } : answer,
  ])
  return { get, head: { ...get, operationId: `probe${what}`, responses: Object.fromEntries(head) } }
}
