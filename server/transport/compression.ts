import type { ServerResponse } from "node:http"
import { constants, createBrotliCompress, createGzip, type BrotliCompress, type Gzip } from "node:zlib"

export type Encoding = "br" | "gzip"
export type Encoder = BrotliCompress | Gzip

/** Below this many bytes, compressing costs more than it saves. */
export const WORTH_COMPRESSING = 1024

const TEXT = /^(text\/|application\/(json|javascript|xml|[\w.-]+\+(json|xml))|image\/svg\+xml)/

/**
 * Whether the response whose headers are set on `outgoing` may be compressed: it is text, and no
 * event stream.
 */
export function isCompressible(outgoing: ServerResponse): boolean {
  const type = String(outgoing.getHeader("content-type") ?? "")
  if (!TEXT.test(type) || type.startsWith("text/event-stream")) return false
  if (outgoing.hasHeader("content-encoding") || outgoing.hasHeader("content-range")) return false
  if (String(outgoing.getHeader("cache-control") ?? "").includes("no-transform")) return false
  const length = outgoing.getHeader("content-length")
  return length === undefined || Number(length) >= WORTH_COMPRESSING
}

/** Our encodings that the client accepts, best first. */
export function acceptedEncodings(header: string | string[] | undefined): Encoding[] {
  const offers = String(header ?? "")
    .toLowerCase()
    .split(",")
  return (["br", "gzip"] as const).filter((encoding) =>
    offers.some((offer) => {
      const [name, quality] = offer.split(";")
      return name?.trim() === encoding && !/^\s*q=0(\.0*)?\s*$/.test(quality ?? "")
    }),
  )
}

/**
 * Compresses what is written to it into `outgoing`, quickly rather than tightly: static files are
 * compressed at build time.
 */
export function createEncoder(encoding: Encoding, outgoing: ServerResponse): Encoder {
  const encoder =
    encoding === "br"
      ? createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: 4 } })
      : createGzip()
  outgoing.setHeader("content-encoding", encoding)
  outgoing.removeHeader("content-length")
  // A strong validator promises equal bytes, which compression changes.
  const etag = outgoing.getHeader("etag")
  if (typeof etag === "string" && etag.startsWith('"')) outgoing.setHeader("etag", `W/${etag}`)
  encoder.pipe(outgoing)
  return encoder
}
