import { isApiPath, pagePath } from "#server/transport/paths.ts"

/**
 * Prefixes of unknown URLs that visitors get a 404 for too. The contract says "anything starting
 * with" of the first three. The routes themselves declare which of them visitors may open.
 */
const OPEN_PREFIX = /^\/(blog|sign-in|sign-up|(docs|share)\/)/i

/**
 * These check the caller themselves, before or after the rate limit, as the contract orders for
 * each.
 */
const ANSWERS_FOR_ITSELF = /^\/api\/(email|chat)\/?$/i

/** Extensions of static files. No route's own path ends with one, only a splat's. */
const STATIC_FILE =
  /\.(html?|css|m?js|map|jpe?g|webp|avif|png|gif|svg|ico|ttf|otf|woff2?|zip|gz|csv|docx?|xlsx?|pdf|webmanifest|txt|xml)$/i

export function isOpenPrefix(url: URL): boolean {
  return OPEN_PREFIX.test(pagePath(url))
}

export function answersForItself(url: URL): boolean {
  return ANSWERS_FOR_ITSELF.test(pagePath(url))
}

/** Whether the URL looks like a static file. Only meaningful for URLs without a route. */
export function looksLikeFile(url: URL): boolean {
  return STATIC_FILE.test(url.pathname) && !isApiPath(url.pathname)
}
