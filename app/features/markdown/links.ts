/**
 * Where a link in a reply leads; null for an invalid URL or one that runs script. `host` is empty
 * for a path on this site.
 */
export function describeLink(href: string): { address: string; host: string } | null {
  if (/^\/(?![/\\])/.test(href)) return { address: href, host: "" }
  if (!URL.canParse(href)) return null
  const url = new URL(href)
  if (!["http:", "https:", "mailto:"].includes(url.protocol) || url.username || url.password) return null
  return { address: url.href, host: url.protocol === "mailto:" ? url.pathname : url.host }
}

/** Only files of this site: showing an image requests its URL, and the model chose that. */
export function isOwnImage(href: string): boolean {
  return /^\/(?:files|api\/files)\/[\w-]+$/.test(href)
}
