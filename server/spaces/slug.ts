import { SLUG_LIMIT } from "./contract.ts"

/** `cafe-central` for "Café Central". */
export function slugOf(name: string): string {
  const words = name
    .normalize("NFKD")
    .replaceAll("ß", "ss")
    .replaceAll(/\p{M}/gu, "")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
  return trimHyphens(trimHyphens(words).slice(0, SLUG_LIMIT)) || "space"
}

/** `cafe-central-2` for `cafe-central` and 2. */
export function numberedSlug(slug: string, number: number): string {
  const suffix = `-${number}`
  return trimHyphens(slug.slice(0, SLUG_LIMIT - suffix.length)) + suffix
}

function trimHyphens(text: string): string {
  return text.replace(/^-+/, "").replace(/-+$/, "")
}
