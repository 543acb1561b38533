import * as v from "valibot"
import {
  EmailFailed,
  EmailRefused,
  EmailRequest,
  EmailSent,
  EmailUnconfirmed,
} from "#server/mail/contract.ts"
import { Refused } from "#server/http/contract.ts"
import {
  jsonAnswer,
  jsonBody,
  type PathItem,
  RATE_LIMIT_HEADERS,
  refusal,
  SIGNED_IN,
  TOO_MANY_HEADERS,
} from "./parts.ts"

export const mailPaths: Record<string, PathItem> = {
  "/api/email": {
    post: {
      operationId: "sendEmail",
      tags: ["E-mail"],
      summary: "Send an email to yourself",
      description:
        "Renders a template and sends it to the caller's own primary address; the body cannot name a recipient. 10 requests per minute for each `x-forwarded-for` value; 30 emails per hour for each person, and 120 for each network.",
      security: SIGNED_IN,
      requestBody: jsonBody(EmailRequest),
      responses: {
        "200": jsonAnswer("The mail provider took the email.", EmailSent, RATE_LIMIT_HEADERS),
        "400": jsonAnswer(
          "The body is not JSON, or not one of the templates with all its fields; or the caller has no address.",
          v.union([EmailRefused, Refused]),
          RATE_LIMIT_HEADERS,
        ),
        "401": refusal("Nobody is signed in.", RATE_LIMIT_HEADERS),
        "403": jsonAnswer(
          "The caller's address is not confirmed; or another site made the browser send this.",
          v.union([EmailUnconfirmed, Refused]),
        ),
        "413": refusal("The body is larger than 256 KB.", RATE_LIMIT_HEADERS),
        "429": refusal("Too many requests.", TOO_MANY_HEADERS),
        "502": jsonAnswer("The mail provider did not accept the email.", EmailFailed, RATE_LIMIT_HEADERS),
      },
    },
  },
}
