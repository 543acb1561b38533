/** Whether the URL is for programs, which need a status and JSON instead of a page. */
export function isApiPath(pathname: string): boolean {
  return /^\/(api|trpc)(\/|$)/i.test(pathname)
}

/**
 * The page's own path: React Router requests a page's data at `<path>.data`, `<path>/_.data` and
 * `/_root.data`.
 */
export function pagePath(url: URL): string {
  return url.pathname
    .replace(/\/_root\.data$/, "/")
    .replace(/\/_\.data$/, "/")
    .replace(/\.data$/, "")
}
