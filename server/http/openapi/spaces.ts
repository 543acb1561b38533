import * as v from "valibot"
import { InvitationRow, Invite } from "#server/spaces/contract.ts"
import {
  binary,
  idParameter,
  jsonAnswer,
  jsonBody,
  refusal,
  SIGNED_IN,
  type Answer,
  type Operation,
  type PathItem,
} from "./parts.ts"

const common = { tags: ["Spaces"], security: SIGNED_IN }
const spaceId = idParameter("spaceId")
const refused = {
  "401": refusal("Nobody is signed in."),
  "404": refusal("There is no such space, or the caller is not a member of it."),
}
const forOwner = { ...refused, "403": refusal("Only the owner of the space can do this.") }
const ofBody = {
  "400": refusal("The body is not JSON, or a field does not fit."),
  "413": refusal("The body is larger than 256 KB."),
}
const done = { "204": { description: "It is done." } }

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
  "200": jsonAnswer("The invitations.", v.strictObject({ invitations: v.array(InvitationRow) })),
  ...forOwner,
})

/** Of spaces, what is not a declared operation: their pictures, and inviting. */
export const spacesPaths: Record<string, PathItem> = {
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
          v.strictObject({
            invitation: InvitationRow,
            url: v.pipe(v.string(), v.url()),
            emailed: v.pipe(
              v.boolean(),
              v.description(
                "False for a link, and where others had so many emails sent to the address that it gets no more.",
              ),
            ),
          }),
        ),
        ...forOwner,
        "409": refusal(
          "The person is a member already, or has five open invitations by email from the caller, or there are too many.",
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
