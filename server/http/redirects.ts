const AFTER_SIGN_IN = "/dashboard"

/** The pages a signed-in person has no use for, and what is no page. */
const NO_DESTINATION = /^\/(sign-in|sign-up|sign-out|second-factor|api|trpc)/i

/** The sign-in page's address, which brings the visitor back to `url`. */
export function signInPath(url: URL): string {
  const target = url.pathname + url.search
  return target === "/" ? "/sign-in" : `/sign-in?${new URLSearchParams({ redirect_url: target })}`
}

/** The second step of signing in, which then leads to `target`. */
export function codePath(target: string): string {
  return `/sign-in/code?${new URLSearchParams({ redirect_url: target })}`
}

/** The page that asks for a second factor, or sets one up, and then leads back to `url`. */
export function secondFactorPath(url: URL): string {
  return `/second-factor?${new URLSearchParams({ redirect_url: url.pathname + url.search })}`
}

/**
 * Where to send somebody who asked for `target`: a path of this site and nothing else, however the
 * text tries to look like one. Anything doubtful becomes `fallback`.
 */
export function safeTarget(
  target: string | null | undefined,
  origin: string,
  fallback = AFTER_SIGN_IN,
): string {
  const path = safePath(target, origin)
  return path === null || NO_DESTINATION.test(path) ? fallback : path
}

/**
 * `target` as a browser understands it, where that is an address of this site, whichever; null for
 * everything else. Every redirect to an address that a request names goes through here.
 */
export function safePath(target: string | null | undefined, origin: string): string | null {
  if (!target || target.length > 2048 || !target.startsWith("/")) return null
  if (hasTrap(target) || !URL.canParse(target, origin)) return null
  const url = new URL(target, origin)
  if (url.origin !== origin || isTwoSlashes(url.pathname)) return null
  return url.pathname + url.search + url.hash
}

/** A backslash is a slash to a browser, and control characters vanish from an address. */
function hasTrap(target: string): boolean {
  return /[\\\u0000-\u0020\u007f]/.test(target)
}

/** Also encoded: a proxy on the way may decode it. */
function isTwoSlashes(pathname: string): boolean {
  return /^\/(\/|%2f|%5c)/i.test(pathname)
}
