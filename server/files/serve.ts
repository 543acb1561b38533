import type { Readable } from "node:stream"
import { buffer } from "node:stream/consumers"
import { create as contentDisposition } from "content-disposition"
import { isFresh, isUnmet, readRange, type ByteRange } from "#server/transport/conditional.ts"
import { PreconditionFailed } from "#server/errors.ts"
import { json } from "#server/transport/json.ts"
import { ISOLATED } from "#server/transport/security-headers.ts"
import { offerMemory } from "#server/transport/spent-memory.ts"
import type { Scope } from "#server/scope.ts"
import { isShownInline } from "./contract.ts"
import { findFile } from "./files.ts"
import { readStored } from "./read-stored.ts"
import { encodingOf, LARGE_SAMPLE } from "./text-contract.ts"
import { untilAccessEnds } from "./access-lease.ts"

/**
 * Handles GET and HEAD for a file that the viewer may see, for as long as they may. Types that could
 * run scripts are downloaded. Throws `NotFound`, and `Unavailable` if the store has lost
 * or damaged the bytes; when that shows later, the response breaks off.
 */
export async function serveFile(
  scope: Scope<"db" | "blobs" | "log" | "runningRequests" | "viewer">,
  id: string,
  request: Request,
): Promise<Response> {
  const askedAt = performance.now()
  const file = await findFile(scope, id)
  const response = await sendBytes(scope, file, request, {
    disposition: dispositionOf(file.mimeType, request),
    // The bytes at a URL never change, but they can be deleted, and the reader can sign out:
    // revalidate every time.
    caching: "private, no-cache, no-transform",
  })
  if (file.spaceId === null || !response.body) return response
  return new Response(untilAccessEnds(scope, [file.spaceId], askedAt, response.body), response)
}

/** A file's bytes and their headers, independent of who may read them. */
export interface Servable {
  _id: string
  fileName: string
  mimeType: string
  size: number
  /** The key in the blob store. */
  key: string
  sha256: string
  modifiedAt: number | null
}

interface Serving {
  disposition: "inline" | "attachment"
  /** `Cache-Control`. */
  caching: string
  /**
   * Called when the bytes are available and before they are sent, but not for HEAD, 304 or 416.
   * What it throws is thrown; the headers it returns are added.
   */
  beforeSending?: (range: ByteRange | null) => Promise<Headers>
}

/**
 * The whole file or a range, or 304 if the client has it. However the browser displays the bytes,
 * it does so without scripts and outside our origin.
 */
export async function sendBytes(
  scope: Scope<"blobs" | "db" | "log">,
  file: Servable,
  request: Request,
  { disposition, caching, beforeSending }: Serving,
): Promise<Response> {
  const etag = `"${file.sha256}"`
  const headers = new Headers({
    ...ISOLATED,
    ...(file.mimeType === "application/pdf" && disposition === "inline" && FRAMED),
    "Accept-Ranges": "bytes",
    "Cache-Control": caching,
    "Content-Disposition": contentDisposition(file.fileName, { type: disposition }),
    ETag: etag,
    // HTTP knows no time to come.
    ...(file.modifiedAt !== null &&
      file.modifiedAt <= Date.now() && { "Last-Modified": new Date(file.modifiedAt).toUTCString() }),
  })
  if (isUnmet(request.headers, etag, file.modifiedAt)) throw new PreconditionFailed("precondition-failed")
  if (isFresh(request.headers, etag)) return new Response(null, { status: 304, headers })
  headers.set("Content-Type", await describeType(scope, file))

  const range = request.method === "GET" ? readRange(request.headers, file.size, etag) : null
  if (range === "unsatisfiable") {
    return json(
      { error: `The file has ${file.size} bytes, and the range lies outside.` },
      { status: 416, headers: { "Accept-Ranges": "bytes", "Content-Range": `bytes */${file.size}` } },
    )
  }
  if (range) headers.set("Content-Range", `bytes ${range.start}-${range.end}/${file.size}`)
  headers.set("Content-Length", String(range ? range.end - range.start + 1 : file.size))
  if (request.method === "HEAD") return new Response(null, { headers })

  const bytes = await readStored(scope, file, range ?? undefined)
  try {
    for (const [name, value] of (await beforeSending?.(range)) ?? []) headers.append(name, value)
  } catch (error) {
    bytes.destroy()
    throw error
  }
  return new Response(toBody(bytes), { status: range ? 206 : 200, headers })
}

/** Plain text is rendered by browsers, by the encoding that it is in. */
async function describeType(scope: Scope<"blobs" | "db" | "log">, file: Servable): Promise<string> {
  if (file.mimeType !== "text/plain") return file.mimeType
  const beginning = await readStored(scope, file, { start: 0, end: LARGE_SAMPLE - 1 })
  return `text/plain; charset=${encodingOf(await buffer(beginning))}`
}

/**
 * For files that our pages show in a frame. Browsers render a PDF with their own scripts, which the
 * sandbox would block. The first directive blocks the document's scripts, and its origin remains
 * separate.
 */
const FRAMED = {
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'self'; sandbox allow-scripts",
  "X-Frame-Options": "SAMEORIGIN",
}

function dispositionOf(mimeType: string, request: Request): "inline" | "attachment" {
  const mustDownload = new URL(request.url).searchParams.has("download")
  return isShownInline(mimeType) && !mustDownload ? "inline" : "attachment"
}

/** Read at the reader's speed; a disconnect closes the file. */
function toBody(bytes: Readable): ReadableStream<Uint8Array> {
  const chunks = bytes.iterator() as AsyncIterator<Uint8Array>
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await chunks.next()
        if (done) controller.close()
        else controller.enqueue(offerMemory(value))
      },
      cancel() {
        bytes.destroy()
      },
    },
    { highWaterMark: 0 },
  )
}
