import { idParameter, refusal, SIGNED_IN } from "./parts.ts"

// Shared by the descriptions of files.

export const ofFiles = { tags: ["Files"], security: SIGNED_IN }
export const fileId = idParameter("fileId")
export const unauthorized = refusal("Nobody is signed in.")
export const notFound = refusal("There is no such file, or you may not see it.")
export const noSpace = refusal("There is no such space, or you are not a member of it.")
export const spaceId = {
  name: "spaceId",
  in: "query",
  description: "The space. What is personal to you without it.",
  schema: { type: "string", format: "uuid" },
}

/** The header with which a request that is sent again creates nothing more. */
export const idempotencyKey = {
  name: "Idempotency-Key",
  in: "header",
  description:
    "A text of your choice, such as a UUID. A request that is sent again with it within a day gets the response of the first and creates nothing more.",
  schema: { type: "string", maxLength: 257 },
}
export const keyUsed = "The Idempotency-Key was sent with another request."
