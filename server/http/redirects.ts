const AFTER_SIGN_IN = "/dashboard"

/** The pages that a signed-in person does not need, and URLs that are no page. */
const NO_DESTINATION = /^\/(sign-in|sign-up|sign-out|second-factor|api|trpc)/i

/** The sign-in page's URL, which leads back to `url`. */
export function signInPath(url: URL): string {
  const target = url.pathname + url.search
  return target === "/" ? "/sign-in" : `/sign-in?${new URLSearchParams({ redirect_url: target })}`
}

/** The second step of signing in, which then leads to `target`. */
export function codePath(target: string): string {
  return `/sign-in/code?${new URLSearchParams({ redirect_url: target })}`
}

/** The page that requests a second factor, or sets one up, and then leads back to `url`. */
export function secondFactorPath(url: URL): string {
  return `/second-factor?${new URLSearchParams({ redirect_url: url.pathname + url.search })}`
}

/** Characters of a URL that somebody else may have written. */
const LONGEST = 2048

/**
 * Where to redirect somebody who requested `target`: a path of this site and nothing else, however
 * the text is disguised. Anything doubtful becomes `fallback`.
 */
export function safeTarget(
  target: string | null | undefined,
  origin: string,
  fallback = AFTER_SIGN_IN,
  longest = LONGEST,
): string {
  const path = safePath(target, origin, longest)
  return path === null || NO_DESTINATION.test(path) ? fallback : path
}

/**
 * `target` as a browser interprets it, if that is a URL of this site; null for everything else.
 * Every redirect to a requested URL goes through here.
 */
export function safePath(
  target: string | null | undefined,
  origin: string,
  longest = LONGEST,
): string | null {
  if (!target || target.length > longest || !target.startsWith("/")) return null
  if (hasTrap(target) || !URL.canParse(target, origin)) return null
  const url = new URL(target, origin)
  if (url.origin !== origin || isTwoSlashes(url.pathname)) return null
  return url.pathname + url.search + url.hash
}

/** Browsers treat a backslash as a slash, and remove control characters from URLs. */
function hasTrap(target: string): boolean {
  return /[\\\u0000-\u0020\u007f]/.test(target)
}

/** Also if encoded: a proxy on the way may decode it. */
function isTwoSlashes(pathname: string): boolean {
  return /^\/(\/|%2f|%5c)/i.test(pathname)
}
