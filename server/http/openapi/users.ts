import * as v from "valibot"
import { CreateOrUpdateUser } from "#server/users/contract.ts"
import { record } from "#server/operations/contract.ts"
import { jsonAnswer, jsonBody, type PathItem, refusal, IN_A_BROWSER } from "./parts.ts"

const User = v.strictObject({
  ...record,
  clerkId: v.pipe(v.string(), v.description("The identity provider's id, whichever provider it is.")),
  email: v.string(),
  name: v.nullable(v.string()),
  imageUrl: v.nullable(v.string()),
  plan: v.nullable(v.picklist(["free", "pro"])),
  onboardingCompleted: v.nullable(v.boolean()),
  onboardingStep: v.nullable(v.string()),
})

export const usersPaths: Record<string, PathItem> = {
  "/api/users/sync": {
    post: {
      operationId: "syncUser",
      tags: ["Users"],
      summary: "Bring your record up to date with the identity provider",
      description: "What an open page calls when the two differ. It must say what the provider says.",
      security: IN_A_BROWSER,
      requestBody: jsonBody(CreateOrUpdateUser),
      responses: {
        "200": jsonAnswer("The record.", User),
        "400": refusal("The body is not JSON, or not as described."),
        "401": refusal("Nobody is signed in."),
        "403": refusal("It is not your record, or not what the identity provider says."),
        "413": refusal("The body is larger than 256 KB."),
      },
    },
  },
}
