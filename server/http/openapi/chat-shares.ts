import * as v from "valibot"
import { ShareThread } from "#server/chat/contract.ts"
import { record } from "#server/operations/contract.ts"
import {
  idParameter,
  jsonAnswer,
  jsonBody,
  type Operation,
  type PathItem,
  refusal,
  SIGNED_IN,
} from "./parts.ts"

const Share = v.strictObject({
  ...record,
  threadId: v.pipe(v.string(), v.uuid()),
  hint: v.pipe(v.string(), v.description("The last four characters of the URL.")),
  expiresAt: v.nullable(v.pipe(v.number(), v.integer(), v.description("Milliseconds since the epoch."))),
  hasPassword: v.boolean(),
  shows: v.pipe(
    v.picklist(["live", "copy"]),
    v.description("The conversation as it is, or as it was when the link was created."),
  ),
})

const common = { tags: ["Chat"], security: SIGNED_IN }
const threadId = idParameter("threadId")
const unauthorized = refusal("Nobody is signed in.")
const notFound = refusal("There is no such conversation, or it is not yours.")

const readerOnly = refusal("The conversation is in a space in which you may only read.")

const shares: Operation = {
  ...common,
  operationId: "listConversationShares",
  summary: "The links to a conversation, the newest first",
  parameters: [threadId],
  responses: {
    "200": jsonAnswer("The links.", v.strictObject({ shares: v.array(Share) })),
    "401": unauthorized,
    "404": notFound,
  },
}

/** Public links to conversations. */
export const chatSharesPaths: Record<string, PathItem> = {
  "/api/chat/threads/{threadId}/shares": {
    get: shares,
    head: {
      ...shares,
      operationId: "probeConversationShares",
      responses: { "200": { description: "The links." }, "401": unauthorized, "404": notFound },
    },
    post: {
      ...common,
      operationId: "shareConversation",
      summary: "Create a public link to a conversation",
      parameters: [threadId],
      requestBody: jsonBody(ShareThread),
      responses: {
        "201": jsonAnswer(
          "The link. Its URL is shown here and never again.",
          v.strictObject({ share: Share, url: v.pipe(v.string(), v.url()) }),
        ),
        "400": refusal("The body is not JSON, or a limit makes no sense."),
        "401": unauthorized,
        "403": readerOnly,
        "404": notFound,
        "409": refusal("The conversation has as many links as it can have."),
        "413": refusal("The body is larger than 256 KB."),
      },
    },
  },
  "/api/chat/shares/{shareId}": {
    delete: {
      ...common,
      operationId: "revokeConversationShare",
      summary: "Revoke a link to a conversation",
      parameters: [idParameter("shareId")],
      responses: {
        "204": { description: "It leads nowhere from now on." },
        "401": unauthorized,
        "403": readerOnly,
        "404": refusal("There is no such link, or it is not yours."),
      },
    },
  },
}
