/**
 * What anybody may open. Everything else needs a signed-in user, so a new route is protected until it is named here.
 * Every pattern is anchored, and matches as React Router does: in any capitalisation.
 */
const PUBLIC = [
  // The list of the service's contract, which says "anything starting with" of the last three.
  /^\/$/,
  /^\/(features|pricing)\/?$/i,
  /^\/api\/health\/?$/i,
  /^\/(blog|sign-in|sign-up)/i,

  // What the contract's table of pages marks as needing no sign-in, and what browsers and crawlers ask for by themselves.
  /^\/(about|waitlist|privacy|terms|cookies)\/?$/i,
  /^\/waitlist\/confirm\/?$/i,
  /^\/docs(\/|$)/i,
  /^\/\.well-known\/security\.txt$/i,
  /^\/(sitemap\.xml|robots\.txt|feed\.xml|site\.webmanifest|favicon\.(ico|svg))$/i,
  /^\/theme\/?$/i,
  /^\/language\/?$/i,
  /^\/demo\/?$/i,
  /^\/share\//i,

  // Callers of these show who they are, or that they need not: see `answersForItself`.
  /^\/api\/openapi\.json\/?$/i,
  /^\/api\/webhooks\/clerk\/?$/i,
  /^\/api\/auth\//i,
]

/** These check the caller themselves, after the rate limit or before it, as the contract orders for each. */
const ANSWERS_FOR_ITSELF = /^\/api\/(email|chat)\/?$/i

/** Files of a built site. No route has such a name by itself, only by a splat. */
const STATIC_FILE =
  /\.(html?|css|m?js|map|jpe?g|webp|avif|png|gif|svg|ico|ttf|otf|woff2?|zip|gz|csv|docx?|xlsx?|pdf|webmanifest|txt|xml)$/i

/** Whether anybody may open the address. */
export function isPublic(url: URL): boolean {
  const pathname = pagePath(url)
  return PUBLIC.some((pattern) => pattern.test(pathname))
}

export function answersForItself(url: URL): boolean {
  return ANSWERS_FOR_ITSELF.test(pagePath(url))
}

/** Whether the address is for programs, which want a status and JSON where a person wants a page. */
export function isApiPath(pathname: string): boolean {
  return /^\/(api|trpc)(\/|$)/i.test(pathname)
}

/** Whether the address has the form of a static file. Ask it of an address that leads nowhere, and of no other. */
export function looksLikeFile(url: URL): boolean {
  return STATIC_FILE.test(url.pathname) && !isApiPath(url.pathname)
}

/** The page's own path: React Router asks for a page's data at `<path>.data`, `<path>/_.data` and `/_root.data`. */
export function pagePath(url: URL): string {
  return url.pathname
    .replace(/\/_root\.data$/, "/")
    .replace(/\/_\.data$/, "/")
    .replace(/\.data$/, "")
}
