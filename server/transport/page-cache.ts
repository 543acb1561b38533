import { createHash } from "node:crypto"
import type { IncomingMessage, ServerResponse } from "node:http"
import { constants, crc32, deflateRawSync } from "node:zlib"
import { acceptedEncodings } from "./compression.ts"
import { namesTag } from "./conditional.ts"
import { languageFor } from "./language.ts"
import { themeIn } from "./theme.ts"
import { TextResponse } from "./text-response.ts"

/** A page that is the same for every visitor: for equal settings only its nonce differs. */
export class SharedPage extends TextResponse {}

/** How long a page is served from the cache. Milliseconds. */
const FRESH_FOR = 5_000

/**
 * A page in other capitalisation (`/Features`) is another page here. Beyond this many, the oldest
 * is dropped.
 */
const MOST_PAGES = 500

interface KeptPage {
  /** The pattern of its route. */
  route: string
  expiresAt: number
  headers: [string, string][]
  /** In the form for comparison, without the mark of a weak one. */
  etag: string
  /** The parts between the nonces. */
  parts: Buffer[]
  /** The length of all parts together, in bytes. */
  length: number
  /** The same, each compressed separately; created on demand. */
  deflated: Buffer[] | null
}

/**
 * Caches public pages for some seconds and sends them to visitors without the router. Each response
 * has its own nonce everywhere. `isVisitor` says whether the request contains nothing that identifies
 * its sender.
 */
export function createPageCache(isVisitor: (incoming: IncomingMessage) => boolean) {
  const pages = new Map<string, KeptPage>()

  return {
    keep(response: Response, incoming: IncomingMessage, { nonce, route }: { nonce: string; route: string }) {
      const mayKeep = response instanceof SharedPage && response.status === 200
      if (!mayKeep || !isAsked(incoming) || !isVisitor(incoming)) return
      const key = keyOf(incoming)
      pages.delete(key)
      pages.set(key, toPage(response, nonce, route, Date.now() + FRESH_FOR))
      for (const oldest of pages.keys()) {
        if (pages.size <= MOST_PAGES) break
        pages.delete(oldest)
      }
    },
    /** Returns the route's pattern if it has sent the page, else null. */
    send(incoming: IncomingMessage, outgoing: ServerResponse, nonce: string): string | null {
      if (!isAsked(incoming) || !isVisitor(incoming)) return null
      const page = pages.get(keyOf(incoming))
      if (!page || page.expiresAt < Date.now()) return null
      sendPage(page, incoming, outgoing, nonce)
      return page.route
    },
  }
}

function isAsked({ method, url = "" }: IncomingMessage) {
  return method === "GET" && !url.includes("?")
}

function keyOf(incoming: IncomingMessage) {
  const { cookie, "accept-language": acceptLanguage } = incoming.headers
  return `${languageFor({ cookie, acceptLanguage })} ${themeIn(cookie)} ${incoming.url}`
}

function toPage(response: SharedPage, nonce: string, route: string, expiresAt: number): KeptPage {
  const parts = response.content.split(nonce).map((part) => Buffer.from(part))
  const whole = Buffer.concat(parts)
  const hash = createHash("sha256").update(whole).digest("base64url").slice(0, 22)
  return {
    route,
    expiresAt,
    headers: [...response.headers],
    etag: `"${hash}"`,
    parts,
    length: whole.length,
    deflated: null,
  }
}

function sendPage(page: KeptPage, incoming: IncomingMessage, outgoing: ServerResponse, nonce: string) {
  for (const [name, value] of page.headers) outgoing.setHeader(name, value)
  outgoing.setHeader("etag", `W/${page.etag}`)
  outgoing.setHeader("vary", "accept-encoding, accept-language, cookie")
  if (namesTag(incoming.headers["if-none-match"], page.etag)) {
    // The browser shows its cached page with the nonce in it: a policy with another nonce would
    // block all its scripts.
    outgoing.removeHeader("content-security-policy")
    outgoing.statusCode = 304
    outgoing.end()
    return
  }
  outgoing.statusCode = 200
  if (!acceptedEncodings(incoming.headers["accept-encoding"]).includes("gzip")) {
    outgoing.setHeader("content-length", page.length + (page.parts.length - 1) * nonce.length)
    writeParts(page.parts, nonce, outgoing)
    return
  }
  const body = toGzip(page, Buffer.from(nonce))
  outgoing.setHeader("content-encoding", "gzip")
  outgoing.setHeader("content-length", body.length)
  outgoing.end(body)
}

/**
 * In one write, without copying: joining a page and its nonces takes longer than everything else.
 */
function writeParts(parts: readonly Buffer[], nonce: string, outgoing: ServerResponse) {
  outgoing.cork()
  for (const [index, part] of parts.entries()) {
    if (index > 0) outgoing.write(nonce, "latin1")
    outgoing.write(part)
  }
  outgoing.end()
  outgoing.uncork()
}

/**
 * The page as gzip (RFC 1952), of which only the checksum is computed again: the parts were
 * deflated once, each ending on a byte boundary and referring to nothing before it, and the nonces
 * are between them in uncompressed blocks (RFC 1951).
 */
function toGzip(page: KeptPage, nonce: Buffer): Buffer {
  page.deflated ??= page.parts.map((part) =>
    deflateRawSync(part, { level: 9, finishFlush: constants.Z_FULL_FLUSH }),
  )
  const stored = Buffer.alloc(5 + nonce.length)
  stored.writeUInt16LE(nonce.length, 1)
  stored.writeUInt16LE(~nonce.length & 0xffff, 3)
  nonce.copy(stored, 5)

  let checksum = 0
  let length = 0
  for (const [index, part] of page.parts.entries()) {
    if (index > 0) checksum = crc32(nonce, checksum)
    checksum = crc32(part, checksum)
    length += part.length + (index > 0 ? nonce.length : 0)
  }
  const end = Buffer.alloc(10)
  end.writeUInt8(3, 0) // an empty block that is marked as the last
  end.writeUInt32LE(checksum, 2)
  end.writeUInt32LE(length, 6)
  return Buffer.concat([GZIP_HEADER, join(page.deflated, stored), end])
}

const GZIP_HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 255])

function join(parts: readonly Buffer[], between: Buffer): Buffer {
  return Buffer.concat(parts.flatMap((part, index) => (index === 0 ? [part] : [between, part])))
}
