/**
 * Where a link in an answer leads; null for what is no address, or one that runs script. An address
 * on this site has no host.
 */
export function describeLink(href: string): { address: string; host: string } | null {
  if (/^\/(?![/\\])/.test(href)) return { address: href, host: "" }
  if (!URL.canParse(href)) return null
  const url = new URL(href)
  if (!["http:", "https:", "mailto:"].includes(url.protocol) || url.username || url.password) return null
  return { address: url.href, host: url.protocol === "mailto:" ? url.pathname : url.host }
}

/** Files of this site alone: to show an image is to ask for its address, and the model chose it. */
export function isOwnImage(href: string): boolean {
  return /^\/(?:files|api\/files)\/[\w-]+$/.test(href)
}
