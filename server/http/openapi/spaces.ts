import { binary, idParameter, refusal, SIGNED_IN, type Operation, type PathItem } from "./parts.ts"

const common = { tags: ["Spaces"], security: SIGNED_IN }
const spaceId = idParameter("spaceId")
const refused = {
  "401": refusal("Nobody is signed in."),
  "404": refusal("There is no such space, or the caller is not a member of it."),
}
const forOwner = { ...refused, "403": refusal("Only the owner of the space can do this.") }

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

/** The pictures of spaces, which are no JSON. */
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
        "204": { description: "It is done." },
        ...forOwner,
        "413": refusal("The image is larger than 10 MB."),
        "415": refusal("The body is no image that can be displayed."),
        "503": refusal("The server is busy with other pictures. Send again in a moment."),
      },
    },
  },
}
