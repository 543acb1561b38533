/**
 * Where a link in a reply leads; null for an invalid URL, one that runs script, or one that looks
 * like a path and leads to another site. `host` is empty for a path on this site.
 */
export function describeLink(href: string): { address: string; host: string } | null {
  if (href.startsWith("/")) return hasTrap(href) ? null : { address: href, host: "" }
  if (!URL.canParse(href)) return null
  const url = new URL(href)
  if (!["http:", "https:", "mailto:"].includes(url.protocol) || url.username || url.password) return null
  return { address: url.href, host: url.protocol === "mailto:" ? url.pathname : url.host }
}

/** Browsers treat a backslash as a slash and remove tabs and newlines, and two slashes begin a host. */
function hasTrap(path: string): boolean {
  return path.startsWith("//") || /[\\\u0000-\u0020]/.test(path)
}

/** Only files of this site: showing an image requests its URL, and the model chose that. */
export function isOwnImage(href: string): boolean {
  return /^\/(?:files|api\/files)\/[\w-]+$/.test(href)
}
