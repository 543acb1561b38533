/**
 * Where an address that leads nowhere is answered to visitors too. The contract says "anything
 * starting with" of the first three. Which routes visitors may open the routes themselves declare.
 */
const OPEN_PREFIX = /^\/(blog|sign-in|sign-up|(docs|share)\/)/i

/**
 * These check the caller themselves, after the rate limit or before it, as the contract orders for
 * each.
 */
const ANSWERS_FOR_ITSELF = /^\/api\/(email|chat)\/?$/i

/** Files of a built site. No route has such a name by itself, only by a splat. */
const STATIC_FILE =
  /\.(html?|css|m?js|map|jpe?g|webp|avif|png|gif|svg|ico|ttf|otf|woff2?|zip|gz|csv|docx?|xlsx?|pdf|webmanifest|txt|xml)$/i

export function isOpenPrefix(url: URL): boolean {
  return OPEN_PREFIX.test(pagePath(url))
}

export function answersForItself(url: URL): boolean {
  return ANSWERS_FOR_ITSELF.test(pagePath(url))
}

/**
 * Whether the address is for programs, which want a status and JSON where a person wants a page.
 */
export function isApiPath(pathname: string): boolean {
  return /^\/(api|trpc)(\/|$)/i.test(pathname)
}

/**
 * Whether the address has the form of a static file. Ask it of an address that leads nowhere, and
 * of no other.
 */
export function looksLikeFile(url: URL): boolean {
  return STATIC_FILE.test(url.pathname) && !isApiPath(url.pathname)
}

/**
 * The page's own path: React Router asks for a page's data at `<path>.data`, `<path>/_.data` and
 * `/_root.data`.
 */
export function pagePath(url: URL): string {
  return url.pathname
    .replace(/\/_root\.data$/, "/")
    .replace(/\/_\.data$/, "/")
    .replace(/\.data$/, "")
}
