import { json } from "#server/transport/json.ts"

/** For a caller that is not signed in; it names the scheme by which a script signs in. */
export function unauthorized(headers: HeadersInit = {}): Response {
  const answer = json({ error: "Unauthorized" }, { status: 401, headers })
  answer.headers.set("WWW-Authenticate", 'Bearer realm="tideline"')
  return answer
}

/** For a caller whose bearer credential is good, and is not what opens this route. */
export function refuseCredential(): Response {
  const error =
    "This address takes a browser session. An API key or another bearer credential does not open it."
  const headers = { "WWW-Authenticate": 'Bearer realm="tideline", error="invalid_token"' }
  return json({ error }, { status: 401, headers })
}
