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

/**
 * Whether the text of a link tells where it leads. A text that looks like a URL must begin with the
 * host itself, which may also stand in the path or the query of another site's URL; other words may
 * contain it, if they name no other host.
 */
export function namesHost(text: string, host: string): boolean {
  const words = text.trim().toLowerCase()
  const begin = /^(?:[a-z][a-z\d+.-]*:)?(?:\/\/)?([^\s/?#\\]*)/.exec(words)?.[1]
  if (begin === host) return true
  if (words.includes("/") || words.includes("\\")) return false
  const hosts = words.match(HOST_IN_TEXT) ?? []
  return hosts.length > 0 && hosts.every((found) => found === host)
}

const HOST_IN_TEXT = /[\p{L}\p{N}@_-]+(?:[.\u3002\uff0e\uff61][\p{L}\p{N}_-]+)+/gu
