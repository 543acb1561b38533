import type { Config } from "#server/config.ts"
import { chatPaths } from "./chat.ts"
import { fileUploadsPaths } from "./file-uploads.ts"
import { filesPaths } from "./files.ts"
import { mailPaths } from "./mail.ts"
import { operationPaths } from "./operations.ts"
import { type Answer, type Operation, type PathItem, PUBLIC, refusal } from "./parts.ts"
import { servicePaths } from "./service.ts"
import { spacesPaths } from "./spaces.ts"

/** The HTTP API as OpenAPI 3.1, made from the schemas that the endpoints parse with. */
export function describeApi(config: Config) {
  const { origin } = config
  const byHand: Record<string, PathItem> = {
    ...servicePaths,
    ...mailPaths,
    ...chatPaths,
    ...filesPaths,
    ...fileUploadsPaths,
    ...spacesPaths,
  }
  const declared = Object.entries(operationPaths).map(([path, item]) => [path, { ...byHand[path], ...item }])
  const paths = withCommonAnswers({ ...byHand, ...Object.fromEntries(declared) })
  const methodNotAllowed: Answer = refusal("The address does not know this method.", {
    Allow: { required: true, description: "The methods it knows.", schema: { type: "string" } },
  })
  return {
    openapi: "3.1.0",
    jsonSchemaDialect: "https://json-schema.org/draft/2020-12/schema",
    info: {
      title: "Tideline",
      version: "1",
      description:
        "Any other method than those described gets 405 with `Allow`. Any other address under /api gets 401 without a session and 404 with one.",
    },
    servers: [{ url: origin }],
    externalDocs: { url: `${origin}/docs/http-api`, description: "The same in prose, with examples." },
    tags: [
      { name: "Service", description: "How the service is, and what it says of itself." },
      { name: "E-mail", description: "Emails to the caller." },
      { name: "Chat", description: "Answers of the language model." },
      { name: "Files", description: "The caller's files." },
      { name: "Spaces", description: "What the caller shares with other people." },
      { name: "Users", description: "The caller's record." },
      { name: "Realtime", description: "The way to the socket." },
      {
        name: "Identity",
        description: "Sign-up, sign-in and API keys under /api/auth belong to the identity provider.",
        externalDocs: { url: `${origin}/docs/http-api` },
      },
    ],
    paths,
    components: {
      responses: { MethodNotAllowed: methodNotAllowed },
      securitySchemes: {
        bearer: {
          type: "http",
          scheme: "bearer",
          description: "An API key of the embedded provider, or a session token of Clerk.",
        },
        session: {
          type: "apiKey",
          in: "cookie",
          name: sessionCookie(config),
          description:
            "The cookie that signing in sets. Unsafe methods must then come from the site's own pages.",
        },
      },
    },
  }
}

function sessionCookie({ identity, origin }: Config): string {
  if (identity.kind === "clerk") return "__session"
  return origin.startsWith("https:") ? "__Secure-tideline.session_token" : "tideline.session_token"
}

/**
 * Responses that any request can get: an unknown query, a cross-site request or one without its second
 * factor is refused, and the database may be unreachable.
 */
function withCommonAnswers(paths: Record<string, PathItem>): Record<string, PathItem> {
  return Object.fromEntries(
    Object.entries(paths).map(([path, item]) => [
      path,
      Object.fromEntries(
        Object.entries(item).map(([method, operation]) => [method, withCommon(method, operation)]),
      ),
    ]),
  )
}

function withCommon(method: string, operation: Operation): Operation {
  if (operation.security === PUBLIC) return operation
  const lacksFactor = "The session needs a second factor"
  const isUnsafe = method !== "get" && method !== "head" && method !== "options"
  const why = isUnsafe
    ? `${lacksFactor}; or it is a cookie's, and another site made the browser send this.`
    : `${lacksFactor}.`
  return {
    ...operation,
    responses: {
      "400": refusal("The query has a parameter that is not described here, or not with this value."),
      "403": refusal(why),
      ...(isUnsafe && { "412": refusal("What `If-Match` names is not this, or this has no `ETag`.") }),
      ...operation.responses,
      "503": refusal("The database can't be reached. Try again in a moment."),
    },
  }
}
