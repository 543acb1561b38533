import type { KeyScope } from "#server/ports/identity-contract.ts"
import { json } from "#server/transport/json.ts"

/** For a caller that is not signed in; it names the scheme with which a script authenticates. */
export function unauthorized(headers: HeadersInit = {}): Response {
  const answer = json({ error: "Unauthorized" }, { status: 401, headers })
  answer.headers.set("WWW-Authenticate", 'Bearer realm="tideline"')
  return answer
}

/** For a caller whose bearer credential is valid but does not open this route. */
export function refuseCredential(): Response {
  const error =
    "This address takes a browser session. An API key or another bearer credential does not open it."
  const headers = { "WWW-Authenticate": 'Bearer realm="tideline", error="invalid_token"' }
  return json({ error }, { status: 401, headers })
}

/** For a program that asks for a URL that does not exist, such as that of another product's API. */
export function refuseUnknown(status: 401 | 404): Response {
  const error = "There is nothing at this URL. The API is below /api, and /api/openapi.json describes it."
  const headers = status === 401 ? { "WWW-Authenticate": 'Bearer realm="tideline"' } : {}
  return json({ error }, { status, headers })
}

/** For a caller whose key is valid but limited to other scopes. RFC 6750, section 3.1. */
export function refuseScope(scope: KeyScope): Response {
  const error = `This API key does not have the scope ${scope}. Create a key that has it.`
  const headers = {
    "WWW-Authenticate": `Bearer realm="tideline", error="insufficient_scope", scope="${scope}"`,
  }
  return json({ error }, { status: 403, headers })
}
