/** A path as the log may have it: without what opens something by itself. */
export function loggedPath(target: string): string {
  // Without the query: it can carry tokens.
  const path = target.split("?", 1)[0] ?? ""
  return path.replace(/^\/+(share|maintenance)\/+[^/]*/i, "/$1/…")
}
