import { json } from "./json.ts"

/** For a caller that is not signed in; it names the scheme by which a script signs in. */
export function unauthorized(headers: HeadersInit = {}): Response {
  const answer = json({ error: "Unauthorized" }, { status: 401, headers })
  answer.headers.set("WWW-Authenticate", 'Bearer realm="tideline"')
  return answer
}
