/** A path as it may be logged: without tokens that grant access. */
export function loggedPath(target: string): string {
  // Without the query: it can carry tokens.
  const path = target.split("?", 1)[0] ?? ""
  return path.replace(/^\/+(share(?:\/+chat)?|maintenance)\/+[^/]*/i, "/$1/…")
}
