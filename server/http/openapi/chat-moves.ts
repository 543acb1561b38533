import { MoveThread } from "#server/chat/contract.ts"
import { oneThread } from "./chat.ts"
import { idParameter, jsonBody, type PathItem, refusal, SIGNED_IN } from "./parts.ts"

const common = { tags: ["Chat"], security: SIGNED_IN }
const threadId = idParameter("threadId")
const toPlace = {
  "400": refusal("The body is not JSON, or not as described."),
  "401": refusal("Nobody is signed in."),
  "403": refusal("You may only read in one of the places."),
  "404": refusal("There is no such conversation or space, or you may not see it."),
  "413": refusal("The body is larger than 256 KB."),
  "507": refusal("The plan of the person who pays for the place has no room for the attached files."),
}

/** Conversations that go from one place to another. */
export const chatMovesPaths: Record<string, PathItem> = {
  "/api/chat/threads/{threadId}/move": {
    post: {
      ...common,
      operationId: "moveThread",
      summary: "Move a conversation into a space, or out of one",
      description:
        "Without `spaceId` to what is personal to you. Its public links end. Attached files that are elsewhere are copied along, or with `attachments: leave` taken off the messages.",
      parameters: [threadId],
      requestBody: jsonBody(MoveThread),
      responses: {
        "200": oneThread,
        ...toPlace,
        "409": refusal(
          "A reply is being generated in it, or others have written in it and it would become personal.",
        ),
      },
    },
  },
  "/api/chat/threads/{threadId}/copy": {
    post: {
      ...common,
      operationId: "copyThread",
      summary: "Copy a conversation into a space, or out of one",
      description:
        "Without `spaceId` to what is personal to you, where messages of others begin with their names. Links and earlier versions of messages are not copied.",
      parameters: [threadId],
      requestBody: jsonBody(MoveThread),
      responses: { "201": oneThread, ...toPlace, "409": refusal("A reply is being generated in it.") },
    },
  },
}
