/** Bytes from `start` to `end`, both inclusive. */
export interface ByteRange {
  start: number
  end: number
}

/**
 * Whether the client already has the representation: `If-None-Match`, compared weakly (RFC 9110,
 * 13.1.2).
 */
export function isFresh(headers: Headers, etag: string): boolean {
  return namesTag(headers.get("if-none-match"), etag)
}

/**
 * Whether the client asks about another representation than this one, so that its request gets 412:
 * `If-Match`, compared strongly, or else `If-Unmodified-Since` (RFC 9110, 13.2.2). `modifiedAt` is in
 * milliseconds.
 */
export function isUnmet(headers: Headers, etag: string, modifiedAt: number | null = null): boolean {
  const wanted = headers.get("if-match")
  if (wanted !== null) {
    const strong = wanted.replaceAll(/W\/"[^"]*"/g, "")
    return !namesTag(strong, etag)
  }
  const since = Date.parse(headers.get("if-unmodified-since") ?? "")
  return modifiedAt !== null && !Number.isNaN(since) && Math.floor(modifiedAt / 1000) * 1000 > since
}

/** The same for the header's text. `etag` without the `W/` of a weak one. */
export function namesTag(header: string | null | undefined, etag: string): boolean {
  if (header == null) return false
  if (header.trim() === "*") return true
  return (header.match(/(W\/)?"[^"]*"/g) ?? []).some((tag) => tag.replace("W/", "") === etag)
}

/**
 * The range that `Range` requests of `size` bytes (RFC 9110, 14): one range, `unsatisfiable`, or
 * null for the whole. Several ranges, other units, invalid headers and an `If-Range` with another
 * representation get the whole.
 */
export function readRange(headers: Headers, size: number, etag: string): ByteRange | "unsatisfiable" | null {
  const condition = headers.get("if-range")
  if (condition !== null && condition !== etag) return null
  const [, first, last] = /^bytes=\s*(\d*)\s*-\s*(\d*)\s*$/i.exec(headers.get("range") ?? "") ?? []
  if (first === undefined || last === undefined || (first === "" && last === "")) return null
  if (first === "") {
    const length = Math.min(Number(last), size)
    return length === 0 ? "unsatisfiable" : { start: size - length, end: size - 1 }
  }
  const start = Number(first)
  const end = last === "" ? size - 1 : Math.min(Number(last), size - 1)
  if (last !== "" && Number(last) < start) return null
  return start >= size ? "unsatisfiable" : { start, end }
}
