/** Clerk's cookies on our own host, with or without the suffix that names the instance. */
const CLERK_COOKIE = /^__(session|client_uat|refresh)(_[\w-]+)?$/

/** Headers that make the browser forget the session. */
export function expireClerkCookies(request: Request, origin: string): Headers {
  const headers = new Headers()
  const secure = origin.startsWith("https:") ? "; Secure" : ""
  for (const pair of request.headers.get("cookie")?.split(";") ?? []) {
    const name = pair.split("=", 1)[0]?.trim() ?? ""
    if (CLERK_COOKIE.test(name))
      headers.append("set-cookie", `${name}=; Path=/; Max-Age=0; SameSite=Lax${secure}`)
  }
  return headers
}
